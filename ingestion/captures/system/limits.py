"""Limits of a process and of its host: /proc/PID/limits, `ulimit -a`, /proc/PID/maps, /proc/PID/status, sysctl.

Rows:
- `limit`: name (open_files, processes, locked_memory, address_space …), soft, hard (numbers in `unit`, or `unlimited`), unit;
- `memory_map`: address_range, permissions, inode, path, is_deleted;
- `process_status`: process_name, process_id, state, threads, descriptor_slots, virtual_bytes, virtual_peak_bytes, resident_bytes,
  resident_peak_bytes, swapped_bytes;
- `memory_map_count`: process_id, count, command, filter;
- `kernel_setting`: name, value (`vm.max_map_count = 65530`).

Samples: `process_memory_maps` (one per list of maps, or the number under `cat /proc/PID/maps | wc -l` or before /proc/PID/maps), `process_threads`,
`process_resident_memory_bytes` by `process_id`.

Sources: proc(5), proc_pid_limits(5), bash(1) and zsh `ulimit -a`, BusyBox ash, sysctl(8).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ingestion.captures import About, Line, Row, Sample, unread
from ingestion.captures._terminal import Page, bytes_of, counted, is_foreign, lines_in, mostly, number_of
from ingestion.reading import linear

PROGRAMS = ("cat", "wc", "grep", "ulimit", "sysctl")
KINDS = {
    "process_limits": "Limits of a process or a shell: /proc/PID/limits, ulimit.",
    "process_maps": "Memory maps of a process: /proc/PID/maps, or their number.",
    "process_status": "Threads and memory of a process: /proc/PID/status.",
    "kernel_settings": "Settings of the kernel, as sysctl prints them.",
}
OF_NODE = frozenset(KINDS)
# The names of /proc/PID/limits and of the options of `ulimit`, under one name.
NAMES = {
    "cpu time": "cpu_time", "file size": "file_size", "data size": "data_size", "stack size": "stack_size", "core file size": "core_file_size",
    "resident set": "resident_set", "processes": "processes", "open files": "open_files", "locked memory": "locked_memory",
    "address space": "address_space", "file locks": "file_locks", "pending signals": "pending_signals", "msgqueue size": "message_queue",
    "nice priority": "nice", "realtime priority": "realtime_priority", "realtime timeout": "realtime_time",
}  # fmt: skip
OPTIONS = {
    "t": "cpu_time", "f": "file_size", "d": "data_size", "s": "stack_size", "c": "core_file_size", "m": "resident_set", "u": "processes",
    "n": "open_files", "l": "locked_memory", "v": "address_space", "x": "file_locks", "i": "pending_signals", "q": "message_queue",
    "e": "nice", "r": "realtime_priority", "R": "realtime_time", "p": "pipe_size", "w": "swap", "N": "realtime_time", "b": "socket_buffer",
    "k": "kqueues", "P": "pseudo_terminals", "T": "threads",
}  # fmt: skip
# `ulimit -a` of dash and of older BusyBox.
WORDS = {
    "time": "cpu_time", "file": "file_size", "data": "data_size", "stack": "stack_size", "coredump": "core_file_size", "memory": "resident_set",
    "locked memory": "locked_memory", "process": "processes", "nofiles": "open_files", "vmemory": "address_space", "locks": "file_locks",
    "rtprio": "realtime_priority",
}  # fmt: skip
VALUE = r"unlimited|\d+"
PROC_LIMIT = linear.for_lines(rf"Max (?P<name>[a-z ]+?)\s+(?P<soft>{VALUE})\s+(?P<hard>{VALUE})(?:\s+(?P<unit>[a-z]+))?\s*")
PROC_HEADING = re.compile(r"Limit\s+Soft Limit\s+Hard Limit\s+Units\s*")
ULIMIT = linear.for_lines(rf"(?P<name>[A-Za-z/][\w \-/]*?)\s+\((?:(?P<unit>[\w \-]+), )?-(?P<option>\w)\)\s+(?P<soft>{VALUE})\s*")
ULIMIT_OPTION = linear.for_lines(rf"-(?P<option>\w): (?P<name>[\w \-/()]+?)(?: \((?P<unit>[\w \-]+)\))?\s{{2,}}(?P<soft>{VALUE})\s*")
ULIMIT_WORD = re.compile(rf"(?P<name>{'|'.join(sorted(WORDS, key=len, reverse=True))})(?:\((?P<unit>\w+)\))?\s+(?P<soft>{VALUE})\s*")
MAP = linear.for_lines(
    r"(?P<address_range>[0-9a-f]{8,16}-[0-9a-f]{8,16}) (?P<permissions>[r-][w-][x-][ps]) [0-9a-f]+ [0-9a-f]+:[0-9a-f]+ (?P<inode>\d+)(?:\s+(?P<path>\S.*))?\s*"
)
# What `wc` prints of a list of maps: lines, and without -l also words and bytes.
WC = re.compile(r"\s*(?P<count>\d+)(?:\s+\d+\s+\d+)?\s+/proc/(?P<process_id>\d+)/(?:task/\d+/)?maps\s*")
WC_TOTAL = re.compile(r"\s*\d+(?:\s+\d+\s+\d+)?\s+total\s*")
STATUS = linear.for_lines(r"(?P<name>[A-Za-z]\w*):\s*(?P<value>\S.*?)?\s*")
STATUS_KEYS = {
    "Name": "process_name", "Pid": "process_id", "State": "state", "Threads": "threads", "FDSize": "descriptor_slots", "VmSize": "virtual_bytes",
    "VmPeak": "virtual_peak_bytes", "VmRSS": "resident_bytes", "VmHWM": "resident_peak_bytes", "VmSwap": "swapped_bytes",
}  # fmt: skip
SYSCTL = linear.for_lines(r"(?P<name>(?:vm|net|kernel|fs|dev|abi|user|debug|sunrpc|crypto)(?:[./][\w\-:]+)+)\s*[=:]\s*(?P<value>.*?)\s*")
COMMENT = re.compile(r"\s*[#;].*|sysctl: .*")
PROCESS = re.compile(r"/proc/(\d+)/|\bproc-(\d+)|pid[-_](\d+)|(?:maps|limits|status)[-_](\d+)\b")


def limit_of(text: str) -> dict[str, str | None] | None:
    """The fields of one limit."""
    match = PROC_LIMIT.fullmatch(text)
    if match:
        return match.groupdict() | {"name": NAMES.get(match["name"], match["name"].replace(" ", "_"))}
    match = ULIMIT.fullmatch(text.strip()) or ULIMIT_OPTION.fullmatch(text.strip())
    if match:
        return {"name": OPTIONS.get(match["option"], match["name"].replace(" ", "_")), "soft": match["soft"], "unit": match["unit"]}
    match = ULIMIT_WORD.fullmatch(text.strip())
    return {"name": WORDS[match["name"]], "soft": match["soft"], "unit": match["unit"]} if match else None


def kind_of(sample: str, name: str) -> str | None:
    """By the shape of the lines; a number alone is the limit of open files where the file's name says so."""
    if is_foreign(sample, PROGRAMS):
        return None
    lines = [line for line in lines_in(sample) if not COMMENT.fullmatch(line)]
    listed = [line for line in lines if not PROC_HEADING.fullmatch(line)]
    if mostly(listed, limit_of) and (len(listed) > 1 or not ULIMIT_WORD.fullmatch(listed[0].strip())):
        return "process_limits"
    if mostly(lines, MAP.fullmatch) or mostly([line for line in lines if not WC_TOTAL.fullmatch(line)], WC.fullmatch):
        return "process_maps"
    if (
        len(lines) > 3
        and mostly(lines, STATUS.fullmatch)
        and re.search(r"^Vm(?:Peak|Size|RSS):\s+\d+ kB", sample, re.M)
        and re.search(r"^Threads:\s+\d+", sample, re.M)
    ):
        return "process_status"
    if mostly(lines, SYSCTL.fullmatch):
        return "kernel_settings"
    if counted(sample, ("cat", "wc", "grep"), re.compile(r"/proc/[^/\s]+/maps\b")):
        return "process_maps"
    if (
        len(lines) == 1
        and re.fullmatch(rf"\s*(?:{VALUE})\s*", lines[0])
        and name.rsplit("/", 1)[-1] in ("file_descriptor.info", "ulimit-n.txt")
    ):
        return "process_limits"
    return None


