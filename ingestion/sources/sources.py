"""Files to sources: what each file is, by its content, and from which byte on it is new.

No Spark here.  A source is known by its first bytes (decompressed), so that growth, renaming, rotation and gzip keep it
(Filebeat's fingerprint does the same); two files that begin alike are one source only while all their common bytes agree.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import zlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any

from ingestion import captures
from ingestion.reading import linear
from ingestion.reading.catalogue_files import CATALOGUE, read_yaml
from ingestion.reading.files import BROKEN, FINGERPRINT, Expected, fault_of, open_bytes, readable, tail_hash
from ingestion.reading.zones import ALWAYS
from ingestion.records.clues import clock_millis, first_node, zone_between
from ingestion.records.envelope import DIGITS, REWRITTEN, Envelope, find_envelope
from ingestion.records.unwrap import Stream, Streams, find_pattern, find_wrappers
from ingestion.sources import owners
from ingestion.sources.archives import compile_layout

SAMPLE = 64 << 10
# What a file is shows in its first lines already.
LOOK = 8 << 10
# Prose in which captures are pasted: what nothing else knows.
DOCUMENT = "document"
# Captures that grow and rotate as logs do.
GROWING = ("gc_log",)
TO_READ, COPY, EMPTY, BINARY, UNKNOWN, UNREADABLE, MISSING, REFUSED, FAILED = (
    "read",
    "copy",
    "empty",
    "binary",
    "unknown",
    "unreadable",
    "missing",
    "refused",
    "failed",
)

GC_UNIFIED = re.compile(rb"^\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.,]\d{3}([+-]\d{4})\](?:\[[^\]\n]*\])*\[(?:gc|safepoint)", re.M)
GC_JDK8 = re.compile(rb"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.,]\d{3}([+-]\d{4}): \d+[.,]\d+: \[(?:GC|Full GC)", re.M)
START_TIME = re.compile(rb"INFO Kafka startTimeMs: (\d{13}) ")
ROTATED = re.compile(r"\.(?:\d{4}-\d\d-\d\d(?:-\d\d)?|\d+)$")


@dataclass(frozen=True)
class Source:
    """One file as found.

    `path`: where its bytes lie, `shown`: what it is called (a member of an archive lies elsewhere), `folder`: that of its
    name; `root`: the path that was given; `size`: bytes, decompressed (None for a gzip), `disk_size` as it lies there; `tells`: what it says
    of nodes and hosts; `path_node`: the node that was said for its path, `is_said_of_file`: by a layout for the file's own name;
    `zones`: (local ms, '+05:30'); `seen_as`: the source that it was when it was read, where it has not changed since.
    """

    path: str
    shown: str
    folder: str
    cluster_id: str
    size: int | None = None
    disk_size: int | None = None
    modified: float = 0.0
    compressed: bool = False
    outcome: str = TO_READ
    reason: str | None = None
    kind: str = "unknown"
    layout: str | None = None
    envelope: str | None = None
    wrappers: tuple[str, ...] = ()
    pattern: str | None = None
    capture: str | None = None
    head: bytes = b""
    mentions: tuple[tuple[int, int], ...] = ()
    first_at: int = 0
    root: str = ""
    tells: owners.Tells = field(default_factory=owners.Tells)
    host: str | None = None
    path_node: int | None = None
    is_said_of_file: bool = False
    node_id: int | None = None
    node_known_by: str | None = None
    zones: tuple[tuple[int, str], ...] = ()
    zone_known_by: str = "default"
    doubts: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    source_id: str = ""
    start: int = 0
    tail_hash: str | None = None
    ends_torn: bool = False
    is_whole: bool = False
    seen_as: str | None = None

    def fingerprint(self, length: int = FINGERPRINT) -> str:
        """SHA-256 of the cluster, the node that the path names, and the first bytes; hexadecimal.

        Of a capture that is taken once also of its name and folder: the same describe an hour later is another one.
        """
        identity = f"{self.cluster_id}\x1f{self.path_node}\x1f"
        if self.capture is not None and self.capture not in GROWING:
            identity += "/".join(re.sub(r"\.gz$", "", self.shown).split("/")[-2:]) + "\x1f"
        return hashlib.sha256(identity.encode() + self.head[:length]).hexdigest()

    @property
    def expected(self) -> Expected:
        """What a worker must find again when it opens the file."""
        return Expected(hashlib.sha256(self.head).hexdigest(), len(self.head), self.tail_hash)

    @property
    def nodes(self) -> tuple[int, ...]:
        """The nodes that the file's ends name, in order."""
        return tuple(dict.fromkeys(node for _, node in self.mentions))

    @property
    def takes_nodes(self) -> bool:
        """Whether lines of this kind name the node that wrote them."""
        return self.kind not in kinds_of_others()


