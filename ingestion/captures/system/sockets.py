"""Sockets of a machine: `netstat -an`, `-tnp` (Linux, macOS, BusyBox), `ss -tan`, `-tanp`, `-s`, and counts by state.

Rows:
- `socket`: proto, state (as netstat of Linux names it: ESTABLISHED, TIME_WAIT …), recv_q, send_q (bytes; of a listener in `ss`: waiting
  connections and their limit), local_address, local_port, peer_address, peer_port, process_name, process_id, file_descriptor;
  of a Unix socket: proto, state, socket_type, inode, path;
- `socket_count`: state, count (`sort | uniq -c`, `awk`), or command, filter, count (`netstat … | wc -l`);
- `socket_detail`: of_offset (what `ss -i`, `-o`, `-m` print under a socket);
- `socket_summary`: proto, total, established, closed, orphaned, syn_recv, time_wait, ipv4, ipv6 (`ss -s`), in_use,
  allocated, memory_pages (/proc/net/sockstat).

Samples: `sockets` by label `state` (and `proto`): counted where a list is whole (it has its heading), else as printed.

Sources: netstat(8) of net-tools, ss(8) of iproute2 (`sstate_name`), netstat(1) of macOS.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from ingestion.captures import About, Line, Row, Sample, unread
from ingestion.captures._terminal import Page, counted, is_foreign, lines_in, mostly, number_of
from ingestion.reading import linear

PROGRAMS = ("netstat", "ss")
KINDS = {
    "sockets": "Sockets of a machine, one by one, as netstat or ss lists them.",
    "socket_counts": "Sockets counted: by state, by protocol, or the lines of a netstat or ss.",
}
OF_NODE = frozenset(KINDS)
STATES = {
    "ESTAB": "ESTABLISHED",
    "FIN_WAIT_1": "FIN_WAIT1",
    "FIN_WAIT_2": "FIN_WAIT2",
    "SYN_RCVD": "SYN_RECV",
    "SYN_RECEIVED": "SYN_RECV",
    "CLOSED": "CLOSE",
}
KNOWN_STATES = frozenset(
    [
        "ESTABLISHED",
        "SYN_SENT",
        "SYN_RECV",
        "FIN_WAIT1",
        "FIN_WAIT2",
        "TIME_WAIT",
        "CLOSE",
        "CLOSE_WAIT",
        "LAST_ACK",
        "LISTEN",
        "CLOSING",
        "UNCONN",
        "NEW_SYN_RECV",
        "BOUND_INACTIVE",
    ]
)
UNIX_STATES = frozenset(("CONNECTED", "CONNECTING", "DISCONNECTING", "LISTENING", "FREE"))
INET = r"(?:tcp|udp|udplite|sctp|raw|icmp)(?:4|6|46)?|icm4|icm6|mptcp|dccp|v_str|xdp"
NETSTAT = re.compile(
    rf"(?P<proto>{INET})\s+(?P<recv_q>\d+)\s+(?P<send_q>\d+)\s+(?P<local>\S+)\s+(?P<peer>\S+)(?:\s+(?P<state>[A-Z][A-Z_0-9]+))?(?P<rest>(?:\s.*)?)"
)
NETSTAT_UNIX = re.compile(
    r"unix\s+\d+\s+\[(?P<flags>[^\]]*)\]\s+(?P<socket_type>[A-Z]+)(?:\s+(?P<state>[A-Z]+))?\s+(?P<inode>\d+)(?:\s+(?P<process>\d+/\S+|-))?(?:\s+(?P<path>\S.*))?"
    r"|(?P<address>[0-9a-f]{8,16})\s+(?P<mac_type>stream|dgram)\s+\d+\s+\d+(?:\s+[0-9a-f]+){4}(?:\s+(?P<mac_path>\S.*))?"
)
SS = linear.for_lines(
    rf"(?:(?P<proto>{INET})\s+)?(?P<state>ESTAB|[A-Z]+(?:-[A-Z0-9]+){{0,2}})\s+(?P<recv_q>\d+)\s+(?P<send_q>\d+)\s+(?P<local>\S+:\S+)\s+(?P<peer>\S+:\S+)(?P<rest>(?:\s.*)?)"
)
SS_NO_STATE = linear.for_lines(
    rf"(?:(?P<proto>{INET})\s+)?(?P<recv_q>\d+)\s+(?P<send_q>\d+)\s+(?P<local>\S+:\S+)\s+(?P<peer>\S+:\S+)(?P<rest>(?:\s.*)?)"
)
SS_UNIX = re.compile(
    r"(?P<proto>u_str|u_dgr|u_seq|nl|p_raw|p_dgr|vsock)\s+(?P<state>[A-Z]+(?:-[A-Z0-9]+)*)\s+(?P<recv_q>\d+)\s+(?P<send_q>\d+)\s+(?P<path>\S.*)"
)
HEADING = linear.for_lines(
    r"Active (?:Internet|UNIX|LOCAL|Multipath|kernel|IPX|AX).*|\s*Proto\s+(?:Recv-Q|RefCnt).*|(?:Netid\s+)?State\s+Recv-Q.*|(?:Netid\s+)?Recv-Q\s+Send-Q\s+Local.*|Address\s+Type\s+Recv-Q.*"
    r"|\(Not all processes could be identified.*|\s*will not be shown, you would have to be root.*|netstat: .*"
)
NO_STATE_HEADING = re.compile(r"(?:Netid\s+)?Recv-Q\s+Send-Q\s+Local")
COUNT = linear.for_lines(
    r"\s*(?:(?P<before>\d+)\s+\"?(?P<after_state>[A-Z][A-Z_0-9-]+)\"?:?|\"?(?P<state>[A-Z][A-Z_0-9-]+)\"?\s*[:=]?\s+(?P<after>\d+))\s*"
)
# The headings of netstat after `awk '{print $6}'`.
COUNT_OF_HEADING = re.compile(
    r"\s*\d+(?:\s+(?:Foreign|established\)|State|and|\(servers|Address|servers\)|Local|I-Node|Path|Type|Flags|\[|\]|ACC|DGRAM|STREAM|SEQPACKET|\d+))?\s*"
    r"|\s*(?:Foreign|established\)|State|I-Node)\s+\d+\s*"
)
SUMMARY = re.compile(
    r"TCP:\s+(?P<total>\d+)\s+\(estab (?P<established>\d+), closed (?P<closed>\d+), orphaned (?P<orphaned>\d+)(?:, synrecv (?P<syn_recv>\d+))?, timewait (?P<time_wait>\d+)(?:/\d+)?\).*"
)
SUMMARY_TOTAL = re.compile(r"Total: (?P<total>\d+)(?: \(kernel (?P<kernel>\d+)\))?\s*")
TRANSPORT = re.compile(r"(?P<proto>\*|RAW|UDP|TCP|INET|FRAG|MPTCP|SCTP)\s+(?P<total>-|\d+)\s+(?P<ipv4>-|\d+)\s+(?P<ipv6>-|\d+)\s*")
# /proc/net/sockstat
SOCKSTAT = re.compile(r"(?P<proto>sockets|(?:TCP|UDP|UDPLITE|RAW|FRAG)6?): (?P<rest>(?:used|inuse) \d+(?: \w+ \d+)*)\s*")
SOCKSTAT_KEYS = {
    "used": "total",
    "inuse": "in_use",
    "orphan": "orphaned",
    "tw": "time_wait",
    "alloc": "allocated",
    "mem": "memory_pages",
    "memory": "memory_bytes",
}
TRANSPORT_HEADING = re.compile(r"Transport\s+Total\s+IP\s+IPv6\s*")
PROCESS = re.compile(
    r"(?:^|\s)(?:(?P<process_id>\d+)/(?P<process_name>[^\s].*?)|(?P<mac_name>[A-Za-z][\w.\- ]{0,100}+):(?P<mac_id>\d+))(?=\s|$)"
)
SS_PROCESS = re.compile(r'\(\("(?P<process_name>[^"]+)",(?:pid=)?(?P<process_id>\d+),(?:fd=)?(?P<file_descriptor>\d+)\)')


def canonical(state: str) -> str:
    text = state.replace("-", "_")
    return STATES.get(text, text)


def address(text: str) -> tuple[str, str | None]:
    """(address, port) of `10.0.0.1:9092`, `[::1]:9092`, `*:*`, and of macOS' `10.0.0.1.9092`."""
    host, colon, port = text.rpartition(":")
    if colon and re.fullmatch(r"\d+|\*|[A-Za-z][\w\-]*", port):
        return host.removeprefix("[").removesuffix("]"), port
    host, dot, port = text.rpartition(".")
    return (host, port) if dot and host else (text, None)


