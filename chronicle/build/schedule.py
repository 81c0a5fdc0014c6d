"""The order in which models are built: each after those it reads, and of those that are ready the most urgent first."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from graphlib import TopologicalSorter


class Schedule:
    """`parents`: by model those it reads; `urgency`: by model how much waits for it; `views`: models that take no time: readers create them."""

    def __init__(self, parents: Mapping[str, Collection[str]], urgency: Mapping[str, int], views: Collection[str]) -> None:
        self._parents, self._urgency, self._views = parents, urgency, views
        self._order = TopologicalSorter(parents)
        self._order.prepare()
        self._ready: list[str] = []
        self._lost: set[str] = set()

    @property
    def is_active(self) -> bool:
        """Whether there is anything left to be built or waited for."""
        return self._order.is_active()

    def next(self) -> str | None:
        """The most urgent model that can be built now.  Ask only when one can be started: a more urgent one may become ready before that."""
        while names := self._order.get_ready():
            for name in names:
                if self._lost.intersection(self._parents[name]):
                    self.done(name, failed=True)
                elif name in self._views:
                    self.done(name)
                else:
                    self._ready.append(name)
        self._ready.sort(key=self._urgency.__getitem__)
        return self._ready.pop() if self._ready else None

    def done(self, name: str, *, failed: bool = False) -> None:
        """Note that a model is done; those downstream of a failed one are not tried."""
        if failed:
            self._lost.add(name)
        self._order.done(name)
