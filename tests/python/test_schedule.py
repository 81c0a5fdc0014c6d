"""Models are made after those they read, the most urgent first, and models that read a failed one are not tried."""

from __future__ import annotations

from chronicle.build.schedule import Schedule

# events are read by a view and a chain of three, seeds by a report.
PARENTS = {
    "events": set[str](),
    "seed": set[str](),
    "seen": {"events"},
    "steps": {"seen"},
    "facts": {"steps", "seed"},
    "report": {"seed"},
    "other_report": {"seed"},
}
URGENCY = {"events": 3, "seed": 1, "seen": 2, "steps": 1, "facts": 0, "report": 0, "other_report": 0}


def schedule() -> Schedule:
    return Schedule(PARENTS, URGENCY, {"seen"})


def test_what_becomes_ready_later_goes_before_what_waits() -> None:
    order = schedule()
    assert [order.next(), order.next(), order.next()] == ["events", "seed", None]
    order.done("seed")
    assert order.next() in ("report", "other_report")
    # A view takes no time; the steps that read it are more urgent than the other report, which was ready before.
    order.done("events")
    assert order.next() == "steps"


def test_all_are_made_once_and_after_those_they_read() -> None:
    order, made = schedule(), list[str]()
    while order.is_active:
        while name := order.next():
            assert PARENTS[name] <= {*made, "seen"}
            made.append(name)
            order.done(name)
    assert sorted(made) == sorted(PARENTS.keys() - {"seen"})


def test_what_reads_one_that_failed_is_not_tried() -> None:
    order, made = schedule(), list[str]()
    while order.is_active:
        while name := order.next():
            made.append(name)
            order.done(name, failed=name == "events")
    assert sorted(made) == ["events", "other_report", "report", "seed"]
