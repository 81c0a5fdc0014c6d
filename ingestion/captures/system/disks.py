"""Disks: `df`, `du` of log directories, `ls -l` and `find -ls` of partition directories.

Rows:
- `file_system`: file_system, file_system_type, size_bytes, used_bytes, available_bytes, used_percent, mounted_on; of `df -i`: inodes,
  inodes_used, inodes_free, inodes_used_percent;
- `directory_size`: path, size_bytes, topic_name, partition_id, directory_state (delete, future, stray), size_known_by (concluded, where
  the listing's numbers alone say whether they count bytes or blocks); `size` instead of size_bytes where not even they do;
- `directory_entry`: path, entry_type (file, directory, link …), permissions, owner, group, size_bytes, modified_at (UTC, ISO 8601),
  base_offset, segment_file (log, index, timeindex …), topic_name, partition_id, link_target.

Sizes that were printed for people (1.5G) are bytes with the warning that they are rounded.

Sources: GNU coreutils, BusyBox, macOS manual pages of df, du, ls, find; names of segments: `LogFileUtils` of Kafka.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ingestion.captures import About, Line, Row, Sample, unread
from ingestion.captures._terminal import Page, bytes_of, is_foreign, lines_in, mostly, programs_in, zone_of
from ingestion.reading import linear
from ingestion.reading.clocks import MONTHS, local_time

PROGRAMS = ("df", "du", "ls", "find")
KINDS = {
    "disk_usage": "Space or inodes of file systems, as df prints them.",
    "directory_sizes": "Sizes of directories, as du prints them.",
    "directory_listing": "Files of a directory with sizes and times, as ls -l or find -ls prints them.",
}
OF_NODE = frozenset(KINDS)
ROUNDED = "printed for people: rounded"
NUMBER = r"(?:\d+(?:[.,]\d+)?[KMGTPEkmgtpe]?i?B?|-)"
FS_TYPE = r"(?:ext\d|xfs|btrfs|zfs|jfs|f2fs|reiserfs|(?:dev)?tmpfs|overlay|aufs|nfs\d?|cifs|ceph|vfat|gfs2|glusterfs|fuse[\w.\-]*|squashfs|efivarfs|iso9660|autofs|apfs|hfs)"
DF = linear.for_lines(
    rf"(?P<file_system>\S(?:.*?\S)?)\s+(?:(?P<file_system_type>{FS_TYPE})\s+)?(?P<size>{NUMBER})\s+(?P<used>{NUMBER})\s+(?P<available>-?{NUMBER})\s+(?P<percent>\d+%|-)"
    r"(?:\s+(?P<iused>\d+(?:\.\d+)?[kMGT]?)\s+(?P<ifree>\d+(?:\.\d+)?[kMGT]?)\s+(?P<ipercent>\d+%|-))?\s+(?P<mounted_on>/(?:\S(?:.*\S)?)?|[A-Za-z]:\\?\S*)\s*"
)
# The device was alone on the line before.
DF_WRAPPED = re.compile(rf"\s+(?P<size>{NUMBER})\s+{NUMBER}\s+-?{NUMBER}\s+(?:\d+%|-)\s+/\S*\s*")
DF_DEVICE = re.compile(r"(?:/|\w[\w.\-]*:/)\S+\s*")
DF_UNIT = re.compile(r"(?P<number>\d+)(?P<letter>[KMG]?)i?B?-?[^\W\d]*", re.I)
DU = linear.for_lines(r"\s*(?P<size>\d+(?:[.,]\d+)?[KMGTPEkmgtp]?)(?P<gap>\t| {1,8})(?P<path>\S.*?)\s*")
PARTITION = re.compile(
    r"(?:\A|/)(?P<topic_name>[\w.\-]{1,249})-(?P<partition_id>\d{1,9})(?:\.[0-9a-f]{32})?(?:-(?P<directory_state>delete|future|stray))?/?\Z"
)
SEGMENT = re.compile(
    r"(?P<base_offset>\d{20})(?:-(?P<end_offset>\d{10}))?\.(?P<segment_file>log|index|timeindex|txnindex|snapshot|checkpoint)(?:\.(?:deleted|cleaned|swap|[0-9a-f]+\.deleted))?\Z"
)
# ls prints the months in the language of the host: German, French, Spanish, Portuguese and Italian as well as English.
MONTH_NUMBERS = MONTHS | {
    "mär": 3, "mrz": 3, "mai": 5, "okt": 10, "dez": 12, "fév": 2, "avr": 4, "juin": 6, "juil": 7, "aoû": 8, "déc": 12, "ene": 1, "abr": 4,
    "ago": 8, "dic": 12, "fev": 2, "set": 9, "out": 10, "gen": 1, "mag": 5, "giu": 6, "lug": 7, "ott": 10,
}  # fmt: skip
MONTH = "|".join(MONTH_NUMBERS)
ENTRY = linear.for_lines(
    r"(?:\s*\d+\s+)?(?:\s*[\d.,]+[KMGT]?\s+)?(?P<permissions>[bcdlps-][rwxsStT-]{9})[.+@]?\s+\d+\s+(?P<owner>\S+)\s+(?P<group>\S+)\s+(?P<size>\d+(?:[.,]\d+)?[KMGTPEkmgtp]?|\d+,\s*\d+)\s+"
    rf"(?P<date>\d{{4}}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?: [+-]\d{{4}})?)?|(?:(?:{MONTH})\w{{0,2}}\.?\s+\d{{1,2}}\.?|\d{{1,2}}\.?\s+(?:{MONTH})\w{{0,2}}\.?|\d{{1,2}}月\s+\d{{1,2}}日?)\s+(?:\d\d?:\d\d(?::\d\d \d{{4}})?|\d{{4}}))"
    r"\s(?P<path>\S.*?)\s*",
    re.I,
)
UNIT_UNKNOWN = "nothing says whether bytes (du -b) or blocks of 1024"
# The least bytes of a live partition: its directory alone has a block.
LEAST_PARTITION_BYTES = 4096
# log.index.size.max.bytes: the newest segment of a log in use has its indexes at full size.
LIVE_PARTITION_BYTES = 10 << 20
# log.segment.bytes is an int; a file may exceed it by one batch.
MOST_SEGMENT_BYTES = 1 << 32
# More than one partition can hold, and more than all disks of a node.
MOST_PARTITION_BYTES = 16 << 40
MOST_NODE_BYTES = 256 << 40
# The offsets topic is compacted: one partition may have grown this large, but not all of them.
MOST_COMPACTED_BYTES = 64 << 30
TYPES = {"-": "file", "d": "directory", "l": "link", "b": "device", "c": "device", "p": "pipe", "s": "socket"}
FOLDER = linear.for_lines(r"(?P<path>(?:/|\./?|\w).*):")
TOTAL = re.compile(r"(?:total|insgesamt|总用量|总计|合計|итого|celkem|razem|totale) ?\d\S*\s*", re.I)
DESCRIPTOR = linear.for_lines(r"l[rwx-]{9}.*\s\d+ -> .*")


def is_df_heading(text: str) -> bool:
    """A heading of df, in any language: five words or more, one of them with a percent sign, or `Capacity`; no path."""
    words = text.split()
    return (
        5 <= len(words) <= 12
        and any(not word[0].isdigit() and (word.endswith("%") or word.startswith("%") or word == "Capacity") for word in words)
        and "/" not in text
    )


def df_unit(heading: str) -> tuple[int | None, bool]:
    """(bytes of one, whether it counts inodes) by the heading: `1K-blocks`, `1024-blocks`, `1B-blocks`, `512-blocks`, `Inodes`."""
    words = heading.split()
    if any(re.match(r"inod|I(?:Used|nodos)", word, re.I) for word in words[1:3]):
        return None, True
    for word in words[1:4]:
        match = DF_UNIT.fullmatch(word)
        if match:
            return int(bytes_of(match["number"] + match["letter"]) or 1), False
    return None, False


def kind_of(sample: str, name: str) -> str | None:
    """By the shape of the lines.  Descriptors of a process are not the listing of a directory."""
    if is_foreign(sample, PROGRAMS):
        return None
    lines = [line for line in lines_in(sample) if not TOTAL.fullmatch(line)]
    headings = [line for line in lines if is_df_heading(line)]
    listed = [line for line in lines if line not in headings]
    df = [line for line in listed if DF.fullmatch(line) or DF_WRAPPED.fullmatch(line) or DF_DEVICE.fullmatch(line)]
    if df and len(df) < len(listed) and all(DF.fullmatch(line) or DU.fullmatch(line) for line in listed):
        return "disk_usage"
    if mostly(listed, lambda line: line in df) and (headings or any(DF.fullmatch(line) and "%" in line for line in listed)):
        return "disk_usage"
    files = [line for line in lines if not (FOLDER.fullmatch(line) and not ENTRY.fullmatch(line))]
    if mostly(files, lambda line: ENTRY.fullmatch(line) and not DESCRIPTOR.fullmatch(line)):
        return "directory_listing"
    # `wc -l` prints lines of files as du does their sizes.
    if (
        "wc" not in programs_in(sample)
        and mostly(lines, is_du)
        and (any("/" in line for line in lines) or mostly(lines, lambda line: partition_of(line.split()[-1])))
    ):
        return "directory_sizes"
    return None


def is_du(text: str) -> bool:
    match = DU.fullmatch(text)
    # Nothing below /proc has a size.
    return bool(
        match
        and not match["path"].startswith("/proc/")
        and (
            match["path"].startswith(("/", "./", "../"))
            or match["path"] in (".", "total")
            or (match["gap"] == "\t" and " " not in match["path"])
            or partition_of(match["path"])
        )
    )


def partition_of(path: str) -> dict[str, str | None]:
    match = PARTITION.search(path)
    return match.groupdict() if match else {}


def du_unit(command: str | None, name: str) -> tuple[int | None, bool]:
    """(bytes of one, whether an option says so) by command or name; a du without such an option counts blocks of 1024 unless its numbers say otherwise."""
    options = "".join(re.findall(r"\s-([a-zA-Z]+)", command)) if command and re.search(r"\bdu\b", command) else None
    if options is None:
        named = re.search(r"\bdu[-_ ]?-?([a-z]{0,4})(?![a-z])", name.rsplit("/", 1)[-1])
        options = named[1] if named and named[1] else None
    if options is None:
        return None, False
    block = re.search(r"(?:\s-[a-zA-Z]*B\s*|--block-size[= ])(\d*[KMGTkmgt]?)", command or "")
    if block:
        size = block[1] if block[1][:1].isdigit() else f"1{block[1]}"
        return int(bytes_of(size) or 1), True
    is_given = bool(re.search(r"[bkm]", options) or (command and "--bytes" in command))
    return 1 if "b" in options or (command and "--bytes" in command) else 1024**2 if "m" in options else 1024, is_given


@dataclass
class Listing:
    """Sizes of a du that names no unit: they wait for the end of their listing, because the numbers together may reveal it."""

    default: int | None
    rows: list[Row] = field(default_factory=list)
    concluded: tuple[int, str] | None = None

    def end(self, is_last: bool = True) -> Iterator[Row]:
        """The sizes with the unit that was concluded; without one they wait for the next run of the command."""
        # If the command is known, odd numbers mean bytes only with partitions as large as preallocated indexes; else it is a rare file system.
        least = LIVE_PARTITION_BYTES if self.default else LEAST_PARTITION_BYTES
        found = too_much(self.rows) or by_multiples(self.rows, least)
        self.concluded = (None if self.default and found and found[0] == 1024 else found) or self.concluded
        if self.concluded or self.default or is_last:
            yield from (self.with_unit(row) for row in self.rows)
            self.rows = []

    def with_unit(self, row: Row) -> Row:
        unit, why = self.concluded or (self.default, None)
        if unit is None or "size" not in row.fields:
            return row
        fields = {"size_bytes" if key == "size" else key: value for key, value in row.fields.items()}
        fields["size_bytes"] = bytes_of(row.fields["size"], unit) or "0"
        if why is None:
            return replace(row, fields=fields)
        warning = f"concluded: {'bytes' if unit == 1 else 'blocks of 1024'}, for {why}"
        return replace(
            row, fields={**fields, "size_known_by": "concluded"}, warnings=(*(w for w in row.warnings if w != UNIT_UNKNOWN), warning)
        )


def sizes_of(rows: Sequence[Row]) -> list[tuple[int, dict[str, str]]]:
    return [(int(row.fields["size"]), row.fields) for row in rows if row.fields.get("size", "").isdigit()]


def too_much(rows: Sequence[Row]) -> tuple[int, str] | None:
    """Bytes, and why, where blocks of 1024 would be more than there can be."""
    for size, fields in sizes_of(rows):
        what, most = (
            ("a segment", MOST_SEGMENT_BYTES)
            if SEGMENT.search(fields["path"])
            else ("a partition", MOST_PARTITION_BYTES)
            if "partition_id" in fields
            else ("a node", MOST_NODE_BYTES)
        )
        if size * 1024 > most:
            return 1, f"{size} blocks of 1024 are more than {what} can hold"
    offsets = [size for size, fields in sizes_of(rows) if fields.get("topic_name") == "__consumer_offsets"]
    if len(offsets) >= 3 and min(offsets) * 1024 > MOST_COMPACTED_BYTES:
        return 1, f"in blocks of 1024 no partition of __consumer_offsets would be below {min(offsets) >> 20} GiB"
    return None


def by_multiples(rows: Sequence[Row], least_bytes: int = LEAST_PARTITION_BYTES) -> tuple[int, str] | None:
    """(bytes of one, why): file systems of Linux allocate by 4 KiB; those that do not (ZFS, compression) show numbers too small for bytes."""
    sizes = {size for size, _ in sizes_of(rows)}
    least = min({size for size, fields in sizes_of(rows) if "partition_id" in fields} or sizes, default=0)
    odd = next((size for size, _ in sizes_of(rows) if size % 4), None)
    if odd is not None:
        return (1, f"{odd} is not a multiple of 4, and blocks are allocated by 4 KiB") if least >= least_bytes else None
    if 0 < least < LEAST_PARTITION_BYTES:
        return 1024, f"{least} is too small for bytes, and all numbers are multiples of 4, as allocated blocks are"
    if len(sizes) >= 6 and any(size % 8 for size in sizes):
        return 1024, "all numbers are multiples of 4, as allocated blocks are"
    return None


def month_of(name: str) -> int:
    word = name.lower().rstrip(".")
    return MONTH_NUMBERS[word[:4]] if word[:4] in MONTH_NUMBERS else MONTH_NUMBERS[word[:3]]


def modified_at(text: str, at: dt.datetime | None, zone: dt.tzinfo) -> str | None:
    """UTC of the time that ls printed.  Without a year it lies within the year before the capture; with neither it is not known."""
    match = re.fullmatch(r"(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?))?(?: ([+-]\d{4}))?", text)
    try:
        if match:
            local = dt.datetime.fromisoformat(f"{match[1]} {(match[2] or '00:00').replace(',', '.')[:15]}")
            return local.replace(tzinfo=zone_of(match[3], zone), microsecond=0).astimezone(dt.UTC).isoformat()
        words = text.replace(".", " ").replace("月", " ").replace("日", " ").split()
        if words[0].isdigit() and words[1].isdigit():
            month, day = int(words[0]), int(words[1])
        else:
            names = [word for word in words[:2] if not word.isdigit()]
            month, day = month_of(names[0]), int(next(word for word in words[:2] if word.isdigit()))
        clock = next((word for word in words[2:] if ":" in word), "0:00")
        year = next((int(word) for word in words[2:] if ":" not in word), None)
        if year is None:
            if at is None:
                return None
            local_at = at.astimezone(zone)
            year = (
                local_at.year
                if (month, day) <= ((local_at + dt.timedelta(days=1)).month, (local_at + dt.timedelta(days=1)).day)
                else local_at.year - 1
            )
        return local_time(year, month, day, clock, zone).astimezone(dt.UTC).isoformat()
    except (ValueError, KeyError, StopIteration):
        return None


def read(kind: str, lines: Iterable[Line], about: About) -> Iterator[Row | Sample]:
    page = Page(about)
    unit: int | None = None
    inodes, folder, device = False, "", None
    listing: Listing | None = None
    for line in lines:
        text = line.text
        entry = ENTRY.fullmatch(text) if kind == "directory_listing" else None
        if entry:
            yield entry_row(page, line, entry, folder)
            continue
        command = page.command
        if page.passes(line):
            # A command in the middle of the outputs of a script: what follows may have another unit.
            unit, inodes = (None, False) if text.strip() else (unit, inodes)
            if listing and text.strip():
                yield from listing.end(is_last=page.command is not command)
                listing = listing if page.command is command else None
            continue
        row = (
            DF.fullmatch(f"{device.text.strip()} {text.strip()}")
            if device and DF_WRAPPED.fullmatch(text)
            else DF.fullmatch(text)
            if kind == "disk_usage"
            else None
        )
        if kind == "disk_usage" and is_df_heading(text):
            unit, inodes = df_unit(text)
        elif row:
            yield from listing.end() if listing else ()
            yield file_system(
                page,
                device if device and DF_WRAPPED.fullmatch(text) else line,
                row,
                unit,
                inodes,
                f"{device.text}\n{text}" if device else text,
            )
            device = None
        elif kind == "disk_usage" and DF_DEVICE.fullmatch(text):
            yield from unread([device], "a file system without its numbers") if device else ()
            device = line
        elif kind != "directory_listing" and DU.fullmatch(text):
            size = directory_size(page, line)
            listing = listing or (
                Listing(du_unit(page.command.text if page.command else None, about.name)[0]) if "size" in size.fields else None
            )
            if listing:
                listing.rows.append(size)
            else:
                yield size
        elif kind == "directory_listing" and FOLDER.fullmatch(text):
            folder = FOLDER.fullmatch(text)["path"]  # type: ignore[index]
        elif not TOTAL.fullmatch(text):
            yield from unread([line], "no line of df, du or ls")
    yield from listing.end() if listing else ()
    yield from unread([device], "a file system without its numbers") if device else ()


def file_system(page: Page, line: Line, match: re.Match[str], unit: int | None, inodes: bool, raw_text: str) -> Row:
    """One line of df.  Where no heading was seen the unit is not known unless letters say it."""
    names = {"file_system": match["file_system"], "file_system_type": match["file_system_type"], "mounted_on": match["mounted_on"]}
    numbers = {key: None if match[key] == "-" else match[key] for key in ("size", "used", "available")}
    percent = match["percent"].removesuffix("%") if match["percent"] != "-" else None
    if inodes:
        fields = {
            "inodes": numbers["size"],
            "inodes_used": numbers["used"],
            "inodes_free": numbers["available"],
            "inodes_used_percent": percent,
        }
        return page.row("file_system", line, names | fields, raw_text=raw_text)
    letters = any(value and value[-1].isalpha() for value in numbers.values())
    fields = {f"{key}_bytes" if unit or letters else key: bytes_of(value, unit or 1) if value else None for key, value in numbers.items()}
    warnings = (ROUNDED,) if letters else () if unit else ("no heading: the unit of the blocks is not known",)
    more = {
        "inodes_used": match["iused"],
        "inodes_free": match["ifree"],
        "inodes_used_percent": (match["ipercent"] or "").rstrip("%-") or None,
    }
    return page.row("file_system", line, names | fields | {"used_percent": percent} | more, *warnings, raw_text=raw_text)


def directory_size(page: Page, line: Line) -> Row:
    match = DU.fullmatch(line.text)
    assert match is not None
    where = {"path": match["path"], **partition_of(match["path"])}
    if match["size"][-1].isalpha():
        return page.row("directory_size", line, {**where, "size_bytes": bytes_of(match["size"])}, ROUNDED)
    unit, is_given = du_unit(page.command.text if page.command else None, page.about.name)
    if unit and is_given:
        return page.row("directory_size", line, {**where, "size_bytes": bytes_of(match["size"], unit)})
    return page.row("directory_size", line, {**where, "size": match["size"]}, *(() if unit else (UNIT_UNKNOWN,)))


def entry_row(page: Page, line: Line, match: re.Match[str], folder: str) -> Row:
    name, _, target = match["path"].partition(" -> ") if match["permissions"][0] == "l" else (match["path"], "", "")
    if not folder and page.command is not None:
        given = [word for word in page.command.text.split()[1:] if word.startswith(("/", "."))]
        folder = given[0].rstrip("/") if len(given) == 1 and not name.startswith(given[0]) else ""
    path = name if not folder or name.startswith("/") else f"{folder.rstrip('/')}/{name}"
    segment = SEGMENT.search(name)
    parent = path.rsplit("/", 1)[0] if "/" in path else ""
    partition = partition_of(path) if match["permissions"][0] == "d" else partition_of(parent)
    size = bytes_of(match["size"]) if "," not in match["size"] or match["size"][-1].isalpha() else None
    fields = {
        "path": path,
        "entry_type": TYPES[match["permissions"][0]],
        "permissions": match["permissions"],
        "owner": match["owner"],
        "group": match["group"],
        "size_bytes": size,
        "modified_at": modified_at(re.sub(r"\s+", " ", match["date"]), page.at, page.about.zone),
        "link_target": target or None,
        "base_offset": str(int(segment["base_offset"])) if segment else None,
        "segment_file": segment["segment_file"] if segment else None,
        **partition,
    }
    return page.row(
        "directory_entry",
        line,
        fields,
        *((ROUNDED,) if match["size"][-1].isalpha() else ()),
        *(() if ":" in match["date"] else ("of its last change only the day is known",)),
    )
