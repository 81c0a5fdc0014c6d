"""Open files of a process: `lsof -p`, `lsof -nP`, `ls -l /proc/PID/fd`, and their counts.

Rows:
- `open_file`: process_name, process_id, thread_id, user, file_descriptor (a number, or `cwd`, `rtd`, `txt`, `mem`, `DEL` as lsof says), mode
  (r, w, u), file_type (as lsof says; of /proc: file, socket, pipe, anon_inode, device), size_bytes, inode, name, protocol, state
  (of sockets), is_deleted;
- `open_file_count`: process_id, count, and for a command that counts: command, filter.

Samples: `process_open_files` by `process_id`: descriptors that have a number, counted where the list is whole.

Sources: lsof(8) (output columns, FD, TYPE), proc(5) (/proc/PID/fd).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from ingestion.captures import About, Line, Row, Sample, unread
from ingestion.captures._terminal import Page, counted, is_foreign, lines_in, mostly, number_of
from ingestion.reading import linear

PROGRAMS = ("lsof", "ls", "find")
KINDS = {
    "open_files": "Files, sockets and pipes that a process has open, as lsof or /proc/PID/fd lists them.",
    "open_file_counts": "Open files counted per process.",
}
OF_NODE = frozenset(KINDS)
HEADING = linear.for_lines(r"COMMAND\s+PID\s+.*\bFD\b.*\bNAME\s*")
LSOF = re.compile(
    r"(?P<process_name>(?!\d+\s)\S+)\s+(?P<process_id>\d+)\s+(?:(?P<thread_id>\d+)\s+(?:(?P<thread_name>\S+)\s+)?)??(?P<user>[A-Za-z_][\w.\-+$]*|\d+)\s+"
    r"(?P<fd>cwd|rtd|txt|mem|mmap|DEL|NOFD|err|ltx|pd|tr|twd|jld|v86|m86|ctty|fp\.|L\d\d|\d+(?=[rwu\-]|\s+unknown\b))(?P<mode>[rwu\-])?(?P<lock>[NrRwWuUxX])?\s+"
    r"(?P<file_type>[A-Z][A-Z0-9\-]{1,7}|IPv[46]|unix|sock|a_inode|systm|unknown|inet6?|rte|key|ndrv|vnode|netlink|pack|raw6?)(?:\s+(?P<rest>\S.*))?"
)
# A file that lsof may not look at has neither type nor number.
LSOF_DENIED = re.compile(
    r"(?P<process_name>(?!\d+\s)\S+)\s+(?P<process_id>\d+)\s+(?:(?P<thread_id>\d+)\s+(?:\S+\s+)?)??(?P<user>\S+)\s+NOFD\s+(?P<name>/\S.*)"
)
WARNING = re.compile(r"lsof: (?:WARNING|status error|no pwd entry).*|\s+Output information may be incomplete\.\s*|\s+assuming \"dev=.*")
FD_LONG = linear.for_lines(r"(?P<permissions>l[rwx-]{9})[.+@]?\s+\d+\s+(?P<user>\S+)\s+\S+\s+\d+\s+\S.*?\s(?P<fd>\d+) -> (?P<name>.+)")
FD_SHORT = re.compile(r"(?:/proc/(?P<process_id>\d+)/fd/)?(?P<fd>\d+) -> (?P<name>(?:/|socket:|pipe:|anon_inode:|inotify|\().*)")
FD_FOLDER = re.compile(r"(?:\./?|/proc/(?P<process_id>\d+|self)(?:/task/\d+)?/fd/?):\s*|total \d+\s*|d[rwx-]{9}[.+@]?\s+\d+\s.*\s\.\.?\s*")
PAIR = re.compile(r"\s*(?P<process_id>\d+)[\s:=,]+(?P<count>\d+)\s*")
PROCESS = re.compile(r"\s-p\s*(\d+)|/proc/(\d+)/")


def lsof_of(text: str) -> dict[str, str | None] | None:
    """The fields of a line of lsof."""
    match = LSOF.fullmatch(text.rstrip())
    if match is None:
        denied = LSOF_DENIED.fullmatch(text.rstrip())
        return {**denied.groupdict(), "file_descriptor": "NOFD"} if denied else None
    fields: dict[str, str | None] = {key: match[key] for key in ("process_name", "process_id", "thread_id", "user", "file_type")}
    fields |= {"file_descriptor": match["fd"], "mode": match["mode"] if match["mode"] != "-" else None}
    words = (match["rest"] or "").split(None, 3)
    if match["file_type"] in ("IPv4", "IPv6"):
        # DEVICE, SIZE/OFF, the protocol in the place of NODE, then `local->peer (STATE)`.
        at = next((n for n, word in enumerate(words) if word in ("TCP", "UDP", "UDPLITE", "SCTP", "ICMP", "ICMPV6", "RAW")), None)
        if at is not None:
            name = (match["rest"] or "").split(words[at], 1)[1].strip()
            state = re.search(r" \(([A-Z_0-9]+)\)\Z", name)
            return fields | {
                "protocol": words[at],
                "name": name.removesuffix(state[0]) if state else name,
                "state": state[1] if state else None,
            }
    if words and not re.fullmatch(r"\d+,\d+|0x[0-9a-f]+|0t\d+|\d+", words[0]):
        words = [" ".join(words)]
    if len(words) == 4 and re.fullmatch(r"\d+", words[2]):
        size = words[1]
        fields |= {"size_bytes": size if size.isdigit() else None, "inode": words[2], "name": words[3]}
    elif len(words) == 4:
        # One of SIZE/OFF and NODE is blank, and the name has a blank.
        fields |= {"inode": words[1] if words[1].isdigit() else None, "name": f"{words[2]} {words[3]}"}
    elif len(words) == 3:
        fields |= {"inode": words[1] if words[1].isdigit() else None, "name": words[2]}
    else:
        fields |= {"name": " ".join(words) or None}
    deleted = match["fd"] == "DEL" or "(deleted)" in (fields["name"] or "")
    return fields | {"is_deleted": "true" if deleted else "false"}


def descriptor_of(text: str) -> dict[str, str | None] | None:
    """The fields of an entry of /proc/PID/fd."""
    match = FD_LONG.fullmatch(text.rstrip()) or FD_SHORT.fullmatch(text.strip())
    if match is None:
        return None
    found = match.groupdict()
    name = match["name"]
    deleted = name.endswith(" (deleted)")
    kind = next(
        (kind for kind in ("socket", "pipe", "anon_inode") if name.startswith(f"{kind}:")), "device" if name.startswith("/dev/") else "file"
    )
    mode = {"r-": "r", "-w": "w", "rw": "u"}.get((found.get("permissions") or "")[1:3])
    inode = re.search(r"\[(\d+)\]\Z", name)
    return {
        "process_id": found.get("process_id"),
        "user": found.get("user"),
        "file_descriptor": found["fd"],
        "mode": mode,
        "file_type": kind,
        "inode": inode[1] if inode else None,
        "name": name.removesuffix(" (deleted)"),
        "is_deleted": "true" if deleted else "false",
    }


def kind_of(sample: str, name: str) -> str | None:
    """`open_files` by the columns of lsof or links that are numbers; `open_file_counts` for commands, or by name where numbers stand alone."""
    if is_foreign(sample, PROGRAMS):
        return None
    lines = [line for line in lines_in(sample) if not WARNING.fullmatch(line) and not FD_FOLDER.fullmatch(line)]
    listed = [line for line in lines if not HEADING.fullmatch(line)]
    if (listed and mostly(listed, lambda line: lsof_of(line) or descriptor_of(line))) or (lines and not listed):
        return "open_files"
    if counted(sample, PROGRAMS, re.compile(r"^(?:sudo )?\S*lsof\b|/fd\b")):
        return "open_file_counts"
    named = re.search(r"(?:fd|lsof|open[-_ ]?files?|handles?)[-_ ]?counts?", name.rsplit("/", 1)[-1].lower())
    return "open_file_counts" if named and mostly(lines, PAIR.fullmatch, 1.0) else None


def read(kind: str, lines: Iterable[Line], about: About) -> Iterator[Row | Sample]:
    page = Page(about)
    counts: Counter[str] = Counter()
    whole, first, process = False, 0, None
    for line in lines:
        text = line.text
        fields = (lsof_of(text) or descriptor_of(text)) if kind == "open_files" else None
        if fields is not None:
            if "process_name" not in fields:
                fields["process_id"] = fields["process_id"] or process
                # A list that `ls` made begins with descriptor 0; anything else is an excerpt.
                whole = whole or (fields["file_descriptor"] == "0" and not page.is_piped)
            if (fields["file_descriptor"] or "").isdigit() and fields.get("thread_id") is None:
                counts[fields["process_id"] or ""] += 1
            yield page.row("open_file", line, fields)
            continue
        if page.passes(line):
            if text.strip():
                yield from totals(page, first, counts) if whole else ()
                counts, whole, first = Counter(), False, line.offset
                found = PROCESS.search(page.command.text) if page.command else None
                process = next((group for group in found.groups() if group), None) if found else None
            continue
        if HEADING.fullmatch(text):
            whole, first = not page.is_piped, line.offset
        elif FD_FOLDER.fullmatch(text):
            folder = FD_FOLDER.fullmatch(text)
            process = folder["process_id"] or process if folder else process
        elif WARNING.fullmatch(text):
            continue
        elif page.command is not None and page.command.program in PROGRAMS and page.command.counts and number_of(text):
            labels = {"process_id": process} if process else {}
            filtered = page.command.filters or not process
            warning = () if page.command.program == "ls" else ("lsof also lists its heading, folders, programs and mapped files",)
            yield from page.count("open_file_count", line, None if filtered else "process_open_files", labels, "files", *warning)
        elif kind == "open_file_counts" and (pair := PAIR.fullmatch(text)):
            yield page.row("open_file_count", line, pair.groupdict())
            yield page.sample("process_open_files", line.offset, float(pair["count"]), {"process_id": pair["process_id"]}, "files")
        else:
            yield from unread([line], "no line of lsof or of a list of descriptors")
    if whole:
        yield from totals(page, first, counts)


def totals(page: Page, offset: int, counts: Counter[str]) -> Iterator[Sample]:
    """Samples of a list that is whole: the descriptors of each process."""
    for process, count in sorted(counts.items()):
        yield page.sample("process_open_files", offset, float(count), {"process_id": process} if process else {}, "files")