def replace(source: Source, **changes: Any) -> Source:
    """As `dataclasses.replace`, which takes ten times as long: each of 100,000 files is changed a few times."""
    changed = object.__new__(Source)
    vars(changed).update(vars(source), **changes)
    return changed


@dataclass(frozen=True)
class Known:
    """A source of an earlier run: where it was, what its bytes were, up to where it has been read."""

    source_id: str
    path: str
    fingerprint: str
    fingerprint_length: int
    end: int
    tail_hash: str | None
    size: int | None
    outcome: str
    node_id: int | None = None


@dataclass
class Layout:
    """`--layout '{cluster}/{node}/**'`: what the parts of a path mean, seen from the path that was given.

    `{node}` as a folder of its own is the number in its name (`broker-12`); within a name (`{kind}-broker-{node}.txt`) it is digits.
    """

    text: str
    pattern: linear.ForLines = field(init=False)

    def __post_init__(self) -> None:
        if not re.search(r"\{(cluster|node|host)\}", self.text):
            raise ValueError(f"layout '{self.text}' names neither {{cluster}} nor {{node}}; write for example '{{cluster}}/{{node}}/**'")
        unknown = [name for name in re.findall(r"\{([^{}]*)\}", self.text) if name not in ("cluster", "node", "host", "kind", "time")]
        if unknown:
            raise ValueError(
                f"layout '{self.text}': {{{unknown[0]}}} is not known; there are {{cluster}}, {{node}}, {{host}}, {{kind}} and {{time}}"
            )
        self.pattern = compile_layout(re.sub(r"(?<![^/])\{node\}(?![^/])", "{numbered}", self.text))

    @property
    def names_files(self) -> bool:
        """Whether it reads the node out of a file's own name."""
        return "{node}" in self.text.rsplit("/", 1)[-1]

    def read(self, relative: str) -> tuple[str | None, int | None]:
        """(cluster, node) of a path relative to the folder that was given."""
        parts = self.parts(relative)
        return parts.get("cluster"), int(parts["node"]) if parts.get("node") else None

    def parts(self, relative: str) -> dict[str, str | None]:
        """What each placeholder stands for in a path; nothing where the layout does not fit."""
        match = self.pattern.match(relative)
        return match.groupdict() if match else {}


def find_files(given: str, leave_out: str | None = None) -> Iterator[str]:
    """Every regular file below a path, in order; a missing path stands for itself.  `leave_out`: a folder that is passed by."""
    if not os.path.isdir(given):
        yield given
        return
    passed_by = os.path.realpath(leave_out) if leave_out else None
    for folder, folders, names in os.walk(given):
        folders[:] = sorted(name for name in folders if os.path.realpath(os.path.join(folder, name)) != passed_by)
        for name in sorted(names):
            path = os.path.join(folder, name)
            if os.path.isfile(path) or not os.access(path, os.R_OK):
                yield path


@lru_cache(maxsize=1)
def kinds() -> list[tuple[str, str]]:
    """(prefix of a logger, kind), longest prefix first."""
    content = read_yaml(CATALOGUE / "kinds.yml")
    return sorted(((prefix, kind) for kind, entry in content.items() for prefix in entry["loggers"]), key=lambda pair: -len(pair[0]))


@lru_cache(maxsize=1)
def kinds_by_name() -> dict[str, str]:
    """Name of a file, without what rotation adds → kind."""
    content = read_yaml(CATALOGUE / "kinds.yml")
    return {name: kind for kind, entry in content.items() for name in entry.get("files", ())}


@lru_cache(maxsize=1)
def kinds_of_others() -> frozenset[str]:
    """Kinds of logs that no node of Kafka writes."""
    content = read_yaml(CATALOGUE / "kinds.yml")
    return frozenset(kind for kind, entry in content.items() if not entry.get("of_node", True))


@lru_cache(maxsize=4096)
def kind_of_logger(logger: str) -> str | None:
    """The kind of log that a logger writes into."""
    return next((kind for prefix, kind in kinds() if logger.startswith(prefix)), None)


