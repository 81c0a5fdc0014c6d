"""The first screen: what broke, whether it is over, where it began, whether data was lost, what to change.

Each answer is of one cluster, or of a fleet, whose answers name the cluster.  What the logs do not say is said to be unknown.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from chronicle.ask.looked_at import counted
from chronicle.ask.remedies import Loss, Remedy, first_of, listed
from chronicle.ask.tables import NotBuilt, Period, Tables
from chronicle.output.units import count_text, duration_text, time_text
from chronicle.report.queries import CUT, HARM_DONE, WORST, severity_rank

MOST_WORST = 3


@dataclass
class Harm:
    """What the incidents of a cluster did in a period: how many of each severity, the worst first, and how many of them have no end.

    `elections`: how many are known, None if they are not built; `cut`: records that replicas cut where no election is known to be unclean.
    """

    by_severity: dict[str, int] = field(default_factory=dict)
    still_open: int = 0
    leaderless_ms: int = 0
    last_end: dt.datetime | None = None
    worst: str = ""
    losses: list[Loss] = field(default_factory=list)
    elections: int | None = None
    cut: int = 0
    is_built: bool = True

    @property
    def incidents(self) -> int:
        return sum(self.by_severity.values())

    @property
    def lost(self) -> str:
        """How many records may be lost, in a few words; empty if none."""
        records = sum(loss.records or 0 for loss in self.losses)
        unknown = any(loss.records is None for loss in self.losses)
        return f"{count_text(records)}{' or more' if unknown else ''}" if records else "number unknown" if unknown else ""

    def order(self, severities: Sequence[str]) -> tuple[int, ...]:
        """Worse harm first: the gravest severity, records lost, time without leaders; the number of incidents comes last."""
        ranks = [severities.index(name) for name in self.by_severity if name in severities]
        worst = min(ranks, default=len(severities))
        grave = self.by_severity.get(severities[worst], 0) if ranks else 0
        return (worst, -sum(loss.records or 0 for loss in self.losses), -len(self.losses), -self.leaderless_ms, -grave, -self.incidents)


@dataclass(frozen=True)
class Broken:
    """An incident in a line: `anchor`: where the page tells it; `began`: node or process where it did, `cause`: the kind of its root cause."""

    cluster: str
    anchor: str
    severity: str
    at: str
    summary: str
    cause: str
    began: str
    remedies: tuple[Remedy, ...]


@dataclass(frozen=True)
class Told:
    """A cluster that the page tells in detail."""

    period: Period
    harm: Harm
    broken: list[Broken]


@dataclass(frozen=True)
class Advice:
    """What to do, and about which incident of which cluster."""

    cluster: str
    title: str
    text: str
    anchor: str


@dataclass(frozen=True)
class Verdict:
    """The first screen.  `answers`: (question, sentences)."""

    sentence: str
    worst: list[Broken]
    answers: list[tuple[str, list[str]]]
    advice: list[Advice]
    names_clusters: bool


def harm_of(tables: Tables, period: Period, losses: Sequence[Loss], elections: int | None) -> Harm:
    """What the incidents of a cluster did in the period."""
    lost = [loss for loss in losses if period.since <= loss.elected_at < period.until]
    try:
        rows = tables.rows(period.filled(HARM_DONE, rank=severity_rank()))
        worst = tables.rows(period.filled(WORST, rank=severity_rank()))
    except NotBuilt:
        return Harm(losses=lost, elections=elections, is_built=False)
    return Harm(
        {row["severity"] or "unknown": row["incidents"] for row in rows},
        sum(row["still_open"] for row in rows),
        sum(row["leaderless_ms"] or 0 for row in rows),
        max((row["last_end"] for row in rows if row["last_end"]), default=None),
        worst[0]["summary"] or "" if worst else "",
        lost,
        elections,
        cut_of(tables, period),
    )


def cut_of(tables: Tables, period: Period) -> int:
    """Records that replicas cut in partitions in which no unclean election is known."""
    try:
        return int(tables.rows(period.filled(CUT))[0]["records"] or 0)
    except NotBuilt:
        return 0


def verdict(clusters: Sequence[Told], harms: dict[str, Harm]) -> Verdict | None:
    """The first screen of some clusters, the worst first; `harms` may have more of them.  None if there is no incident."""
    if not any(harm.incidents for harm in harms.values()):
        return None
    is_fleet = len(harms) > 1
    worst = [one for told in clusters for one in told.broken]
    if is_fleet:
        # The worst of each cluster before the second of any.
        worst = [told.broken[place] for place in range(MOST_WORST) for told in clusters if place < len(told.broken)]
    answers = [
        ("Is it over", list(over(clusters, harms, is_fleet))),
        ("Where it began", list(beginnings(clusters, is_fleet))),
        ("Was data lost", list(lost(harms, is_fleet))),
    ]
    return Verdict(sentence(harms), worst[:MOST_WORST], answers, advice(worst[:MOST_WORST]), is_fleet)


def sentence(harms: dict[str, Harm]) -> str:
    """How many incidents there are, how grave, and whether they are over."""
    counts: Counter[str] = Counter()
    for harm in harms.values():
        counts.update(harm.by_severity)
    # In the order in which the queries give them: the gravest first.
    parts = [f"{count_text(n)} {name}" for name, n in counts.items()]
    still = sum(harm.still_open for harm in harms.values())
    end = f"{count_text(still)} with no end in the logs" if still else "all over"
    what = f"{listed(parts)} incident{'' if sum(counts.values()) == 1 else 's'}, {'over' if end == 'all over' and sum(counts.values()) == 1 else end}."
    if len(harms) == 1:
        return what
    hit = sum(harm.incidents > 0 for harm in harms.values())
    return f"{count_text(hit)} of {count_text(len(harms))} clusters had incidents: {what}"


def over(clusters: Sequence[Told], harms: dict[str, Harm], is_fleet: bool) -> Iterator[str]:
    """Whether the incidents have ended, and until when anything is known."""
    still = {name: harm.still_open for name, harm in harms.items() if harm.still_open}
    if is_fleet and still:
        names = listed([f"{name} ({n})" for name, n in still.items()])
        yield f"Not as far as the logs show: incidents of {names} have no end in them. All others are over."
    elif is_fleet:
        yield "Yes: every incident has its end in the logs. Nothing is known after the last record of a cluster."
    else:
        (told,) = clusters
        known = f"The logs end at {time_text(told.period.until)}; nothing is known after."
        if still:
            yield f"Not as far as the logs show: {count_text(told.harm.still_open)} of {counted(told.harm.incidents, 'incident')} without an end. {known}"
        elif told.harm.last_end:
            yield f"Yes: the last one ended at {time_text(told.harm.last_end)}. {known}"


def beginnings(clusters: Sequence[Told], is_fleet: bool) -> Iterator[str]:
    """The root causes of each cluster, the most frequent first, with the nodes where they were."""
    hit = [told for told in clusters if told.broken]
    for told in hit[:MOST_WORST]:
        causes: dict[str, list[str]] = {}
        for one in told.broken:
            causes.setdefault(one.cause, []).append(one.began)
        parts = [
            f"{cause}{f' {len(those)} times' if len(those) > 1 else ''}{places(those)}"
            for cause, those in sorted(causes.items(), key=by_number)
        ]
        said = listed(parts)
        yield f"{told.period.cluster}: {said}." if is_fleet else f"{said[0].upper()}{said[1:]}."
    if len(hit) > MOST_WORST:
        yield f"{count_text(len(hit) - MOST_WORST)} further clusters: see below."


def by_number(causes: tuple[str, list[str]]) -> int:
    return -len(causes[1])


def places(began: Sequence[str]) -> str:
    """' (nodes 2 and 3)', each once; empty if none is known."""
    names = list(dict.fromkeys(filter(None, began)))
    numbers = sorted((name.removeprefix("node ") for name in names if name.startswith("node ")), key=lambda number: (len(number), number))
    others = [name for name in names if not name.startswith("node ")]
    said = listed([*([f"node{'s' if len(numbers) > 1 else ''} {listed(numbers)}"] if numbers else []), *others])
    return f" ({said})" if said else ""


def lost(harms: dict[str, Harm], is_fleet: bool) -> Iterator[str]:
    """Whether records may be lost: what replicas that were not in sync cost, and what others cut."""
    hit = {name: harm for name, harm in harms.items() if harm.losses}
    for name, harm in hit.items():
        partitions = listed(sorted({loss.partition for loss in harm.losses}))
        records = (
            f"records, {harm.lost}," if harm.lost == "number unknown" else f"up to {harm.lost} record{'' if harm.lost == '1' else 's'}"
        )
        yield f"{f'{name}: ' if is_fleet else ''}Perhaps: {records} of {partitions}, where a replica that was not in sync became leader."
    rest = [harm for harm in harms.values() if not harm.losses]
    elections = sum(harm.elections or 0 for harm in rest)
    if elections:
        yield f"{'Elsewhere not' if hit else 'Not'} that the logs show: in {counted(elections, 'election')} no replica that was not in sync became leader."
    unknown = [name for name, harm in harms.items() if not harm.losses and not harm.elections and harm.incidents]
    if unknown:
        of = f" of {listed(unknown)}" if is_fleet else ""
        yield f"Unknown{of}: no log names an election of a leader (controller.log, state-change.log)."
    cut = sum(harm.cut for harm in harms.values())
    if cut:
        where = "In other partitions" if hit else "But"
        yield f"{where} followers cut {counted(cut, 'record')} that had not reached all of them: lost only to producers with acks=0 or 1."


def advice(worst: Sequence[Broken]) -> list[Advice]:
    """What to do about the worst, like advice once."""
    where = {(remedy.entry, remedy.text): one for one in reversed(worst) for remedy in reversed(one.remedies)}
    said = [(remedy, where[remedy.entry, remedy.text]) for remedy in first_of(remedy for one in worst for remedy in one.remedies)]
    return [Advice(one.cluster, remedy.title, remedy.text, one.anchor) for remedy, one in said]


def leaderless(harm: Harm) -> str:
    """Time without leaders, summed over partitions."""
    return duration_text(harm.leaderless_ms) if harm.is_built else "–"