def read(kind: str, lines: Iterable[Line], about: About) -> Iterator[Row | Sample]:
    page = Page(about)
    process = process_of(about.name)
    maps, first = 0, 0
    status: list[Line] = []
    for line in lines:
        text = line.text
        found = MAP.fullmatch(text) if kind == "process_maps" else None
        if found:
            first = first if maps else line.offset
            maps += 1
            deleted = (found["path"] or "").endswith("(deleted)")
            yield page.row("memory_map", line, {**found.groupdict(), "process_id": process, "is_deleted": "true" if deleted else "false"})
            continue
        if page.passes(line):
            if text.strip():
                yield from ends(page, status, maps, first, process)
                status, maps = [], 0
                process = process_of(page.command.text) if page.command else process
            continue
        limit = limit_of(text) if kind == "process_limits" else None
        setting = SYSCTL.fullmatch(text) if kind == "kernel_settings" else None
        if limit is not None:
            yield page.row("limit", line, {**limit, "process_id": process})
        elif setting:
            yield page.row("kernel_setting", line, {"name": setting["name"].replace("/", "."), "value": setting["value"]})
        elif kind == "process_status" and STATUS.fullmatch(text):
            if text.startswith("Name:") and status:
                yield from ends(page, status, 0, 0, process)
                status = []
            status.append(line)
        elif kind == "process_maps" and (counted := maps_counted(page, line, process)) is not None:
            yield from counted
        elif kind == "process_limits" and re.fullmatch(rf"\s*(?:{VALUE})\s*", text):
            yield page.row("limit", line, {"name": "open_files", "soft": text.strip(), "process_id": process})
        elif not PROC_HEADING.fullmatch(text) and not COMMENT.fullmatch(text):
            yield from unread([line], "no line of limits, maps, status or sysctl")
    yield from ends(page, status, maps, first, process)


