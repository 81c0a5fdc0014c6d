"""Time grows linearly with the length of a text: every pattern for foreign text, on texts made to be slow for it."""

from __future__ import annotations

import itertools
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ingestion.reading import linear
from ingestion.recognition.forms import MARK

sys.path.insert(0, str(Path(__file__).parent))
import hostile

SMALL, LARGE = 2_000, 6_000
# The most that a linear pattern takes for SMALL on a slow machine; if it takes longer, twice the text may take at most three times as long.
SLOW_SECONDS, RATIO = 0.0003, 3.0
# How many of a pattern's slowest texts are tried again at twice the length.
MOST = 4
# The most that `re` may take for a line passed to it by `for_lines`.
SHORT_SECONDS = 0.04


class TooSlow(Exception):
    pass


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise TooSlow after this much processor time."""

    def stop(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def fault_of(found: hostile.Found) -> str | None:
    """Why a pattern is not linear; None if it is."""
    tree = hostile.Tree(found.text, found.flags)
    for use in found.methods:
        searched = use in hostile.SEARCHES
        if isinstance(found.pattern, linear.ForLines):
            for text in tree.texts(linear.SHORT - 20, searched):
                if (
                    hostile.took(found.pattern._short, use, text) > SHORT_SECONDS
                    and hostile.took(found.pattern._short, use, text, 3) > SHORT_SECONDS
                ):
                    return f"{use}: {SHORT_SECONDS} s and more for {len(text)} characters: {text[:80]!r}"
            continue
        slow = []
        for number, text in enumerate(tree.texts(SMALL, searched)):
            seconds = hostile.took(found.pattern, use, found.as_text(text))
            if seconds > SLOW_SECONDS:
                slow.append((seconds, number))
        for _, number in sorted(slow, reverse=True)[:MOST]:
            fault = grows(found, use, tree, number)
            if fault:
                return fault
    return None


def grows(found: hostile.Found, use: str, tree: hostile.Tree, number: int) -> str | None:
    """Whether one of the texts takes too long when it is twice as long; measured again before it is reported."""
    half, whole = (
        found.as_text(next(itertools.islice(tree.texts(size, use in hostile.SEARCHES), number, None))) for size in (LARGE // 2, LARGE)
    )
    for _ in range(4):
        first, second = hostile.took(found.pattern, use, half, 5), hostile.took(found.pattern, use, whole, 5)
        if second < 0.001 or second < RATIO * first:
            return None
    return f"{use}: {first:.4f} s, then {second:.4f} s for twice {half[:80]!r}…"


def named() -> list[hostile.Found]:
    # The pattern for marks only sees the catalogue's own lines.
    return [found for found in hostile.found() if found.pattern is not MARK]


@pytest.mark.long
def test_every_pattern_is_linear() -> None:
    everything = named()
    assert len(everything) > 4500
    faults = []
    for found in everything:
        if hostile.is_re2(found.pattern):
            continue
        try:
            with at_most(20):
                fault = fault_of(found)
        except TooSlow:
            fault = "no end after 20 s"
        if fault:
            faults.append(f"{found.name}: {fault}\n  {found.text!r:.200}")
    assert not faults, "\n".join(faults)


def test_forms_are_compiled_by_re2() -> None:
    made = [found for found in named() if found.name.startswith(("form ",))]
    assert len(made) > 4000
    assert [found.name for found in made if not hostile.is_re2(found.pattern)] == []


@pytest.mark.parametrize("size", [50_000, 100_000])
def test_a_form_of_many_texts_meets_a_long_body(size: int) -> None:
    form = linear.compile(rb"a (.*?) b (.*?) c (.*?) d (.*?)\s*\Z", re.S)
    assert hostile.took(form, "match", b"a " + b" b  c " * (size // 6) + b"\n", 2) < 0.3


@pytest.mark.long
def test_the_quadratic_is_found() -> None:
    for text, use in ((r"\s*x", "search"), (r"(\S.*?)\s+\d+%", "fullmatch"), (r"--[\w\-]*secret", "search"), (r"(a+)+b", "match")):
        with pytest.raises((AssertionError, TooSlow)), at_most(1):
            assert fault_of(hostile.Found("own", text, 0, (use,), re.compile(text))) is None


@pytest.mark.parametrize(
    "pattern",
    [
        r"\s+(\S.*?)\s*",
        r"[\w.\-]+-\d+$",
        r"(?P<name>[^\s,]+), (?P<rest>.*?)(?: \[(\d+)\])?\Z",
        r"[^]a]+|[]a]",
        r"(\w+)=(\W+)\S\D",
        r"(?:^|/)x\.\d*",
    ],
)
def test_both_engines_agree(pattern: str) -> None:
    texts = [
        "",
        "a",
        " a b ",
        "topic-1",
        "é-٣",
        "x\u3000y",
        "a\x0bb",
        "a, b [3]",
        "a, b [x]",
        "]]a]",
        "k=--x-",
        "/x.12",
        "a\n",
        "\x1c x\x85 ",
    ]
    for text in texts:
        for use in ("match", "search", "fullmatch"):
            ours, theirs = getattr(linear.compile(pattern), use)(text), getattr(re.compile(pattern), use)(text)
            if "$" in pattern and text.endswith("\n"):
                continue
            assert (ours and (ours.span(), ours.groups())) == (theirs and (theirs.span(), theirs.groups())), (text, use)


def test_what_re2_has_not_is_an_error() -> None:
    with pytest.raises(ValueError, match="without lookaround"):
        linear.compile(r"(?=a)b")
