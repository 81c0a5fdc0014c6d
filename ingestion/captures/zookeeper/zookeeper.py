"""A ZooKeeper server about itself: the four-letter words stat, srvr, mntr, cons, dump, envi, conf, ruok, wchs, wchc, wchp.

Rows:
- `zookeeper_server`: version, mode, latency_min_ms, latency_avg_ms, latency_max_ms, received, sent, connections, outstanding, zxid, nodes,
  and of mntr also watches, ephemerals, data_bytes, open_files, open_file_limit; `error` where the server answers that it does not serve;
- `zookeeper_connection`: client_address, client_port, queued, received, sent, session_id, last_operation, established_at, timeout_ms,
  last_cxid, last_zxid, latency_min_ms, latency_avg_ms, latency_max_ms;
- `zookeeper_session`: session_id, expires (as printed), timeout_ms; `ephemeral_node`: session_id, path (dump);
- `zookeeper_watch`: session_id, path (wchc, wchp);
- `zookeeper_setting`: name, value (conf); `environment_entry`: name, value (envi); `zookeeper_watches`: connections, paths, watches (wchs).

Samples: every number of mntr, under its own name.

Sources: ZooKeeper's `Commands` of ZooKeeperServer (3.4 to 3.9), `ServerCnxn.dumpConnectionInfo`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ingestion.captures import About, Line, Row, Sample, unread
from ingestion.captures._terminal import Page, at_millis, command_of, date_of, lines_in, mostly
from ingestion.reading import linear

KINDS = {
    "zookeeper_status": "What a ZooKeeper server says of itself: the four-letter words.",
}
FIRST = re.compile(
    r"Zookeeper version: |zk_version\t|SessionTracker dump:|ephemeral nodes dump:|This ZooKeeper instance is not currently serving requests"
    r"|\d+ connections watching \d+ paths|(?:stat|srvr|mntr|cons|dump|envi|conf|wchs|wchc|wchp|isro|ruok) is not executed because it is not in the whitelist"
)
CONNECTION = linear.for_lines(r"\s*/(?P<client_address>\S+):(?P<client_port>\d+)\[(?P<interest>[\d-]+)\]\((?P<rest>queued=.*)\)\s*")
CONNECTION_KEYS = {
    "queued": "queued", "recved": "received", "sent": "sent", "sid": "session_id", "lop": "last_operation", "est": "established_at", "to": "timeout_ms",
    "lcxid": "last_cxid", "lzxid": "last_zxid", "lresp": "last_response", "llat": "latency_last_ms", "minlat": "latency_min_ms",
    "avglat": "latency_avg_ms", "maxlat": "latency_max_ms",
}  # fmt: skip
SERVER = re.compile(
    r"Zookeeper version: (?P<version>[^,]+)(?:, built on .*)?|Latency min/avg/max: (?P<latency>[\d./-]+)|Received: (?P<received>\d+)|Sent: (?P<sent>\d+)|Connections: (?P<connections>\d+)"
    r"|Outstanding: (?P<outstanding>\d+)|Zxid: (?P<zxid>0x[0-9a-f]+)|Mode: (?P<mode>[\w-]+)|Node count: (?P<nodes>\d+)|Proposal sizes last/min/max: (?P<proposal_sizes>[\d/-]+)|Clients:"
)
MNTR = re.compile(r"(?P<name>zk_\w++(?:\{[^}]*\})?)[\t ]++(?P<value>(?:.*\S)?)\s*")
MNTR_KEYS = {
    "zk_version": "version", "zk_server_state": "mode", "zk_avg_latency": "latency_avg_ms", "zk_min_latency": "latency_min_ms", "zk_max_latency": "latency_max_ms",
    "zk_packets_received": "received", "zk_packets_sent": "sent", "zk_num_alive_connections": "connections", "zk_outstanding_requests": "outstanding",
    "zk_znode_count": "nodes", "zk_watch_count": "watches", "zk_ephemerals_count": "ephemerals", "zk_approximate_data_size": "data_bytes",
    "zk_open_file_descriptor_count": "open_files", "zk_max_file_descriptor_count": "open_file_limit",
}  # fmt: skip
NOT_SERVING = re.compile(
    r"This ZooKeeper instance is not currently serving requests|\w{4} is not executed because it is not in the whitelist\.?"
)
WATCHES = re.compile(r"(?P<connections>\d+) connections watching (?P<paths>\d+) paths")
TOTAL_WATCHES = re.compile(r"Total watches:\s*(?P<watches>\d+)")
EXPIRES = re.compile(r"(?P<sessions>\d+) expire at (?P<expires>.+?):?")
SESSION = re.compile(r"\s*(?P<session_id>0x[0-9a-f]+)(?::|\s+(?P<timeout_ms>\d+)ms)?\s*")
DUMP_HEADING = re.compile(
    r"SessionTracker dump:|Session Sets \(\d+\)(?:/\(\d+\))?:|ephemeral nodes dump:|Sessions with Ephemerals \(\d+\):|Connections dump:|Connections Sets \(\d+\)/\(\d+\):|Global Sessions ?\(\d+\):|Local Sessions ?\(\d+\):"
)
PAIR = linear.for_lines(r"(?P<name>[\w.\-]+)=(?P<value>.*?)\s*")

HEADINGS = re.compile(r"Environment:|imok")


def kind_of(sample: str, name: str) -> str | None:
    """By the first words of an answer."""
    lines = lines_in(sample)
    if not lines:
        return None
    if FIRST.match(lines[0]) and mostly(lines, status_line, 0.7):
        return "zookeeper_status"
    if mostly(lines, lambda line: CONNECTION.fullmatch(line) or MNTR.fullmatch(line)) or [line.strip() for line in lines] == ["imok"]:
        return "zookeeper_status"
    # wchc, wchp: sessions with the paths that they watch, and paths with the sessions that watch them.
    if re.match(r"(?:0x[0-9a-f]{6,16}\n\t/|/\S*\n\t0x[0-9a-f]{6,16}$)", sample, re.M) and mostly(
        lines, lambda line: re.fullmatch(r"\t?(?:0x[0-9a-f]+|/\S*)", line)
    ):
        return "zookeeper_status"
    if lines[0] == "Environment:" and mostly(lines[1:], lambda line: re.match(r"(?:zookeeper|java|os|host|user|jvm)\.", line)):
        return "zookeeper_status"
    names = {match["name"] for line in lines if (match := PAIR.fullmatch(line))}
    return "zookeeper_status" if {"clientPort", "serverId", "minSessionTimeout"} <= names and mostly(lines, PAIR.fullmatch, 0.9) else None


def status_line(text: str) -> bool:
    patterns = (CONNECTION, SERVER, MNTR, NOT_SERVING, WATCHES, TOTAL_WATCHES, EXPIRES, SESSION, DUMP_HEADING, PAIR, HEADINGS)
    return any(pattern.fullmatch(text) for pattern in patterns) or text.startswith("\t")


def read(kind: str, lines: Iterable[Line], about: About) -> Iterator[Row | Sample]:
    page = Page(about)
    server: dict[str, str | None] = {}
    said: list[Line] = []
    section, session, expires, watched = "", None, None, ""
    for line in lines:
        text = line.text.rstrip()
        connection = CONNECTION.fullmatch(text)
        if connection:
            yield connection_row(page, line, connection)
            continue
        found, pair = SERVER.fullmatch(text), MNTR.fullmatch(text)
        if (text.startswith(("Zookeeper version: ", "zk_version")) or not (found or pair)) and text.strip() and said:
            yield page.row("zookeeper_server", said[0], server, raw_text="\n".join(part.text for part in said))
            server, said = {}, []
        if found:
            said.append(line)
            server |= {key: value for key, value in found.groupdict().items() if value is not None and key != "latency"}
            if found["latency"]:
                server |= dict(zip(("latency_min_ms", "latency_avg_ms", "latency_max_ms"), found["latency"].split("/"), strict=False))
        elif pair:
            said.append(line)
            if pair["name"] in MNTR_KEYS:
                server[MNTR_KEYS[pair["name"]]] = pair["value"].split(", built on")[0]
            if re.fullmatch(r"-?\d+(?:\.\d+)?(?:E-?\d+)?", pair["value"]):
                labels = dict(re.findall(r'(?<!\w)(\w++)="([^"]*+)"', pair["name"]))
                yield page.sample(pair["name"].split("{")[0], line.offset, float(pair["value"]), labels, "")
        elif NOT_SERVING.fullmatch(text):
            yield page.row("zookeeper_server", line, {"error": text})
        elif text == "imok":
            yield page.row("zookeeper_server", line, {"answer": "imok"})
        elif WATCHES.fullmatch(text):
            yield page.row("zookeeper_watches", line, WATCHES.fullmatch(text).groupdict())  # type: ignore[union-attr]
        elif TOTAL_WATCHES.fullmatch(text):
            yield page.row("zookeeper_watches", line, TOTAL_WATCHES.fullmatch(text).groupdict())  # type: ignore[union-attr]
        elif DUMP_HEADING.fullmatch(text) or text == "Environment:":
            section, session, expires = text, None, None
        elif EXPIRES.fullmatch(text):
            expires = EXPIRES.fullmatch(text)["expires"]  # type: ignore[index]
        elif SESSION.fullmatch(text) and not watched:
            match = SESSION.fullmatch(text)
            session = match["session_id"]  # type: ignore[index]
            if not section.startswith(("ephemeral", "Sessions with")):
                yield page.row("zookeeper_session", line, {**match.groupdict(), "expires": expires})  # type: ignore[union-attr]
        elif text.startswith("\t/") and session:
            row_kind = "ephemeral_node" if section.startswith(("ephemeral", "Sessions with")) else "zookeeper_watch"
            yield page.row(row_kind, line, {"session_id": session, "path": text.strip()})
        elif SESSION.fullmatch(text) and watched:
            yield page.row("zookeeper_watch", line, {"session_id": text.strip(), "path": watched})
        elif text.startswith("/") and not section:
            watched = text
        elif re.fullmatch(r"\s*ip: /.*sessionId: 0x[0-9a-f]+", text):
            address, _, identifier = text.strip().removeprefix("ip: /").partition(" sessionId: ")
            yield page.row(
                "zookeeper_connection",
                line,
                {"client_address": address.rpartition(":")[0], "client_port": address.rpartition(":")[2], "session_id": identifier},
            )
        elif not page.passes(line) and PAIR.fullmatch(text):
            match = PAIR.fullmatch(text)
            yield page.row("environment_entry" if section == "Environment:" else "zookeeper_setting", line, match.groupdict())  # type: ignore[union-attr]
        elif text.strip() and command_of(text) is None and date_of(text, page.about.zone) is None:
            yield from unread([line], "no answer of a ZooKeeper server")
    if said:
        yield page.row("zookeeper_server", said[0], server, raw_text="\n".join(part.text for part in said))


def connection_row(page: Page, line: Line, match: re.Match[str]) -> Row:
    parts = dict(part.split("=", 1) for part in match["rest"].split(",") if "=" in part)
    fields: dict[str, str | None] = {CONNECTION_KEYS.get(key, key): value for key, value in parts.items()}
    fields |= {"client_address": match["client_address"], "client_port": match["client_port"]}
    if "est" in parts and parts["est"].isdigit():
        fields["established_at"] = at_millis(parts["est"])
    return page.row("zookeeper_connection", line, fields)