def maps_counted(page: Page, line: Line, process: str | None) -> Iterable[Row | Sample] | None:
    """What a line says of the number of memory maps that `wc` or a tool like it counted; None if it says nothing of it."""
    command = page.command
    if number := WC.fullmatch(line.text):
        return (
            page.row("memory_map_count", line, {**number.groupdict(), "command": command.text if command else None}),
            page.sample("process_memory_maps", line.offset, float(number["count"]), {"process_id": number["process_id"]}, "maps"),
        )
    if WC_TOTAL.fullmatch(line.text):
        return ()
    if command is not None and command.program in PROGRAMS and command.counts and number_of(line.text):
        labels = {"process_id": process} if process else {}
        return page.count("memory_map_count", line, None if command.filters else "process_memory_maps", labels, "maps")
    return None


def process_of(text: str) -> str | None:
    found = PROCESS.search(text)
    return next(group for group in found.groups() if group) if found else None


def ends(page: Page, status: list[Line], maps: int, first: int, process: str | None) -> Iterator[Row | Sample]:
    """What a finished piece gives: the row of a status, the number of a list of maps."""
    if maps and not page.is_piped:
        yield page.sample("process_memory_maps", first, float(maps), {"process_id": process} if process else {}, "maps")
    if not status:
        return
    fields: dict[str, str | None] = {}
    for line in status:
        match = STATUS.fullmatch(line.text)
        if match and match["name"] in STATUS_KEYS:
            key = STATUS_KEYS[match["name"]]
            fields[key] = bytes_of((match["value"] or "").removesuffix(" kB"), 1024) if key.endswith("_bytes") else match["value"]
    yield page.row("process_status", status[0], fields, raw_text="\n".join(line.text for line in status))
    labels = {"process_id": fields["process_id"]} if fields.get("process_id") else {}
    for key, metric, unit in (("threads", "process_threads", "threads"), ("resident_bytes", "process_resident_memory_bytes", "bytes")):
        value = fields.get(key)
        if value and value.isdigit():
            yield page.sample(metric, status[0].offset, float(value), labels, unit)  # type: ignore[arg-type]
