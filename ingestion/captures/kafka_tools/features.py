"""`kafka-features describe`, `kafka-storage format` and `info`: the versions a cluster's metadata speak.

Rows (beside those of `_tools`):

- `feature`: feature_name, minimum_version, maximum_version, finalized_version, metadata_epoch (offset of the metadata; left out where none);
- `feature_change`: feature_name, change (upgraded, downgraded, disabled), version, message;
- `formatted_dir`: log_dir, metadata_version, format_kind (metadata, dynamic metadata voter, static metadata);
- `log_dir`: log_dir (of `info`);
- `meta_properties`: cluster_id, node_id, directory_id, version (of `info`);
- `problem`: message (of `info`).

Forms: FeatureCommand of 2.7 and 3.3 to 4.x, StorageTool of 2.8 to 4.x.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ingestion.captures import About, Line, Row, Sample
from ingestion.captures._tools import Stamp, any_of, failed_tool, mostly, number, significant, snake, whole
from ingestion.reading import linear

FEATURES, STORAGE = "kafka_features", "kafka_storage"
KINDS = {
    FEATURES: "Feature versions that a cluster supports and has finalized, as kafka-features prints them.",
    STORAGE: "What kafka-storage formatted or found in the log directories.",
}
OF_NODE = frozenset({STORAGE})
LOG_BESIDE = True

FEATURE = linear.for_lines(
    r"^Feature: (?P<feature_name>\S+)\s+SupportedMinVersion: ?(?P<minimum_version>\S+(?: \d+)?)\s+SupportedMaxVersion: ?(?P<maximum_version>\S+(?: \d+)?)"
    r"(?:\s+FinalizedMinVersionLevel: ?\S+)?\s+Finalized(?:Max)?VersionLevel: ?(?P<finalized_version>\S+(?: \d+)?)\s+Epoch: ?(?P<metadata_epoch>\S+)\s*$"
)
CHANGE = re.compile(
    r"^(?P<feature_name>[a-z][\w.]*\.version) (?:was|can be) (?P<change>upgraded|downgraded|disabled)(?: to (?P<version>\S+?))?\.$"
    r"|^(?:Could|Can) not (?:upgrade|downgrade|disable) [a-z][\w.]*\.version\b"
)
FORMATTED = re.compile(
    r"^Formatting (?:(?P<format_kind>[a-z ]*?) ?directory )?(?P<log_dir>\S+)(?: with (?P<feature>metadata\.version) (?P<metadata_version>\S+?))?\.?$"
)
SECTION = re.compile(r"^Found (?P<section>log director(?:y|ies)|metadata|problems?):?\s*(?P<rest>\S.*)?$")
STORED = re.compile(
    r"^(?:All of the log directories are already formatted|Log directory \S+ is already formatted|Bootstrap metadata: |No metadata found|metadata\.version=)"
)
PROPERTY = re.compile(r"(?P<name>cluster\.?[iI]d|node\.?[iI]d|broker\.?[iI]d|directory\.?[iI]d|version)=(?P<value>[^,)}\s]+)")


def kind_of(sample: str, name: str = "") -> str | None:
    lines = significant(sample)
    if mostly(lines, any_of(FEATURE, CHANGE)) or failed_tool(sample) == "kafka-features":
        return FEATURES
    if (
        lines
        and all(FORMATTED.match(line) or STORED.match(line) for line in lines)
        and any("metadata" in line or "log director" in line for line in lines)
    ):
        return STORAGE
    if (
        lines
        and (SECTION.match(lines[0]) or lines[0].startswith("No directories specified"))
        and any(SECTION.match(line) for line in lines)
    ):
        return STORAGE
    return STORAGE if failed_tool(sample) == "kafka-storage" else None


def read(kind: str, lines: Iterable[Line], about: About) -> Iterator[Row | Sample]:
    stamp, section = Stamp(about, "kafka-features" if kind == FEATURES else "kafka-storage"), None
    for line in whole(lines):
        head = SECTION.match(line.text) if kind == STORAGE else None
        if head:
            section = head["section"]
            if head["rest"]:
                yield info_row(section, line, head["rest"], stamp)
            continue
        yield stamp.common(line) or (feature_row(line, stamp) if kind == FEATURES else storage_row(section, line, stamp))


def feature_row(line: Line, stamp: Stamp) -> Row:
    feature = FEATURE.match(line.text)
    if feature:
        return stamp.row("feature", line, {name: None if value == "-" else value for name, value in feature.groupdict().items()})
    change = CHANGE.match(line.text)
    if change:
        return stamp.row("feature_change", line, change.groupdict() | {"message": line.text.strip()})
    return stamp.row("remark", line, {"message": line.text.strip()}, warnings=("no line of a feature",))


def storage_row(section: str | None, line: Line, stamp: Stamp) -> Row:
    formatted = FORMATTED.match(line.text)
    if formatted:
        return stamp.row("formatted_dir", line, {name: formatted[name] or None for name in ("log_dir", "metadata_version", "format_kind")})
    if section and line.text.startswith(" "):
        return info_row(section, line, line.text.strip(), stamp)
    return stamp.row(
        "remark", line, {"message": line.text.strip()}, warnings=() if STORED.match(line.text) else ("no line of kafka-storage",)
    )


def info_row(section: str, line: Line, text: str, stamp: Stamp) -> Row:
    """One entry of `info`."""
    if section.startswith("log"):
        return stamp.row("log_dir", line, {"log_dir": text})
    if section.startswith("problem"):
        return stamp.row("problem", line, {"message": text})
    fields = {snake(found["name"]).replace(".", "_"): found["value"] for found in PROPERTY.finditer(text)}
    fields["node_id"] = fields.pop("broker_id", None) or fields.get("node_id")
    return stamp.row("meta_properties", line, fields, number(fields["node_id"]))
