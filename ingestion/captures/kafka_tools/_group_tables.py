"""Tables of groups: which column is which field, and how the words of a row are assigned to the columns."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

from ingestion.reading import linear

COLUMNS = {
    "GROUP": "group_id",
    "TOPIC": "topic_name",
    "PARTITION": "partition_id",
    "LEADER-EPOCH": "leader_epoch",
    "CURRENT-OFFSET": "current_offset",
    "CURRENT OFFSET": "current_offset",
    "LOG-END-OFFSET": "log_end_offset",
    "LOG END OFFSET": "log_end_offset",
    "START-OFFSET": "start_offset",
    "NEW-OFFSET": "new_offset",
    "LAG": "lag",
    "OFFSET-LAG": "lag",
    "OWNER": "owner",
    "CONSUMER-ID": "member_id",
    "MEMBER": "member_id",
    "GROUP-INSTANCE-ID": "group_instance_id",
    "HOST": "host",
    "CLIENT-ID": "client_id",
    "#PARTITIONS": "partition_count",
    "ASSIGNMENT": "assignment",
    "ASSIGNMENTS": "assignment",
    "CURRENT-ASSIGNMENT": "assignment",
    "CURRENT-EPOCH": "member_epoch",
    "MEMBER-EPOCH": "member_epoch",
    "TARGET-EPOCH": "target_epoch",
    "TARGET-ASSIGNMENT": "target_assignment",
    "COORDINATOR (ID)": "coordinator",
    "ASSIGNMENT-STRATEGY": "assignment_strategy",
    "STATE": "state",
    "#MEMBERS": "member_count",
    "TYPE": "group_type",
    "PROTOCOL": "protocol",
    "GROUP-EPOCH": "group_epoch",
    "ASSIGNMENT-EPOCH": "target_assignment_epoch",
    "TARGET-ASSIGNMENT-EPOCH": "target_assignment_epoch",
    "TOPOLOGY-EPOCH": "topology_epoch",
    "MEMBER-PROTOCOL": "member_protocol",
    "PROCESS": "process_id",
}
CHECKER_COLUMNS = {
    "Group": "group_id",
    "Topic": "topic_name",
    "Pid": "partition_id",
    "Offset": "current_offset",
    "logSize": "log_end_offset",
    "Lag": "lag",
    "Owner": "owner",
}
ALL_COLUMNS = COLUMNS | CHECKER_COLUMNS
COLUMN = re.compile("|".join(rf"(?<!\S){re.escape(name)}(?=\s|,|$)" for name in sorted(ALL_COLUMNS, key=len, reverse=True)))
HEADER = re.compile(
    r"^\s*(?:GROUP,?\s+(?:TOPIC|CONSUMER-ID|COORDINATOR|TYPE|STATE|TARGET-ASSIGNMENT-EPOCH|MEMBER)\b|TOPIC\s+PARTITION\s|CONSUMER-ID\s+(?:HOST|GROUP-INST)"
    r"|COORDINATOR \(ID\)\s|Group\s+Topic\s+Pid\s)"
)
MOST_CHARACTERS = 1000
COORDINATOR = linear.for_lines(r"(?P<host>\S+:\d+)\s+\((?P<id>-?\d+)\)")
UNKNOWN = {"-", "unknown", "none", ""}
NUMBERS = {
    "partition_id",
    "leader_epoch",
    "current_offset",
    "log_end_offset",
    "start_offset",
    "new_offset",
    "lag",
    "partition_count",
    "member_count",
}
WITH_BLANKS = {"group_id", "member_id", "client_id", "owner", "assignment", "target_assignment", "coordinator"}
DIGITS = re.compile(r"-?\d+")
UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
# 0.10.2 to 1.0 print a member's id over 50 columns and its host over 30, without a blank after them.
GLUED = re.compile(rf"(?P<member>-{UUID})(?P<gap>[ \t]*)(?P<host>/\S+)")
# What a column holds where rows do not keep to the columns' places.
CELLS = {
    **dict.fromkeys(NUMBERS, r"(-?\d+|-|unknown)"),
    **dict.fromkeys(("group_id", "client_id", "owner"), r"(\S.*?)"),
    **dict.fromkeys(("topic_name", "group_instance_id"), r"(\S+)"),
    "member_id": rf"(\S.*?-{UUID}|\S+|-)",
    "host": r"(/\S+|-)",
    "assignment": r"(\S.*?)",
}


@lru_cache(maxsize=64)
def row_of(names: tuple[str, ...]) -> re.Pattern[str] | linear.ForLines:
    """A row of some columns, one blank or more between them."""
    return linear.for_lines(r"\s*" + r"\s+".join(CELLS[name] for name in names) + r"\s*\Z")


def unglued(text: str) -> str:
    """A row in which the id, the host and the client of a member are words of their own."""
    found = GLUED.search(text)
    if found is None:
        return text
    before, host, after = text[: found.start()], found["host"], text[found.end() :]
    if not after.strip():
        # A member's id begins with its client's: of the words before it, those with which the row ends are glued to the host.
        size = next(
            (n for n in range(min(len(before), len(host) - 1), 0, -1) if host.endswith(before[-n:]) and before[-n - 1 : -n] in (" ", "")), 0
        )
        host, after = (host[:-size], f" {host[-size:]}") if size else (host, after)
    return f"{before}{found['member']}{found['gap'] or ' '}{host}{after}"


def is_header(line: str) -> bool:
    """Whether a line holds names of columns alone."""
    return HEADER.match(line) is not None and not COLUMN.sub("", line).replace(",", "").strip()


@dataclass
class Table:
    """The table that is being read: its columns as (field, where the name begins); `group_id`: of the sentence or command above it."""

    columns: list[tuple[str, int]] = field(default_factory=list)
    has_commas: bool = False
    is_aligned: bool = False
    group_id: str | None = None

    def begins(self, header: str) -> None:
        self.columns = [(ALL_COLUMNS[match[0]], match.start()) for match in COLUMN.finditer(header)]
        self.has_commas = ", " in header
        self.is_aligned = "  " in header.strip()

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.columns]

    @property
    def kind(self) -> str:
        if "topic_name" in self.names:
            return "group_offset"
        return "group_member" if "member_id" in self.names else "group_state"

    def values(self, text: str) -> dict[str, str] | None:
        """A row's values; None if it is not a row of this table."""
        if self.has_commas:
            parts = [part.strip() for part in text.split(",")]
            return self.sound(parts) if len(parts) == len(self.columns) else None
        text = unglued(text)
        first, second = (self.by_position, self.by_words) if self.is_aligned else (self.by_words, self.by_position)
        return first(text) or second(text) or self.by_cells(text)

    def by_words(self, text: str) -> dict[str, str] | None:
        words = COORDINATOR.sub(lambda found: f"{found['host']}({found['id']})", text).split()
        # An empty group has no strategy.
        place = self.names.index("assignment_strategy") if "assignment_strategy" in self.names else None
        if place is not None and len(words) == len(self.columns) - 1 and words[place] in ("Empty", "Dead"):
            words.insert(place, "")
        return self.sound(words) if len(words) == len(self.columns) else None

    def by_position(self, text: str) -> dict[str, str] | None:
        """By the columns' positions, for values that are empty or hold blanks: the tools give each column the width of its longest value."""
        starts = [start for _, start in self.columns]
        if "\t" in text or any(0 < start < len(text) and text[start - 1] != " " for start in starts):
            return None
        cells = [text[start:end].rstrip() for start, end in zip(starts, [*starts[1:], None], strict=True)]
        # A cell begins where its column does; in a row whose columns moved, a blank may stand there.
        return None if any(cell[:1].isspace() for cell in cells) else self.sound(cells)

    def by_cells(self, text: str) -> dict[str, str] | None:
        """By what the columns hold, for values with blanks in rows that do not keep to the columns' places."""
        if not set(self.names) <= CELLS.keys() or not any(name in NUMBERS for name in self.names):
            return None
        found = row_of(tuple(self.names)).match(text[:MOST_CHARACTERS])
        return self.sound(list(found.groups())) if found else None

    def sound(self, values: list[str]) -> dict[str, str] | None:
        """The known values, if each fits its column."""
        row = dict(zip(self.names, values, strict=True))
        for name, value in row.items():
            if name in NUMBERS and not (value in UNKNOWN or DIGITS.fullmatch(value)):
                return None
            if (name not in WITH_BLANKS and " " in value) or (name == "host" and value not in UNKNOWN and "/" not in value):
                return None
        if row.get("partition_id", "0") == "" or not any(value not in UNKNOWN for value in row.values()):
            return None
        coordinator = COORDINATOR.match(row.get("coordinator", "").replace("(", " ("))
        if coordinator:
            row |= {"coordinator": coordinator["host"], "coordinator_id": coordinator["id"]}
        return {name: value for name, value in row.items() if value not in UNKNOWN}
