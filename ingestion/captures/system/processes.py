"""Processes and the load of their host: `top -b`, `top -H`, `ps`, `iostat -x`, `vmstat`, `free`, `uptime`, /proc/meminfo.

Rows:
- `process`: process_id, thread_id, parent_process_id, user, state, priority, nice, virtual_bytes, resident_bytes, shared_bytes,
  cpu_percent, memory_percent, cpu_time, started, command; of `top -H` the number is the thread's;
  `process_thread`: the same of a thread that `ps m` lists below its process;
- `load_average`: load_1m, load_5m, load_15m, up, users;
- `task_count`: total, running, sleeping, stopped, zombie, counted (tasks or threads);
- `cpu_usage`: cpu (where each has a line), user_percent, nice_percent, system_percent, idle_percent, iowait_percent, steal_percent …;
- `memory`: of (memory, swap), total_bytes, used_bytes, free_bytes, shared_bytes, cached_bytes, buffers_bytes, available_bytes; without
  `_bytes` where free printed no unit and its options are not known;
- `memory_item`: name, value_bytes or value (/proc/meminfo, `vmstat -s`);
- `virtual_memory`: runnable, blocked, swapped_out_bytes, free_bytes, swap_in_per_second …, the columns of vmstat;
- `device_io`: device, reads_per_second, writes_per_second, read_bytes_per_second, read_await_ms, write_await_ms, await_ms, queue_size,
  utilised_percent …, the columns of iostat of both layouts.

Sources: procps (top, free, vmstat, ps, uptime), sysstat (iostat), BusyBox.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator

from ingestion.captures import About, Line, Row, Sample, unread
from ingestion.captures._terminal import Page, bytes_of, is_foreign, lines_in, mostly, point
from ingestion.reading import linear

PROGRAMS = ("top", "ps", "iostat", "vmstat", "free", "uptime")
KINDS = {
    "process_list": "Processes or threads, as top and ps list them.",
    "host_load": "Load of a host: uptime, free, vmstat, iostat, /proc/meminfo.",
}
OF_NODE = frozenset(KINDS)
NO_UNIT = "free prints no unit: KiB unless an option changed it"
LOAD = linear.for_lines(
    r"(?:top - )?(?:.*?\bup (?P<up>.+?),\s+)?(?:(?P<users>\d+) users?,\s+)?\s*[Ll]oad averages?: (?P<one>\d+[.,]\d+),? (?P<five>\d+[.,]\d+),? (?P<fifteen>\d+[.,]\d+)(?: [\d/]+ \d+)?\s*"
)
TASKS = re.compile(
    r"(?P<counted>Tasks|Threads):\s*(?P<total>\d+) total,\s*(?P<running>\d+) running,\s*(?P<sleeping>\d+) sleeping,\s*(?P<stopped>\d+) stopped,\s*(?P<zombie>\d+) zombie\s*"
)
CPU = linear.for_lines(r"%?Cpu(?:\(s\)|(?P<cpu>\d+))?\s*:.*\b(?:us|id)\b.*")
CPU_PARTS = {"us": "user", "sy": "system", "ni": "nice", "id": "idle", "wa": "iowait", "hi": "irq", "si": "softirq", "st": "steal"}
TOP_MEMORY = re.compile(r"(?P<unit>[KMGTP]?)i?B? ?(?P<of>Mem|Swap)\s*:\s*(?P<rest>\d+(?:[.,]\d+)?\s*\+?k?\s?total,.*)", re.I)
TOP_MEMORY_PART = re.compile(r"(?<!\d)(\d++(?:[.,]\d++)?)\+?\s*+(k?) ?(total|used|free|buff/cache|buffers|cached Mem|cached|avail Mem)")
BUSYBOX_MEMORY = re.compile(
    r"Mem: (?P<used>\d+)K used, (?P<free>\d+)K free(?:, (?P<shared>\d+)K shrd, (?P<buffers>\d+)K buff, (?P<cached>\d+)K cached)?\s*"
)
BUSYBOX_CPU = re.compile(
    r"CPU:\s+(?P<user>[\d.]+)% usr\s+(?P<system>[\d.]+)% sys\s+(?P<nice>[\d.]+)% nic\s+(?P<idle>[\d.]+)% idle\s+(?P<iowait>[\d.]+)% io\s+(?P<irq>[\d.]+)% irq\s+(?P<softirq>[\d.]+)% sirq\s*"
)
FREE_HEADING = re.compile(r"\s+total\s+used\s+free\s+(?:shared|gemeinsam).*")
FREE_UNIT = linear.for_lines(r"\bfree\s+(?:-\w+\s+)*?-?-(?P<unit>[bkmg]|bytes|kilo|mega|gibi|mebi|kibi)")
FREE = linear.for_lines(r"(?P<of>Mem|Swap|-/\+ buffers/cache|Low|High|Total)\s*:\s+(?P<numbers>\d.*?)\s*")
MEMINFO = re.compile(r"(?P<name>[A-Z]\w*(?:\(\w+\))?):\s+(?P<value>\d+)(?P<unit> kB)?\s*")
VMSTAT_GROUP = re.compile(r"[\s-]*procs[\s-]+memory.*")
VMSTAT_HEADING = re.compile(r"\s*r\s+b\s+(?:swpd|avm).*")
VMSTAT = re.compile(r"\s*\d+\s+\d+(?:\s+\d+){10,18}(?:\s+\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)?\s*")
VMSTAT_KEYS = {
    "r": "runnable", "b": "blocked", "swpd": "swapped_out_bytes", "free": "free_bytes", "buff": "buffers_bytes", "cache": "cached_bytes",
    "si": "swap_in_bytes_per_second", "so": "swap_out_bytes_per_second", "bi": "blocks_in_per_second", "bo": "blocks_out_per_second",
    "in": "interrupts_per_second", "cs": "context_switches_per_second", "us": "user_percent", "sy": "system_percent", "id": "idle_percent",
    "wa": "iowait_percent", "st": "steal_percent", "gu": "guest_percent",
}  # fmt: skip
VMSTAT_SUMMARY = linear.for_lines(r"\s*(?P<value>\d+)(?P<unit> K)? (?P<name>[A-Za-z][A-Za-z /()-]+)\s*")
IOSTAT_HEADING = re.compile(r"Device:?\s++(?=.*(?:%util|tps|r/s)).*")
IOSTAT = re.compile(r"(?P<device>[A-Za-z][\w\-.!/]*)(?P<numbers>(?:\s+\d+[.,]\d+)+)\s*")
IOSTAT_CPU_HEADING = re.compile(r"avg-cpu:\s+%user.*")
IOSTAT_CPU = re.compile(r"\s+\d+[.,]\d+(?:\s+\d+[.,]\d+){4,}\s*")
# Columns of sysstat 9 to 12; sectors have 512 bytes.
IOSTAT_KEYS = {
    "rrqm/s": ("reads_merged_per_second", 1), "wrqm/s": ("writes_merged_per_second", 1), "r/s": ("reads_per_second", 1), "w/s": ("writes_per_second", 1),
    "rsec/s": ("read_bytes_per_second", 512), "wsec/s": ("written_bytes_per_second", 512), "rkB/s": ("read_bytes_per_second", 1024),
    "wkB/s": ("written_bytes_per_second", 1024), "rMB/s": ("read_bytes_per_second", 1 << 20), "wMB/s": ("written_bytes_per_second", 1 << 20),
    "avgrq-sz": ("request_bytes", 512), "areq-sz": ("request_bytes", 1024), "rareq-sz": ("read_request_bytes", 1024), "wareq-sz": ("write_request_bytes", 1024),
    "avgqu-sz": ("queue_size", 1), "aqu-sz": ("queue_size", 1), "await": ("await_ms", 1), "r_await": ("read_await_ms", 1), "w_await": ("write_await_ms", 1),
    "svctm": ("service_ms", 1), "%util": ("utilised_percent", 1), "%rrqm": ("reads_merged_percent", 1), "%wrqm": ("writes_merged_percent", 1),
    "d/s": ("discards_per_second", 1), "dkB/s": ("discarded_bytes_per_second", 1024), "dMB/s": ("discarded_bytes_per_second", 1 << 20),
    "drqm/s": ("discards_merged_per_second", 1), "%drqm": ("discards_merged_percent", 1), "d_await": ("discard_await_ms", 1),
    "dareq-sz": ("discard_request_bytes", 1024), "f/s": ("flushes_per_second", 1), "f_await": ("flush_await_ms", 1), "tps": ("transfers_per_second", 1),
    "kB_read/s": ("read_bytes_per_second", 1024), "kB_wrtn/s": ("written_bytes_per_second", 1024), "kB_read": ("read_bytes", 1024), "kB_wrtn": ("written_bytes", 1024),
    "kB_dscd/s": ("discarded_bytes_per_second", 1024), "kB_dscd": ("discarded_bytes", 1024),
    "MB_read/s": ("read_bytes_per_second", 1 << 20), "MB_wrtn/s": ("written_bytes_per_second", 1 << 20), "MB_read": ("read_bytes", 1 << 20), "MB_wrtn": ("written_bytes", 1 << 20),
}  # fmt: skip
SYSTEM = re.compile(r"Linux \S+ \((?P<host>\S+)\)\s+(?P<date>\S+)\s+_\w+_\s+\((?P<cpus>\d+) CPU\)\s*")
IOSTAT_TIME = re.compile(r"(?:(?P<month>\d\d)/(?P<day>\d\d)/(?P<year>\d{2,4}) (?P<clock>\d\d:\d\d:\d\d)(?: (?P<half>[AP]M))?)\s*")
# PID USER PR NI VIRT RES SHR S %CPU %MEM TIME+ COMMAND, and the columns of ps; sizes of ps and top without letters are KiB.
TABLE_HEADING = re.compile(
    r"\s*+(?=.*\bPID\b)(?=.*\b(?:COMMAND|CMD|Command)\b)(?:[A-Z%+][A-Z%+/\d\-]*|Command|Tid)(?:\s+(?:[A-Z%+][A-Z%+/\d\-]*|Command))+\s*"
)
TABLE_KEYS = {
    "PID": "process_id", "PPID": "parent_process_id", "LWP": "thread_id", "TID": "thread_id", "SPID": "thread_id", "USER": "user", "UID": "user", "PR": "priority", "PRI": "priority", "NI": "nice",
    "VIRT": "virtual_bytes", "VSZ": "virtual_bytes", "SZ": "size_pages", "RES": "resident_bytes", "RSS": "resident_bytes", "SHR": "shared_bytes", "S": "state", "STAT": "state",
    "%CPU": "cpu_percent", "C": "cpu_percent", "%MEM": "memory_percent", "%VSZ": "virtual_percent", "TIME+": "cpu_time", "TIME": "cpu_time", "ELAPSED": "elapsed", "START": "started",
    "STARTED": "started", "STIME": "started", "TTY": "terminal", "TT": "terminal", "CPU": "cpu", "NLWP": "threads", "COMMAND": "command", "CMD": "command", "Command": "command",
}  # fmt: skip


def heading_of(text: str) -> list[str] | None:
    """The columns of a table of top or ps."""
    words = text.split()
    if not 3 <= len(words) <= 30 or not {"PID", "LWP", "TID"} & set(words) or "FD" in words:
        return None
    return words if TABLE_HEADING.fullmatch(text) and sum(word in TABLE_KEYS for word in words) >= 3 else None


def process_of(text: str, columns: list[str]) -> dict[str, str | None] | None:
    """One line of a table; the command takes the rest of the line."""
    # `ps -o lstart` prints five words under one heading.
    long_start = re.search(r"[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}", text) if "STARTED" in columns else None
    if long_start:
        text = text.replace(long_start[0], re.sub(r" +", "\xa0", long_start[0]))
    words = re.split(r"[ \t]+", text.strip(), maxsplit=len(columns) - 1)
    if len(words) < len(columns):
        return None
    found = dict(zip(columns, words, strict=True))
    number = found.get("PID", "")
    # `ps m` prints the threads below their process, with - for what they share.
    if not number.isdigit() and not (number == "-" and words.count("-") >= 3):
        return None
    fields: dict[str, str | None] = {}
    for column, value in found.items():
        if value == "-":
            continue
        key = TABLE_KEYS.get(column, re.sub(r"\W+", "_", column.lower()).strip("_"))
        if key.endswith("_bytes"):
            fields[key] = bytes_of(value, 1024)
        else:
            fields[key] = point(value).removesuffix("%") if key.endswith("_percent") else value.rstrip().replace("\xa0", " ")
    return fields


def load_of(text: str) -> tuple[str, dict[str, str | None]] | None:
    """(kind of row, fields) of a line that needs no heading: of the summary of top, of uptime, free, meminfo."""
    match = LOAD.fullmatch(text)
    if match:
        return "load_average", {
            "load_1m": point(match["one"]),
            "load_5m": point(match["five"]),
            "load_15m": point(match["fifteen"]),
            "up": match["up"],
            "users": match["users"],
        }
    match = TASKS.fullmatch(text)
    if match:
        return "task_count", {**match.groupdict(), "counted": match["counted"].lower()}
    match = CPU.fullmatch(text)
    if match:
        parts = re.findall(r"(?<!\d)(\d++[.,]\d++)\s*+(?:%\s*+)?(us|sy|ni|id|wa|hi|si|st)\b", text)
        return "cpu_usage", {"cpu": match["cpu"], **{f"{CPU_PARTS[name]}_percent": point(value) for value, name in parts}}
    match = TOP_MEMORY.fullmatch(text)
    if match:
        parts = TOP_MEMORY_PART.findall(match["rest"])
        names = {
            "total": "total",
            "used": "used",
            "free": "free",
            "buff/cache": "cached",
            "buffers": "buffers",
            "cached Mem": "cached",
            "cached": "cached",
            "avail Mem": "available",
        }
        of = "memory" if match["of"].lower() == "mem" else "swap"
        # Cached and available sizes belong to the memory, even in the line of the swap.
        own = {name: "memory_" if of == "swap" and name in ("cached", "avail Mem", "cached Mem") else "" for name in names}
        values = {f"{own[name]}{names[name]}_bytes": bytes_of(f"{number}{letter or match['unit']}", 1024) for number, letter, name in parts}
        return "memory", {"of": of, **values}
    match = BUSYBOX_MEMORY.fullmatch(text)
    if match:
        return "memory", {"of": "memory", **{f"{key}_bytes": bytes_of(value, 1024) for key, value in match.groupdict().items()}}
    match = BUSYBOX_CPU.fullmatch(text)
    if match:
        return "cpu_usage", {f"{key}_percent": point(value) for key, value in match.groupdict().items()}
    return None


def kind_of(sample: str, name: str) -> str | None:
    """By headings, and by lines that need none."""
    if is_foreign(sample, PROGRAMS):
        return None
    lines = lines_in(sample)
    if lines and any(heading_of(line) for line in lines):
        columns: list[str] = []
        known = 0
        for line in lines:
            columns = heading_of(line) or columns
            known += bool(heading_of(line) or load_of(line) or (columns and process_of(line, columns)))
        return "process_list" if known >= 0.8 * len(lines) else None
    loads = [line for line in lines if load_of(line) or FREE.fullmatch(line) or FREE_HEADING.fullmatch(line) or is_table(line)]
    if len(loads) >= 0.8 * len(lines) and any(
        load_of(line) or FREE_HEADING.fullmatch(line) or VMSTAT_HEADING.fullmatch(line) or IOSTAT_HEADING.fullmatch(line) for line in lines
    ):
        return "host_load"
    if re.search(r"^\s*\d+ K total memory$", sample, re.M) and mostly(lines, VMSTAT_SUMMARY.fullmatch):
        return "host_load"
    return "host_load" if re.search(r"^MemTotal:\s+\d+ kB$", sample, re.M) and mostly(lines, MEMINFO.fullmatch) else None


def is_table(text: str) -> bool:
    """Whether a line belongs to a table of vmstat or iostat."""
    patterns = (VMSTAT_GROUP, VMSTAT_HEADING, VMSTAT, IOSTAT_HEADING, IOSTAT, IOSTAT_CPU_HEADING, IOSTAT_CPU, SYSTEM, IOSTAT_TIME)
    return any(pattern.fullmatch(text) for pattern in patterns)


def read(kind: str, lines: Iterable[Line], about: About) -> Iterator[Row | Sample]:
    page = Page(about)
    columns: list[str] = []
    host = None
    for line in lines:
        text = line.text
        time = IOSTAT_TIME.fullmatch(text)
        if time:
            set_time(page, time)
            continue
        if page.passes(line):
            continue
        heading = heading_of(text) or (
            text.split()
            if FREE_HEADING.fullmatch(text)
            or VMSTAT_HEADING.fullmatch(text)
            or IOSTAT_HEADING.fullmatch(text)
            or IOSTAT_CPU_HEADING.fullmatch(text)
            else None
        )
        load = load_of(text)
        system = SYSTEM.fullmatch(text)
        if heading:
            columns = heading
        elif system:
            host = system["host"]
        elif load is not None:
            yield page.row(load[0], line, load[1])
        elif not VMSTAT_GROUP.fullmatch(text):
            found = table_row(text, columns, page)
            if found is None:
                yield from unread([line], "no line of top, ps, free, vmstat, iostat or uptime")
            else:
                warnings = (NO_UNIT,) if found[0] == "memory" and "total" in found[1] else ()
                yield page.row(found[0], line, found[1] | ({"host": host} if host else {}), *warnings)


def table_row(text: str, columns: list[str], page: Page) -> tuple[str, dict[str, str | None]] | None:
    """(kind of row, fields) of a line under the heading that was read last."""
    if "PID" in columns:
        fields = process_of(text, columns)
        return ("process" if fields and "process_id" in fields else "process_thread", fields) if fields else None
    match = FREE.fullmatch(text)
    if match:
        # The unit of free is only in its options: without it the numbers keep names without a unit.
        return "memory", free_fields(match, columns, page)
    if columns and columns[0].startswith("Device"):
        match = IOSTAT.fullmatch(text)
        numbers = match["numbers"].split() if match else []
        if match and len(numbers) == len(columns) - 1:
            pairs = [
                (IOSTAT_KEYS.get(column, (re.sub(r"\W+", "_", column).strip("_"), 1)), value)
                for column, value in zip(columns[1:], numbers, strict=True)
            ]
            return "device_io", {
                "device": match["device"],
                **{key: point(value) if factor == 1 else plain(float(point(value)) * factor) for (key, factor), value in pairs},
            }
    if columns and columns[0] == "avg-cpu:" and IOSTAT_CPU.fullmatch(text) and len(text.split()) == len(columns) - 1:
        return "cpu_usage", {
            f"{column.removeprefix('%')}_percent": point(value) for column, value in zip(columns[1:], text.split(), strict=True)
        }
    if columns and columns[0] == "r" and VMSTAT.fullmatch(text):
        fields = {VMSTAT_KEYS.get(column, column): value for column, value in zip(columns, text.split(), strict=False)}
        # vmstat counts memory in KiB unless -S says otherwise.
        kib = not (page.command and " -S" in page.command.text)
        return "virtual_memory", {
            key: str(int(value) * 1024) if "_bytes" in key and kib and value and value.isdigit() else value for key, value in fields.items()
        }
    match = MEMINFO.fullmatch(text) or VMSTAT_SUMMARY.fullmatch(text)
    if match is None:
        return None
    key, factor = ("value_bytes", 1024) if match["unit"] else ("value", 1)
    return "memory_item", {"name": match["name"], key: bytes_of(match["value"], factor)}


def free_fields(match: re.Match[str], columns: list[str], page: Page) -> dict[str, str | None]:
    """A line of free.  Its unit is only in its options: KiB without any, so a number alone may also stand for MiB or GiB."""
    names = {
        "total": "total",
        "used": "used",
        "free": "free",
        "shared": "shared",
        "buffers": "buffers",
        "cached": "cached",
        "buff/cache": "cached",
        "available": "available",
        "cache": "cached",
    }
    keys = [names.get(column, column) for column in columns if column in names]
    if match["of"].startswith("-/+"):
        keys = ["used", "free"]
    option = FREE_UNIT.search(page.command.text) if page.command else None
    is_plain = page.command is not None and page.command.program == "free"
    unit = 1024 ** ("bkmg".index(option["unit"][0])) if option else 1024 if is_plain else None
    fields: dict[str, str | None] = {"of": {"Mem": "memory", "Swap": "swap"}.get(match["of"], match["of"])}
    for key, value in zip(keys, match["numbers"].split(), strict=False):
        letters = value[-1].isalpha()
        fields[f"{key}_bytes" if letters or unit else key] = bytes_of(value, unit or 1) if letters or unit else value
    return fields


def plain(number: float) -> str:
    """A number without an exponent, to three places."""
    return f"{number:.3f}".rstrip("0").rstrip(".")


def set_time(page: Page, match: re.Match[str]) -> None:
    """A time that iostat -t or vmstat -t printed; the year may have two digits."""
    hour, minute, second = (int(part) for part in match["clock"].split(":"))
    hour = hour % 12 + (12 if match["half"] == "PM" else 0) if match["half"] else hour
    year = int(match["year"]) + (2000 if len(match["year"]) == 2 else 0)
    try:
        local = dt.datetime(year, int(match["month"]), int(match["day"]), hour, minute, second, tzinfo=page.about.zone)
    except ValueError:
        return
    page.at, page.known_by, page.warnings = local.astimezone(dt.UTC), "content", ()
