"""Work on message knowledge: `catalogue build`, `match`, `suggest` (and `check`, in `check.py`).  No Spark here."""

from __future__ import annotations

import csv
import datetime as dt
import io
import itertools
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa

from chronicle.catalogue.check import reach
from chronicle.project import PROJECT
from ingestion.bronze.capture_rows import Text, read_capture, read_guarded
from ingestion.bronze.log_records import read_tasks
from ingestion.bronze.logged import records_of
from ingestion.bronze.tasks import Counted, task_of
from ingestion.captures import Logged, Row
from ingestion.reading.files import open_bytes
from ingestion.recognition.forms import Form, release_order, short_name
from ingestion.recognition.recognise import Catalogue
from ingestion.records.derive import derive
from ingestion.records.framing import by_pattern
from ingestion.records.patterns import compile_pattern
from ingestion.sources.discover import find_files
from ingestion.sources.identify import identify
from ingestion.sources.inspect import DOCUMENT, SAMPLE, inspect
from ingestion.sources.resolve import place
from ingestion.sources.stages import TO_READ, UNKNOWN, Found, Identified

# Lines that must show a layout before it is proposed: a person looks at it before it counts.
LEAST_TO_PROPOSE = 1
SEED = PROJECT / "dbt_project" / "seeds" / "event_types.csv"
PAGES = PROJECT / "docs" / "messages"
MACRO = PROJECT / "macros" / "event_roles.sql"
VARYING = re.compile(r"0x[0-9a-fA-F]+|[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}|(?<![A-Za-z])-?\d+(?:[.,]\d+)*")


def by_event(catalogue: Catalogue) -> dict[str, list[Form]]:
    """The forms of each event, in the order of the files."""
    events: dict[str, list[Form]] = {}
    for form in catalogue.forms:
        events.setdefault(form.event, []).append(form)
    return events


