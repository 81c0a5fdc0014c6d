"""A model's query as dbt compiles it, with the places that a build fills in, as a list of pieces: it is read once, and builds join the pieces.

Macros write these places as conditions or names that are SQL as they stand, so that other tools can read the query.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

CLUSTERS, DAYS, BATCHES, SINCE, SINCE_DAY, AS_BEFORE, ALL_CLUSTERS, IN_PART = (
    "clusters",
    "days",
    "batches",
    "since",
    "since_day",
    "as_before",
    "all_clusters",
    "in_part",
)
# How macros write each place (`in_built_clusters`, `in_touched_days`, `in_new_batches`, `since`, `since_day`, `as_before`, `of_all_clusters`,
# `in_part`); the groups `of…` and `less` are the fields of a place.
WRITTEN = {
    CLUSTERS: r"cluster_id in \('/\* built clusters \*/'\)",
    DAYS: r"event_date in \('/\* days of (?P<of_days>\S+) \*/'\)",
    BATCHES: r"batch_id > '/\* newest batch \*/'",
    SINCE: r"(?P<of_since>[\w.]+) >= '/\* since (?P<less>.*?) \*/'",
    SINCE_DAY: r"(?P<of_day>[\w.]+) >= '/\* from day \*/'",
    AS_BEFORE: "__as_before__",
    ALL_CLUSTERS: r"__of_all_clusters__(?P<of_mart>\w+)",
    IN_PART: r"/\* in part \*/(?P<within>.*?)/\* whole \*/",
}
PLACES = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in WRITTEN.items()), re.DOTALL)


@dataclass(frozen=True)
class Place:
    """A place in a query.

    text: how a macro wrote it
    kind: which of the constants above; it says what is put there:
        clusters: the condition that a row is of a cluster that is built
        days, batches: that it falls on a day that is replaced; that it is of a batch that the table has not seen
        since, since_day: that it is not before the start of the part that is rebuilt, or before the day of that
        as_before: the table's own rows, as the previous build left them
        all_clusters: the rows of all clusters of a mart
        in_part: `within`, but only where the table is rebuilt in part
    of: the table of bronze whose new rows say which days; the column that is compared with the time or day; the mart
    less: how long before that time, as an interval
    """

    text: str
    kind: str
    of: str = ""
    less: str = ""
    within: tuple[str | Place, ...] = ()


@dataclass(frozen=True)
class Template:
    """A query as a list of pieces: text, and places."""

    pieces: tuple[str | Place, ...] = ()

    @classmethod
    def of(cls, sql: str) -> Template:
        """The template in a compiled query."""
        return cls(tuple(_pieces(sql)))

    def places(self) -> Iterator[Place]:
        """All places, those within others too."""
        return _places(self.pieces)

    def has(self, kind: str) -> bool:
        """Whether there is a place of a kind."""
        return any(place.kind == kind for place in self.places())

    def filled(self, fill: Callable[[Place], str], *, in_part: bool) -> str:
        """The query.  `fill`: the text for a place; `in_part`: the table is rebuilt in part."""
        return _filled(self.pieces, fill, in_part)


def _pieces(sql: str) -> Iterator[str | Place]:
    end = 0
    for found in PLACES.finditer(sql):
        groups = found.groupdict()
        kind = next(kind for kind in WRITTEN if groups[kind] is not None)
        of = next((text for name, text in groups.items() if name.startswith("of_") and text), "")
        yield sql[end : found.start()]
        yield Place(found[0], kind, of, groups["less"] or "", tuple(_pieces(groups["within"])) if kind == IN_PART else ())
        end = found.end()
    yield sql[end:]


def _places(pieces: Sequence[str | Place]) -> Iterator[Place]:
    for piece in pieces:
        if isinstance(piece, Place):
            yield piece
            yield from _places(piece.within)


def _filled(pieces: Sequence[str | Place], fill: Callable[[Place], str], in_part: bool) -> str:
    return "".join(
        piece
        if isinstance(piece, str)
        else fill(piece)
        if piece.kind != IN_PART
        else _filled(piece.within, fill, in_part)
        if in_part
        else ""
        for piece in pieces
    )