def ends(match: re.Match[str]) -> dict[str, str | None]:
    local, local_port = address(match["local"])
    peer, peer_port = address(match["peer"])
    return {"local_address": local, "local_port": local_port, "peer_address": peer, "peer_port": peer_port}


def socket_of(text: str, may_lack_state: bool = False) -> dict[str, str | None] | None:
    """The fields of a line that lists one socket; None if it does not."""
    match = NETSTAT.fullmatch(text.strip())
    if (
        match
        and (match["state"] is None or canonical(match["state"]) in KNOWN_STATES)
        and (match["state"] or not match["proto"].startswith("tcp"))
    ):
        process = PROCESS.search(match["rest"])
        found = (
            {"process_id": process["process_id"] or process["mac_id"], "process_name": process["process_name"] or process["mac_name"]}
            if process
            else {}
        )
        state = canonical(match["state"]) if match["state"] else None
        return {"proto": match["proto"], "state": state, "recv_q": match["recv_q"], "send_q": match["send_q"]} | ends(match) | found
    for pattern in (SS, SS_NO_STATE) if may_lack_state else (SS,):
        match = pattern.fullmatch(text.strip())
        state = canonical(match["state"]) if match and "state" in pattern.groupindex else None
        if match and (state is None or state in KNOWN_STATES):
            process = SS_PROCESS.search(match["rest"])
            return (
                {"proto": match["proto"], "state": state, "recv_q": match["recv_q"], "send_q": match["send_q"]}
                | ends(match)
                | (process.groupdict() if process else {})
            )
    match = SS_UNIX.fullmatch(text.strip())
    if match:
        process = SS_PROCESS.search(match["path"])
        return {**match.groupdict(), "state": canonical(match["state"]), "path": match["path"].split(" users:")[0].strip()} | (
            process.groupdict() if process else {}
        )
    match = NETSTAT_UNIX.fullmatch(text.strip())
    if match:
        process = PROCESS.search(match["process"] or "")
        found = {"process_id": process["process_id"], "process_name": process["process_name"]} if process else {}
        return {
            "proto": "unix",
            "state": match["state"],
            "socket_type": match["socket_type"] or match["mac_type"],
            "inode": match["inode"],
            "path": match["path"] or match["mac_path"],
        } | found
    return None