def kind_of(path: str, sample: bytes, envelope: Envelope) -> str:
    """What a log is, by the loggers that its first records name; `kafka_stdout` where families meet that files keep apart."""
    found: dict[str, int] = {}
    for line in sample.split(b"\n"):
        cut = envelope.cut(line)
        if cut and "logger" in cut:
            kind = kind_of_logger(line[slice(*cut["logger"])].decode("utf-8", "replace"))
            if kind:
                found[kind] = found.get(kind, 0) + 1
    if envelope.name.startswith("zookeeper") or set(found) == {"zookeeper_log"}:
        return "zookeeper_log"
    if "kafka_server_log" in found and (path.endswith(".out") or {"kafka_controller_log", "kafka_state_change_log"} & set(found)):
        return "kafka_stdout"
    if {"kafka_client_log", "kafka_connect_log"} & set(found) and len(found) > 1 and "kafka_server_log" in found:
        return "kafka_server_log"
    return max(found, key=lambda kind: found[kind]) if found else kinds_by_name().get(stem(path), "log4j_log")


def mentions(envelope: Envelope, head: bytes, tail: bytes) -> tuple[tuple[int, int], ...]:
    """(local ms, node) where a file first names the node that writes it, and near its end; none where it names none."""
    found = ((head, first_node(head[:LOOK]) or first_node(head)), (tail, first_node(tail, max(0, len(tail) - LOOK))))
    return tuple((line_time(text, named[0], envelope), named[1]) for text, named in found if named)


def line_time(text: bytes, at: int, envelope: Envelope) -> int:
    """Local time of the record around or after an offset, in ms; 0 where there is none."""
    size = len(envelope.template)

    def begins(start: int) -> bool:
        return text[start : start + size].translate(DIGITS) == envelope.template

    start = text.rfind(b"\n", 0, at) + 1
    while start and not begins(start):
        start = text.rfind(b"\n", 0, start - 1) + 1
    while not begins(start):
        start = text.find(b"\n", start) + 1
        if not start:
            return 0
    return clock_millis(text[start + envelope.time_at : start + size + 32]) or 0


def zone_evidence(sample: bytes, envelope: Envelope | None) -> tuple[tuple[int, str], ...]:
    """(local ms, offset) for every place of a sample that shows the local clock beside UTC.

    GC logs print the offset; from Kafka 2.3 the line `Kafka startTimeMs` prints UTC milliseconds beside a local time.
    """
    for pattern in (GC_UNIFIED, GC_JDK8):
        match = pattern.search(sample) if envelope is None else None
        local = clock_millis(match[0].lstrip(b"[")) if match else None
        if match and local is not None:
            return ((local, match[1].decode()),)
    out = []
    if envelope is not None:
        for match in START_TIME.finditer(sample):
            local = clock_millis(sample[sample.rfind(b"\n", 0, match.start()) + 1 + envelope.time_at :][:23])
            zone = zone_between(local, int(match[1])) if local is not None else None
            if local is not None and zone:
                out.append((local, zone))
    return tuple(out)


def inspect(
    path: str, folder: str, cluster_id: str, path_node: int | None = None, pattern: str | None = None, shown: str | None = None
) -> Source:
    """Look at the first bytes of a file and say what it is; every fault, ours too, becomes an outcome with its reason.

    `pattern`: a layout of the user's, as log4j writes it; `shown`: the file's name, where it does not lie under it.
    """
    shown = shown or readable(os.path.realpath(path))
    source = Source(path=path, shown=shown, folder=readable(folder), cluster_id=cluster_id, path_node=path_node)
    try:
        return looked_at(source, pattern)
    except FileNotFoundError:
        return replace(source, outcome=MISSING, reason="no such file or folder")
    except OSError as error:
        return replace(source, outcome=UNREADABLE, reason=f"cannot be read: {error.strerror or error}")
    except Exception as error:  # one file's fault must not stop the others
        return replace(source, outcome=FAILED, reason=fault_of(error))


