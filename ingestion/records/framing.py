"""Which layout frames some lines: of those that fit, the one under which the catalogue recognises most.

No Spark here.  A layout with little of its own (time, level, message) fits lines of other layouts too, and then takes a logger or a thread for a
part of the message; what is recognised tells them apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ingestion.reading.catalogue_files import CATALOGUE, read_yaml
from ingestion.recognition.recognise import catalogue
from ingestion.records.envelope import Envelope, envelopes, find_envelope
from ingestion.records.patterns import Cut, Pattern, compile_pattern

# Lines by which layouts are compared, and the share of them that is enough not to ask for others.
LOOKED_AT = 60
ENOUGH = 0.3


@dataclass(frozen=True)
class Framing:
    """How lines are framed: by an envelope or a pattern.  `lines`: how many of those looked at; `recognised`: how many the catalogue knows."""

    envelope: Envelope | None = None
    pattern: Pattern | None = None
    lines: int = 0
    recognised: int = 0

    @property
    def is_understood(self) -> bool:
        return self.recognised >= max(1, ENOUGH * min(self.lines, LOOKED_AT))


@lru_cache(maxsize=1)
def patterns() -> tuple[Pattern, ...]:
    """The patterns of `envelopes.yml`."""
    content = read_yaml(CATALOGUE / "envelopes.yml")
    return tuple(compile_pattern(entry["pattern"], name, needs_time=False) for name, entry in content.items() if "pattern" in entry)


def by_envelope(envelope: Envelope, lines: Iterable[bytes]) -> Framing:
    """What an envelope makes of some lines; it looks no further once it is understood."""
    framing, known = Framing(envelope), catalogue()
    for line in lines:
        if not envelope.begins(line):
            continue
        cut = envelope.cut(line)
        if cut is None:
            continue
        logger = line[slice(*cut["logger"])] if "logger" in cut else None
        framing = Framing(
            envelope, None, framing.lines + 1, framing.recognised + known.knows(logger, line[slice(*cut["message"])].rstrip(b"\r"))
        )
        if framing.lines >= LOOKED_AT or framing.recognised > ENOUGH * LOOKED_AT or (framing.lines == 3 and framing.recognised == 3):
            break
    return framing


def by_pattern(pattern: Pattern, lines: Iterable[str], needs_level: bool = True) -> Framing:
    """What a pattern makes of some lines."""
    cuts = [cut for cut in map(pattern.cut, lines) if cut is not None and (cut.level is not None or not needs_level)]
    return Framing(None, pattern, len(cuts), sum(map(is_known, cuts[:LOOKED_AT])))


def is_known(cut: Cut) -> bool:
    """Whether the catalogue recognises the message of a line."""
    return catalogue().knows(cut.logger.encode() if cut.logger else None, cut.message.encode("utf-8", "replace"))


def find_framing(lines: Sequence[str], derived: str | None = None) -> Framing:
    """The framing of some lines, with neither envelope nor pattern if nothing frames them.  `derived`: a pattern that was derived from the file."""
    lines = [line for line in lines if line.strip()]
    found = find_envelope("\n".join(lines).encode("utf-8", "replace"))
    plain = best_envelope(found, lines) if found else Framing()
    if plain.is_understood and not derived:
        return plain
    choices = [by_pattern(compile_pattern(derived, "derived", needs_time=False), lines, needs_level=False)] if derived else []
    choices += [by_pattern(pattern, lines) for pattern in patterns()]
    # Without a time in it, a layout fits many a text that is no log: half of its lines must be known.
    choices = [one for one in choices if one.pattern and (one.pattern.has_time or 2 * one.recognised >= max(1, min(one.lines, LOOKED_AT)))]
    best = max(choices, key=lambda one: (one.recognised, one.lines), default=Framing())
    if plain.envelope is None:
        return best if best.lines else Framing()
    # A layout that fits but a few of the lines may understand these by chance.
    is_better = best.is_understood and best.recognised > 2 * plain.recognised and 2 * best.lines >= plain.lines
    return best if is_better else plain


def best_envelope(found: Envelope, lines: Sequence[str]) -> Framing:
    """Of the envelopes that begin lines as the given one does, the one under which most is recognised."""
    texts = [line.encode("utf-8", "replace") for line in lines]
    best = by_envelope(found, texts)
    if best.is_understood:
        return best
    others = (by_envelope(other, texts) for other in envelopes() if other.template == found.template and other is not found)
    return max([best, *others], key=lambda one: one.recognised)


def any_framed(lines: Sequence[str]) -> bool:
    """Whether a layout with a time frames any of some lines."""
    if find_envelope("\n".join(lines).encode("utf-8", "replace")) is not None:
        return True
    timed = [pattern for pattern in patterns() if pattern.has_time]
    return any(cut is not None and cut.level is not None for line in lines for cut in (pattern.cut(line) for pattern in timed))


def is_framed(text: str) -> bool:
    """Whether a text is itself a line of a known layout."""
    return find_envelope(text.split("\n", 1)[0].encode("utf-8", "replace")) is not None