def count_of(text: str) -> tuple[str, str] | None:
    match = COUNT.fullmatch(text)
    state = canonical(match["after_state"] or match["state"]) if match else None
    return (state, match["before"] or match["after"]) if match and state in KNOWN_STATES | UNIX_STATES else None


def summary_of(text: str) -> dict[str, str | None] | None:
    match = SUMMARY.fullmatch(text)
    if match:
        return {"proto": "TCP", **match.groupdict()}
    match = TRANSPORT.fullmatch(text)
    if match:
        return {key: None if value == "-" else value for key, value in match.groupdict().items()}
    match = SOCKSTAT.fullmatch(text)
    if match:
        words = match["rest"].split()
        parts: dict[str, str | None] = dict(zip(words[::2], words[1::2], strict=False))
        return {"proto": match["proto"].replace("sockets", "*"), **{SOCKSTAT_KEYS.get(name, name): value for name, value in parts.items()}}
    match = SUMMARY_TOTAL.fullmatch(text)
    return {"proto": "*", "total": match["total"]} if match else None


def kind_of(sample: str, name: str) -> str | None:
    """`sockets` or `socket_counts` by the shape of the lines; None for other texts."""
    if is_foreign(sample, PROGRAMS):
        return None
    lines = [line for line in lines_in(sample) if not COUNT_OF_HEADING.fullmatch(line)]
    listed = [line for line in lines if not HEADING.fullmatch(line) and not line.startswith("\t")]
    lacks_state = any(NO_STATE_HEADING.match(line) for line in lines)
    if listed and mostly(listed, lambda line: socket_of(line, lacks_state)):
        return "sockets"
    if not listed and any(re.match(r"\s*(?:Proto\s+Recv-Q|(?:Netid\s+)?State\s+Recv-Q)", line) for line in lines):
        return "sockets"
    if mostly(lines, lambda line: count_of(line) or summary_of(line) or TRANSPORT_HEADING.fullmatch(line)):
        return "socket_counts"
    return "socket_counts" if counted(sample, PROGRAMS) else None