def looked_at(source: Source, pattern: str | None) -> Source:
    """What `inspect` says of a file that can be opened.  Raises OSError."""
    if os.stat(source.path).st_size == 0:
        return replace(source, size=0, disk_size=0, modified=os.stat(source.path).st_mtime, outcome=EMPTY, reason="the file is empty")
    with open_bytes(source.path) as file:
        # Of the file that was opened: the name may be another's by now.
        status = os.fstat(file.fileno())
        source = replace(source, size=status.st_size, disk_size=status.st_size, modified=status.st_mtime)
        compressed = isinstance(file, gzip.GzipFile)
        sample = bytearray()
        try:
            while len(sample) < SAMPLE and (piece := file.read1(SAMPLE) if compressed else file.read(SAMPLE)):
                sample += piece
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            if not sample:
                return replace(source, compressed=True, outcome=UNREADABLE, reason=f"the gzip cannot be read: {error}")
        if compressed:
            source = replace(source, size=None, compressed=True)
        if not sample:
            return replace(source, outcome=EMPTY, reason="the file is empty once decompressed")
        torn = False
        if not compressed:
            file.seek(max(0, status.st_size - SAMPLE))
            end = file.read(SAMPLE)
            torn = not end.endswith(b"\n")
    text = bytes(sample)
    source = replace(source, head=text[:FINGERPRINT], ends_torn=torn)
    if text.startswith(BOM_UTF8):
        source = replace(source, start=len(BOM_UTF8))
    if encoding := foreign_encoding(text):
        return replace(source, kind="binary", outcome=BINARY, reason=encoding)
    envelope = find_envelope(text[:LOOK]) or find_envelope(text) or (find_envelope(end) if not compressed else None)
    if envelope is None or (pattern and find_pattern(text[:LOOK].decode("utf-8", "replace").split("\n"), pattern)):
        if b"\0" in text or text.decode("utf-8", "replace").count("\ufffd") > len(text) // 20:
            return replace(source, kind="binary", outcome=BINARY, reason="the file is binary")
        found = captured_source(source, text)
        if found is None or found.kind == DOCUMENT:
            found = rewritten_source(source, text, pattern) or found
        return found or replace(source, outcome=UNKNOWN, reason="no known layout frames any of its lines, and it is no known capture")
    # The output of a tool, with warnings of its own log above it.
    found = captured_source(source, text, is_log=True)
    if found is not None:
        return found
    if not envelope.begins(text.lstrip().split(b"\n", 1)[0]) and not text[:1].isspace():
        # Prose in which log lines are pasted among other things; a log that begins with a warning of the JVM is none.
        found = captured_source(source, text)
        if found is not None and found.kind == DOCUMENT:
            return found
    return with_tells(
        replace(
            source,
            kind=kind_of(source.shown, text[:LOOK], envelope),
            layout=envelope.name,
            envelope=envelope.name,
            mentions=mentions(envelope, text, b"" if compressed else end),
            first_at=line_time(text, 0, envelope),
            zones=zone_evidence(text, envelope),
        ),
        text,
    )