def seed_text(catalogue: Catalogue) -> str:
    """`event_types.csv`: one row per event type; area is the file that holds it."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["event_type", "area", "severity", "is_noise", "means", "forms"])
    for event, forms in sorted(by_event(catalogue).items()):
        first = forms[0]
        writer.writerow([event, Path(first.path).stem, first.severity, str(first.noise).lower(), first.means, len(forms)])
    return out.getvalue()


def events_of_roles(catalogue: Catalogue) -> dict[str, list[str]]:
    """The event types that have each role, both in alphabetical order."""
    roles: dict[str, list[str]] = {role: [] for role in sorted(catalogue.vocabulary.roles)}
    for event, forms in sorted(by_event(catalogue).items()):
        for role in forms[0].roles:
            roles[role].append(event)
    return roles


def macro_text(catalogue: Catalogue) -> str:
    """`macros/event_roles.sql`: the event types of each role, for the macro `has_role`."""
    rows = "".join(f"    '{role}': {events!r},\n" for role, events in events_of_roles(catalogue).items())
    return (
        "{#- Made by `chronicle catalogue build` from the roles in ingestion/catalogue/messages/. -#}\n"
        "{% macro event_roles() -%}\n{{ return({\n" + rows + "}) }}\n{%- endmacro %}\n"
    )


# Search finds these pages last: they repeat the words of every subject.
OUT_OF_THE_WAY = "---\nsearch:\n  boost: 0.0001\n---\n"


def areas(catalogue: Catalogue) -> dict[str, dict[str, list[Form]]]:
    """Area, that is the file of the catalogue, → its events with their forms; both in alphabetical order."""
    found: dict[str, dict[str, list[Form]]] = {}
    for event, forms in sorted(by_event(catalogue).items(), key=lambda pair: (Path(pair[1][0].path).stem, pair[0])):
        found.setdefault(Path(forms[0].path).stem, {})[event] = forms
    return found


def spaced(area: str) -> str:
    """The name of an area as words."""
    return area.replace("_", " ")


def event_lines(event: str, forms: list[Form]) -> Iterator[str]:
    """One event with its meaning, roles, fields and wordings."""
    mark = "noise" if forms[0].noise else forms[0].severity
    yield from (f"## {event}" + (f" *({mark})*" if mark != "normal" else ""), "", forms[0].means, "")
    if forms[0].roles:
        yield from ("Roles: " + ", ".join(f"`{role}`" for role in forms[0].roles), "")
    if fields := sorted({name for form in forms for name in form.names}):
        yield from ("Fields: " + ", ".join(f"`{name}`" for name in fields), "")
    for form in sorted(forms, key=lambda form: release_order(form.since or "0")):
        text = form.example.replace("\n", "⏎").replace("`", "'")
        yield f"- {form.since or 'always'} – {form.until or ''} `{text}`"
    yield ""


def area_text(area: str, events: dict[str, list[Form]]) -> str:
    """`docs/messages/<area>.md`: every event of an area."""
    lines = [f"# Messages: {spaced(area)}", "", "[All areas](index.md)", ""]
    lines += [line for event, forms in events.items() for line in event_lines(event, forms)]
    return OUT_OF_THE_WAY + "\n".join(lines).rstrip() + "\n"


def index_text(catalogue: Catalogue) -> str:
    """`docs/messages/index.md`: the areas with their pages."""
    lines = [
        "# Messages",
        "",
        "Made by `chronicle catalogue build` from `ingestion/catalogue/messages/`: one page per area, one entry per event type, one line per wording",
        "with the releases that print it. An event's severity follows its name, unless it is normal: `notice`, `degraded` or `failed`; `noise` is irrelevant",
        "to the facts. [Roles](roles.md) say which events count in which facts.",
        "",
        "| area | events | wordings |",
        "|---|---:|---:|",
    ]
    for area, events in areas(catalogue).items():
        lines.append(f"| [{spaced(area)}]({area}.md) | {len(events)} | {sum(map(len, events.values()))} |")
    return OUT_OF_THE_WAY + "\n".join(lines) + "\n"


def roles_text(catalogue: Catalogue) -> str:
    """`docs/messages/roles.md`: every role with its events."""
    pages = {event: area for area, events in areas(catalogue).items() for event in events}
    lines = ["# Roles of messages", "", "What an event can mean for the facts; models ask for events by role. [All areas](index.md)", ""]
    lines += ["| role | meaning | fields that its lines need | events |", "|---|---|---|---|"]
    for role, events in events_of_roles(catalogue).items():
        known = catalogue.vocabulary.roles[role]
        needs = ", ".join(" or ".join(f"`{name}`" for name in need) for need in known.needs)
        links = ", ".join(f"[`{event}`]({pages[event]}.md)" for event in events)
        lines.append(f"| `{role}` | {known.means} | {needs} | {links} |")
    return OUT_OF_THE_WAY + "\n".join(lines) + "\n"


def page_texts(catalogue: Catalogue) -> dict[Path, str]:
    """The pages about messages, with their texts."""
    pages = {PAGES / f"{area}.md": area_text(area, events) for area, events in areas(catalogue).items()}
    return pages | {PAGES / "index.md": index_text(catalogue), PAGES / "roles.md": roles_text(catalogue)}


def made_files(catalogue: Catalogue) -> dict[Path, str]:
    """The files that `catalogue build` writes, with their texts."""
    return {SEED: seed_text(catalogue), MACRO: macro_text(catalogue), **page_texts(catalogue)}


def source_at(path: str, cluster: str = "match") -> Identified:
    """One file, inspected as by ingestion."""
    (source,) = identify(place([inspect(Found.at(path, cluster))]))
    return source


def read_records(source: Identified) -> Iterator[pa.RecordBatch]:
    """All records of a log, or of those in a document, recognised as by ingestion.  Raises ValueError if the file is neither."""
    task = task_of(source, False, 0, dt.datetime.now(dt.UTC))
    if source.capture == DOCUMENT:
        return (batch for table, batch in read_capture(task, Counted()) if table == "log_records")
    if source.envelope is None:
        raise ValueError(f"{source.path}: {source.reason or 'nothing to read'}; give a log of Kafka or ZooKeeper, or a capture")
    return read_tasks([task])


def captured_lines(source: Identified, catalogue: Catalogue) -> Iterator[str]:
    """What each item of a capture becomes: offset, kind of row or metric, fields or value with labels, and warnings; a record of a log as in a log."""
    yield f"{source.capture}:"
    task = task_of(source, False, 0, dt.datetime.now(dt.UTC))
    text = Text(task)
    for found in read_guarded(text):
        if isinstance(found, Logged):
            yield from record_lines(records_of(found, task, Counted(), {}), catalogue)
            continue
        if isinstance(found, Row):
            name = found.kind
            values: dict[str, object] = dict(found.fields) or {"raw_text": found.raw_text[:160]}
        else:
            name = f"sample {found.metric}"
            values = {"value": found.value, "unit": found.unit, **found.labels}
        shown = ", ".join(f"{key}={value!r}" for key, value in itertools.islice(values.items(), 12))
        yield f"{found.offset:>10} {name}: {shown}" + (f" ({'; '.join(found.warnings)})" if found.warnings else "")
    if text.failed:
        yield f"the reader failed: {text.failed}"


def nearest(catalogue: Catalogue, logger: str | None, body: str) -> tuple[Form, int] | None:
    """The form of this logger that matches the body furthest, and how far; None if none begins like it."""
    candidates = [form for form in catalogue.forms if logger and any(logger in (known, short_name(known)) for known in form.loggers)]
    best = max(((form, reach(form, body)) for form in candidates), key=lambda pair: pair[1], default=None)
    return best if best and best[1] > 8 else None


def match_lines(path: str, catalogue: Catalogue) -> Iterator[str]:
    """What each record of a log becomes: offset, event and fields, or the nearest form and where it stopped; of a capture, its rows."""
    source = source_at(path)
    if source.capture is not None:
        yield from captured_lines(source, catalogue)
    else:
        yield from record_lines(read_records(source), catalogue)


def record_lines(batches: Iterable[pa.RecordBatch], catalogue: Catalogue) -> Iterator[str]:
    """What each record becomes: offset, event and fields, or the nearest form and where it stopped."""
    for batch in batches:
        for row in batch.select(["byte_offset", "event_type", "fields", "logger", "body", "outcome"]).to_pylist():
            if row["event_type"]:
                fields = ", ".join(f"{key}={value!r}" for key, value in row["fields"][:12])
                yield f"{row['byte_offset']:>10} {row['event_type']}: {fields}"
                continue
            body = (row["body"] or "").split("\n")[0]
            close = nearest(catalogue, row["logger"], body)
            hint = (
                f" (nearest: {close[0].event}, {Path(close[0].path).name}:{close[0].at_line}, follows '{body[: close[1]][-30:]}')"
                if close
                else ""
            )
            yield f"{row['byte_offset']:>10} {row['outcome']}: {row['logger'] or '-'}: {body[:160]}{hint}"


def shape_of_text(body: str) -> str:
    """A body with everything that usually varies as '#', to group alike lines."""
    return VARYING.sub("#", body)


def marked_up(body: str) -> str:
    """A body with everything that usually varies marked as a field that still needs a name."""
    number = itertools.count(1)
    return VARYING.sub(lambda match: f"<<field_{next(number)}={match[0]}>>", body)


def suggestions(rows: Iterable[tuple[str | None, str, int]], most: int) -> Iterator[str]:
    """Draft entries for the commonest of (logger, body, records), numbers marked up as fields to be named."""
    counts: Counter[tuple[str | None, str]] = Counter()
    samples: dict[tuple[str | None, str], str] = {}
    for logger, body, records in rows:
        first = body.split("\n")[0][:600]
        key = (logger, shape_of_text(first))
        counts[key] += records
        samples.setdefault(key, first)
    for n, (key, records) in enumerate(counts.most_common(most), 1):
        line = marked_up(samples[key])
        quoted = line.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
        yield f'# {records:,} records\nunnamed_{n}:\n  means: …\n  forms:\n    - loggers: [{key[0] or ""}]\n      line: "{quoted}"\n'


def patterns_for(paths: Iterable[str]) -> Iterator[str]:
    """The layouts of files that are not read, or are taken for logs of another layout: where lines of known wording show one under which more is
    recognised, the option that says it.  Raises FileNotFoundError for a path that is not there."""
    for file in (file for path in paths for file in find_files(path)):
        source = source_at(file)
        if source.capture is not None or source.outcome not in (TO_READ, UNKNOWN) or source.layout_known_by in ("given", "derived"):
            continue
        count = Counted()
        if source.envelope is not None:
            counted: dict[str, Counted] = {}
            for _ in read_tasks([task_of(source, False, 0, dt.datetime.now(dt.UTC))], counted):
                pass
            count = counted[source.source_id]
        if count.records and 2 * count.recognised >= count.records:
            continue
        with open_bytes(source.path) as opened:
            lines = opened.read(SAMPLE).decode("utf-8", "replace").split("\n")
        derived = derive(lines, least=LEAST_TO_PROPOSE)
        if derived and by_pattern(compile_pattern(derived), lines).recognised > count.recognised:
            yield f"# {file}: its lines look like this layout\n--pattern '{derived}'\n"


def unrecognised(paths: Iterable[str]) -> Iterator[tuple[str | None, str, int]]:
    """(logger, body, 1) of every record below some files and folders that no form recognises; files that are not logs are skipped.

    Raises FileNotFoundError for a path that is not there, ValueError if there is no log at all.
    """
    paths = list(paths)
    for path in paths:
        if not os.path.exists(path):
            raise FileNotFoundError(f"{path}: no such file or folder; give a log of Kafka or ZooKeeper, or a folder of them")
    logs = 0
    for file in (file for path in paths for file in find_files(path)):
        try:
            batches = read_records(source_at(file))
        except ValueError:
            continue
        logs += 1
        for batch in batches:
            for row in batch.select(["event_type", "logger", "body", "outcome"]).to_pylist():
                if row["event_type"] is None and row["outcome"] == "unrecognised":
                    yield row["logger"], row["body"] or "", 1
    if not logs:
        raise ValueError(
            f"{', '.join(paths)}: no log of Kafka or ZooKeeper there; `chronicle catalogue match FILE` says why a file is none"
        )