def read(kind: str, lines: Iterable[Line], about: About) -> Iterator[Row | Sample]:
    page = Page(about)
    counts: Counter[tuple[str, str]] = Counter()
    whole, lacks_state, first, last = False, False, 0, None
    for line in lines:
        text = line.text
        fields = socket_of(text, lacks_state)
        if fields is not None:
            if "local_address" in fields and fields["state"]:
                counts[(fields.get("proto") or "tcp").rstrip("46"), fields["state"]] += 1
            last = line.offset
            yield page.row("socket", line, fields)
            continue
        if page.passes(line):
            if counts and text.strip():
                yield from totals(page, first, counts) if whole else ()
                counts, whole, lacks_state = Counter(), False, False
            continue
        if HEADING.fullmatch(text):
            if re.match(r"Active Internet|(?:Netid\s+)?(?:State\s+)?Recv-Q|\s*Proto\s+Recv-Q", text) and not whole:
                whole, first = not page.is_piped, line.offset
            lacks_state = NO_STATE_HEADING.match(text) is not None
            continue
        if page.command is not None and page.command.program in PROGRAMS and page.command.counts and number_of(text):
            labels = {"filter": " & ".join(page.command.filters)} if page.command.filters else {}
            yield from page.count(
                "socket_count", line, "sockets", labels, "sockets", *(() if labels else ("the headings are counted too",))
            )
            continue
        if COUNT_OF_HEADING.fullmatch(text) or TRANSPORT_HEADING.fullmatch(text):
            continue
        count, summary = count_of(text), summary_of(text)
        if count is not None:
            yield page.row("socket_count", line, {"state": count[0], "count": count[1]})
            if count[0] in KNOWN_STATES:
                yield page.sample("sockets", line.offset, float(count[1]), {"state": count[0]}, "sockets")
        elif summary is not None:
            yield page.row("socket_summary", line, summary)
            for state in ("established", "syn_recv", "time_wait"):
                if summary.get(state) is not None:
                    yield page.sample(
                        "sockets", line.offset, float(summary[state] or 0), {"proto": "tcp", "state": state.upper()}, "sockets"
                    )
        elif last is not None and text.startswith("\t"):
            yield page.row("socket_detail", line, {"of_offset": str(last)})
        else:
            yield from unread([line], "no line of netstat or ss")
    if counts and whole:
        yield from totals(page, first, counts)


def totals(page: Page, offset: int, counts: Counter[tuple[str, str]]) -> Iterator[Sample]:
    """Samples of a list that is whole: how many sockets there are of each protocol and state."""
    for (proto, state), count in sorted(counts.items()):
        yield page.sample("sockets", offset, float(count), {"proto": proto, "state": state}, "sockets")
