"""Gives each file its node and its time zone: inspected to placed.  No Spark here."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ingestion import captures
from ingestion.reading.files import real
from ingestion.reading.zones import ALWAYS, fixed_offset, is_mirrored, mirrored
from ingestion.records.kinds import is_of_node, kinds_of_libraries, kinds_of_others
from ingestion.sources import owners
from ingestion.sources.stages import GROWING, Inspected, Placed, grown


@dataclass(frozen=True)
class Zoned:
    """The time zone of a file, how it is known, and what is doubtful about it."""

    zones: tuple[tuple[int, str], ...]
    known_by: str = "default"
    warnings: tuple[str, ...] = ()


def place(sources: Sequence[Inspected], past: Collection[owners.File] = (), timezone: str | None = None) -> list[Placed]:
    """Give every file its node and its time zone.  `past`: files of earlier runs, `timezone`: what the user says."""
    return [
        grown(
            Placed,
            source,
            node_id=owner.node,
            node_known_by=owner.known_by,
            doubts=owner.warnings,
            zones=zoned.zones,
            zone_known_by=zoned.known_by,
            warnings=(*owner.warnings, *zoned.warnings),
        )
        for source, owner, zoned in zip(sources, owners_of(sources, past), zones_of(sources, timezone), strict=True)
    ]


def owners_of(sources: Sequence[Inspected], past: Collection[owners.File]) -> list[owners.Owner]:
    """The node that the first records of each file belong to, or that a capture mentions.

    A log by its content; else by the other logs of its folder where they agree; else by path (`--node`, `--layout`), by its name, by
    the time at which it begins.  A capture as `owners` says.  A disagreement is a warning.
    """
    files = files_of(sources)
    # What a file showed before it was rotated or rewritten stays valid.
    clusters = owners.clusters([*files, *past])
    of_folder: dict[str, list[tuple[int, int]]] = {}
    for source in sources:
        if source.envelope and source.takes_nodes:
            of_folder.setdefault(source.folder, []).extend(source.mentions)
    for mentioned in of_folder.values():
        mentioned.sort()
    siblings = {folder: {node for _, node in mentioned} for folder, mentioned in of_folder.items()}
    in_turns = folders_in_turns(sources)
    return [
        of_capture(source, clusters[source.cluster_id].owner(file), of_folder.get(source.folder, []) if source.folder in in_turns else [])
        if source.capture
        else of_log(source, clusters[source.cluster_id], file, of_folder.get(source.folder, []), siblings.get(source.folder, set()))
        for source, file in zip(sources, files, strict=True)
    ]


def of_log(source: Inspected, cluster: owners.Cluster, file: owners.File, told: list[tuple[int, int]], siblings: set[int]) -> owners.Owner:
    """The node of a log.  `told`: (time, node) from the logs of its folder, in order; `siblings`: the nodes among them."""
    if source.nodes and source.takes_nodes:
        return cluster.owner(file)
    if source.kind in kinds_of_others() - kinds_of_libraries():
        # A ZooKeeper server or a Connect worker, whatever node its path is said to be of.
        return owners.Owner()
    named = cluster.by_name(file.name) if file.takes_node else owners.Owner()
    if file.takes_node and len(siblings) == 1 and named.node in (None, *siblings):
        return owners.Owner(next(iter(siblings)), "folder")
    if source.path_node is not None:
        return owners.Owner(source.path_node, "path")
    if named.node is not None:
        return named
    return by_time(source, told) if file.takes_node and len(siblings) > 1 else owners.Owner()


def of_capture(source: Inspected, owner: owners.Owner, told: list[tuple[int, int]]) -> owners.Owner:
    """The node of a capture; for one that grows as logs do, from the logs in its folder, if nodes took turns to write them."""
    if (
        owner.node is None
        and source.capture in GROWING
        and source.first_at
        and told
        and not owners.is_others(os.path.basename(source.shown))
    ):
        return by_time(source, told)
    return owner


def by_time(source: Inspected, told: list[tuple[int, int]]) -> owners.Owner:
    """If several nodes write into one folder: the node that the other files name last before this one begins."""
    nearest = [node for at, node in told if at <= source.first_at] or [told[0][1]]
    text = f"nodes {sorted({node for _, node in told})} write into this folder; assigned to node {nearest[-1]} by time"
    return owners.Owner(nearest[-1], "folder", (text,))


def folders_in_turns(sources: Sequence[Inspected]) -> set[str]:
    """Folders in which nodes wrote logs one after the other, as on a machine that was given another id: the logs of two nodes never overlap
    in time."""
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


def files_of(sources: Sequence[Inspected]) -> list[owners.File]:
    """What decides the node of each source."""
    without_links = {folder: real(folder) for folder in {source.folder for source in sources}}
    return [file_of(source, without_links[source.folder]) for source in sources]


def file_of(source: Inspected, folder: str) -> owners.File:
    """What decides the node of a source.  `folder`: its own, with links resolved."""
    is_log = source.envelope is not None and is_of_node(source.kind)
    return owners.File(
        cluster=source.cluster_id,
        root=source.root,
        folder=folder,
        name=os.path.basename(source.shown),
        takes_node=captures.is_of_node(source.capture) if source.capture else is_log,
        is_foreign=captures.is_of_others(source.capture) if source.capture else not source.takes_nodes,
        nodes=source.nodes if source.takes_nodes else (),
        members=source.tells.members,
        hosts=source.tells.hosts,
        host=source.host or source.path_host,
        path_node=source.path_node,
        is_said_of_file=source.is_said_of_file and source.path_node is not None,
    )


def zones_of(sources: Sequence[Inspected], timezone: str | None) -> list[Zoned]:
    """The time zone of each file: as given, as its records state it, by its folder's evidence, by its cluster's if that is a single zone, else UTC."""
    if timezone:
        return [Zoned(((ALWAYS, timezone),), "given")] * len(sources)
    proven_in = {source.folder: set[int]() for source in sources} | {source.cluster_id: set[int]() for source in sources}
    for source in sources:
        if source.capture is None:
            offsets = {fixed_offset(zone) for _, zone in source.evidence}
            proven_in[source.folder] |= offsets
            proven_in[source.cluster_id] |= offsets
    of_folder: dict[str, set[tuple[int, str]]] = {}
    of_cluster: dict[str, set[tuple[int, str]]] = {}
    mirrors: dict[str, str] = {}
    for source in sources:
        shown = source.evidence
        if source.capture is not None and is_against(shown, proven_in[source.folder] or proven_in[source.cluster_id]):
            mirrors[source.path] = shown[0][1]
            shown = tuple((local, mirrored(zone)) for local, zone in shown)
        of_folder.setdefault(source.folder, set()).update(shown)
        of_cluster.setdefault(source.cluster_id, set()).update(shown)
    out = []
    for source in sources:
        if source.is_utc:
            out.append(Zoned(((ALWAYS, "UTC"),), "content"))
            continue
        evidence, by = sorted(of_folder[source.folder]), "evidence"
        if not evidence and len({zone for _, zone in of_cluster[source.cluster_id]}) == 1:
            evidence, by = sorted(of_cluster[source.cluster_id])[:1], "cluster"
        if not evidence:
            # Where each record shows both clocks, its pieces find the zone themselves.
            out.append(Zoned(((ALWAYS, "UTC"),), warnings=() if source.shows_utc else ("time zone unknown; taken as UTC",)))
            continue
        steps = [
            (local, zone.replace("+0000", "UTC").replace("+00:00", "UTC"))
            for n, (local, zone) in enumerate(evidence)
            if n == 0 or zone != evidence[n - 1][1]
        ]
        printed = mirrors.get(source.path)
        warnings = (f"its offset {printed} has the wrong sign, as other clocks show; taken as {mirrored(printed)}",) if printed else ()
        out.append(Zoned(((ALWAYS, steps[0][1]), *steps[1:]), by, warnings))
    return out


def is_against(printed: Sequence[tuple[int, str]], proven: Collection[int]) -> bool:
    """Whether offsets that a GC log prints have the wrong sign.  `proven`: offsets that other clocks show, in ms."""
    offsets = {fixed_offset(zone) for _, zone in printed}
    return any(all(is_mirrored(offset, other) for other in proven) for offset in offsets) if proven else False