def foreign_encoding(sample: bytes) -> str | None:
    """What a text is that is neither ASCII nor UTF-8, or has line ends of old Macs, and how to convert it; None where it is no such text."""
    zeros = sorted((sample[::2].count(0), sample[1::2].count(0)))
    if sample.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) or (zeros[1] > len(sample) // 3 and zeros[0] < len(sample) // 20):
        return "the file is UTF-16, as PowerShell's > writes it; convert it: iconv -f UTF-16 -t UTF-8"
    if sample.count(b"\r") > 1 and b"\n" not in sample and find_envelope(sample.replace(b"\r", b"\n")):
        return "its lines end with a carriage return alone; convert it: tr '\\r' '\\n'"
    return None


def captured_source(source: Source, sample: bytes, *, is_log: bool = False) -> Source | None:
    """A capture of a kind that some module knows, or a document with captures in it; `is_log`: beside lines of a log."""
    found = captures.detect(sample.removeprefix(BOM_UTF8).decode("utf-8", "replace"), os.path.basename(source.shown), is_log=is_log)
    if found is None:
        return None
    # A document of JSON need not end with a line's end.
    torn = source.ends_torn and found[1] in GROWING
    zones = zone_evidence(sample[:LOOK], None)
    first_at = zones[0][0] if zones and found[1] in GROWING else 0
    return with_tells(replace(source, kind=found[1], capture=found[1], zones=zones, first_at=first_at, ends_torn=torn), sample)


def rewritten_source(source: Source, sample: bytes, pattern: str | None) -> Source | None:
    """A log whose lines are wrapped, JSON or of a layout without fixed width; None where its lines are no records even so."""
    sample = sample[: sample.rfind(b"\n") + 1] or sample
    names = find_wrappers(sample[:LOOK])
    found: dict[str, tuple[Stream, bytes]] = {}
    for stream, lines in Streams(names, pattern, 0, lambda: False).take(iter([sample])):
        if any(line.is_head for line in lines):
            text = "\n".join(line.text for line in lines).encode("utf-8", "replace")
            found[stream.name] = (stream, text)
    if not found:
        return None
    stream, text = max(found.values(), key=lambda pair: len(pair[1]))
    assert stream.envelope is not None
    inner = stream.pattern.name if stream.pattern else "json" if stream.envelope is REWRITTEN else stream.envelope.name
    told = tuple(mention for stream, text in found.values() if stream.envelope for mention in mentions(stream.envelope, text, b""))
    return with_tells(
        replace(
            source,
            kind=kind_of(source.shown, text[:LOOK], stream.envelope),
            layout=" in ".join((inner, *(name for name in reversed(names) if name != inner))),
            envelope=REWRITTEN.name,
            wrappers=names,
            pattern=pattern,
            mentions=told,
            first_at=line_time(text, 0, stream.envelope),
            zones=zone_evidence(text, stream.envelope) if not stream.is_utc else (),
        ),
        text,
    )


def with_tells(source: Source, sample: bytes) -> Source:
    """A source with what its beginning tells of nodes and hosts; a client's log tells nothing, for its cluster may be another."""
    if source.capture is None and not source.takes_nodes:
        return source
    is_of_node = captures.is_of_node(source.capture) if source.capture else True
    own = source.nodes[0] if len(source.nodes) == 1 else None
    tells = owners.tells(sample.decode("utf-8", "replace").replace("\r\n", "\n"), source.kind, own, is_of_node)
    mentions = ((0, tells.own),) if source.capture and tells.own is not None else source.mentions
    return replace(source, tells=tells, host=tells.host if source.capture else None, mentions=mentions)


def resolve_nodes(sources: list[Source], past: Sequence[owners.File] = ()) -> list[Source]:
    """Give every source the node that its first records belong to, or that a capture speaks of.

    A log by its content; else by the other logs of its folder where they agree; else by path (`--node`, `--layout`), by its name, by
    the time at which it begins.  A capture as `whose` says.  A disagreement is a warning.  `past`: files of earlier runs.
    """
    files = [file_of(source) for source in sources]
    # What a file told that has been rotated or written anew holds on.
    clusters = owners.clusters([*files, *past])
    of_folder: dict[str, list[tuple[int, int]]] = {}
    for source in sources:
        if source.envelope and source.takes_nodes:
            of_folder.setdefault(source.folder, []).extend(source.mentions)
    for mentioned in of_folder.values():
        mentioned.sort()
    in_turns = folders_in_turns(sources)
    return [
        of_capture(source, clusters[source.cluster_id].owner(file), of_folder.get(source.folder, []) if source.folder in in_turns else [])
        if source.capture
        else of_log(source, clusters[source.cluster_id], file, of_folder.get(source.folder, []))
        for source, file in zip(sources, files, strict=True)
    ]


def of_log(source: Source, cluster: owners.Cluster, file: owners.File, told: list[tuple[int, int]]) -> Source:
    """A log with its node.  `told`: (time, node) of what the logs of its folder say, in order."""
    siblings = {node for _, node in told}
    if source.nodes and source.takes_nodes:
        return owned(source, cluster.owner(file))
    named = cluster.by_name(file.name) if file.takes_node else owners.Owner()
    if file.takes_node and len(siblings) == 1 and named.node in (None, *siblings):
        return owned(source, owners.Owner(next(iter(siblings)), "folder"))
    if source.path_node is not None:
        return owned(source, owners.Owner(source.path_node, "path"))
    if named.node is not None:
        return owned(source, named)
    return by_time(source, told) if file.takes_node and len(siblings) > 1 else source


def of_capture(source: Source, owner: owners.Owner, told: list[tuple[int, int]]) -> Source:
    """A capture with its node; of one that grows as logs do, the logs that lie beside it tell, where nodes took turns to write them."""
    if (
        owner.node is None
        and source.capture in GROWING
        and source.first_at
        and told
        and not owners.is_others(os.path.basename(source.shown))
    ):
        return by_time(source, told)
    return owned(source, owner)


def owned(source: Source, owner: owners.Owner) -> Source:
    """A source with its node, and what is doubtful about it."""
    return replace(
        source, node_id=owner.node, node_known_by=owner.known_by, doubts=owner.warnings, warnings=(*source.warnings, *owner.warnings)
    )


def by_time(source: Source, told: list[tuple[int, int]]) -> Source:
    """Several nodes in one folder: the one that the other files name last before this one begins."""
    nearest = [node for at, node in told if at <= source.first_at] or [told[0][1]]
    text = f"nodes {sorted({node for _, node in told})} write into this folder; taken as node {nearest[-1]} by time"
    return owned(source, owners.Owner(nearest[-1], "folder", (text,)))


def folders_in_turns(sources: list[Source]) -> set[str]:
    """Folders in which nodes wrote logs one after the other, as where a machine was given another id: no log of one lies within the
    time of another's."""
    spans: dict[str, list[tuple[int, int, tuple[int, ...]]]] = {}
    for source in sources:
        if source.envelope and source.takes_nodes and len(source.nodes) == 1:
            spans.setdefault(source.folder, []).append((source.mentions[0][0], source.mentions[-1][0], source.nodes))
    out = set()
    for folder, found in spans.items():
        found.sort()
        if all(one[2] == other[2] or one[1] < other[0] for one, other in pairwise(found)):
            out.add(folder)
    return out


def file_of(source: Source) -> owners.File:
    """What decides whose a source is."""
    is_log = source.envelope is not None and source.takes_nodes and source.kind != "log4j_log"
    return owners.File(
        cluster=source.cluster_id,
        root=source.root,
        folder=os.path.realpath(source.folder),
        name=os.path.basename(source.shown),
        takes_node=captures.is_of_node(source.capture) if source.capture else is_log,
        is_foreign=captures.is_of_others(source.capture) if source.capture else not source.takes_nodes,
        nodes=source.nodes if source.takes_nodes else (),
        members=source.tells.members,
        hosts=source.tells.hosts,
        host=source.host,
        path_node=source.path_node,
        is_said_of_file=source.is_said_of_file and source.path_node is not None,
    )


def resolve_zones(sources: list[Source], timezone: str | None) -> list[Source]:
    """Give every source its time zone: as told, by its folder's evidence, by its cluster's where that is one, else UTC."""
    if timezone:
        return [replace(source, zones=((ALWAYS, timezone),), zone_known_by="given") for source in sources]
    of_folder: dict[str, set[tuple[int, str]]] = {}
    of_cluster: dict[str, set[tuple[int, str]]] = {}
    for source in sources:
        of_folder.setdefault(source.folder, set()).update(source.zones)
        of_cluster.setdefault(source.cluster_id, set()).update(source.zones)
    out = []
    for source in sources:
        evidence, by = sorted(of_folder[source.folder]), "evidence"
        if not evidence and len({zone for _, zone in of_cluster[source.cluster_id]}) == 1:
            evidence, by = sorted(of_cluster[source.cluster_id])[:1], "cluster"
        if not evidence:
            out.append(replace(source, zones=((ALWAYS, "UTC"),), warnings=(*source.warnings, "no time zone is known; taken as UTC")))
            continue
        steps = [
            (local, zone.replace("+0000", "UTC").replace("+00:00", "UTC"))
            for n, (local, zone) in enumerate(evidence)
            if n == 0 or zone != evidence[n - 1][1]
        ]
        out.append(replace(source, zones=((ALWAYS, steps[0][1]), *steps[1:]), zone_known_by=by))
    return out


def same_bytes(one: str, other: str) -> bool:
    """Whether two files agree as far as both go."""
    try:
        with open_bytes(one) as left, open_bytes(other) as right:
            while True:
                a, b = left.read(1 << 20), right.read(1 << 20)
                common = min(len(a), len(b))
                if a[:common] != b[:common]:
                    return False
                if len(a) != len(b) or not a:
                    return True
    except BROKEN:
        return False


def _name(*parts: object) -> str:
    return hashlib.sha256("\x1f".join(str(part) for part in parts).encode()).hexdigest()[:32]


def stem(path: str) -> str:
    """'logs/server.log.2020-05-15-11.gz' -> 'server.log': the name that rotation and gzip keep."""
    return ROTATED.sub("", re.sub(r"\.gz$", "", os.path.basename(path)))


def identify(sources: list[Source], known: list[Known]) -> list[Source]:
    """Give every readable source its id and the byte from which it is new; mark those that repeat another one.

    A file continues a known source where the bytes before the known end are the same.  Of files that begin alike in one
    run the longest is read, one that it contains is a copy, and one that differs further on is a source of its own.
    """
    by_hash: dict[tuple[int, str], list[Known]] = {}
    for entry in known:
        by_hash.setdefault((entry.fingerprint_length, entry.fingerprint), []).append(entry)
    lengths = sorted({length for length, _ in by_hash})
    taken: dict[str, str] = {}
    names: dict[str, str] = {}
    nodes: dict[str, int | None] = {}
    groups: dict[str, list[str]] = {}
    seen: dict[str, str] = {}
    ids: set[str] = set()
    used = {entry.source_id for entry in known}
    out: dict[int, Source] = {}
    order = sorted(range(len(sources)), key=lambda n: (-(sources[n].size if sources[n].size is not None else 1 << 62), sources[n].path))
    for n in order:
        source = sources[n]
        if source.outcome != TO_READ:
            out[n] = source
            continue
        candidates = [
            entry for length in lengths if length <= len(source.head) for entry in by_hash.get((length, source.fingerprint(length)), [])
        ]
        candidates.sort(key=lambda entry: (entry.source_id != source.seen_as, entry.path != source.shown, -entry.end))
        match = next(
            (entry for entry in candidates if not is_of_other(source, entry.path, entry.node_id) and continues(source, entry)), None
        )
        print_of_group = source.fingerprint()
        twins = (path for path in groups.get(print_of_group, []) if not is_of_other(source, names[path], nodes[path]))
        twin = next((path for path in twins if are_twins(path, source, seen)), None)
        if twin is not None:
            out[n] = replace(source, outcome=COPY, reason=f"the same bytes as {names[twin]}", source_id=taken[twin])
            continue
        if match is not None and match.source_id not in ids:
            # A log goes on with the node that wrote it last; a capture's node is as it is known now.
            node = source.node_id if match.node_id is None or source.capture else match.node_id
            source = replace(source, source_id=match.source_id, start=match.end, tail_hash=match.tail_hash, node_id=node)
        elif match is not None:
            out[n] = replace(source, outcome=COPY, reason=f"the same bytes as {match.path}", source_id=match.source_id)
            continue
        else:
            choices = [(print_of_group,), (print_of_group, stem(source.shown)), (print_of_group, source.shown)]
            source = replace(
                source, source_id=next((name for name in (_name(*parts) for parts in choices) if name not in used), _name(*choices[-1], n))
            )
        taken[source.path], names[source.path], nodes[source.path] = source.source_id, source.shown, source.node_id
        ids.add(source.source_id)
        used.add(source.source_id)
        if source.seen_as == source.source_id:
            seen[source.path] = source.source_id
        groups.setdefault(print_of_group, []).append(source.path)
        out[n] = source
    return [out[n] for n in range(len(sources))]


def is_of_other(source: Source, path: str, node: int | None) -> bool:
    """Whether a capture cannot be the one at another path, for it is of another node, though their texts are the same."""
    return bool(source.capture) and path != source.shown and None not in (node, source.node_id) and node != source.node_id


def are_twins(path: str, source: Source, seen: dict[str, str]) -> bool:
    """Whether a file that is taken already and another one agree.  `seen`: the source of files that have not changed since they were read."""
    if source.seen_as and path in seen:
        return seen[path] == source.seen_as
    return same_bytes(path, source.path)


def continues(source: Source, entry: Known) -> bool:
    """Whether a file is the same source further on: the bytes before the known end are the same."""
    if entry.outcome == COPY:
        return False
    if source.seen_as == entry.source_id:
        return True
    if source.size is not None and source.size < entry.end:
        return os.path.exists(entry.path) and entry.path != source.shown and same_bytes(source.path, entry.path)
    if entry.tail_hash is None:
        return True
    return tail_hash(source.path, entry.end) == entry.tail_hash


def may_grow(source: Source, now: float, settled_after: float) -> bool:
    """Whether the last record may still lack its end: not rotated, not compressed, not out of an archive, and changed within the last
    `settled_after` seconds.  A change in the future is a clock that is wrong, and no reason to wait."""
    is_fresh = 0 <= now - source.modified < settled_after
    return is_fresh and not source.compressed and not source.is_whole and not ROTATED.search(source.shown)
