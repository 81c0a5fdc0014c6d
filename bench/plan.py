"""What a generated cluster has, and how often its incidents happen."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Plan:
    """Sizes of a cluster, and rates per day of the whole of it.

    `single`: partitions with one replica, which lose their leader whenever their broker stops; `offsets`: partitions of `__consumer_offsets`;
    `rolls`: segments that partitions roll; `flaps`: followers that fall behind; `expiries`: brokers that are frozen for longer than their
    session lives; `kills`: brokers that die; `roll_days`: days from one rolling restart to the next (0: none); `level`: the least that the
    controller's log has; `balance_minutes`: from one round of the controller's balancer to the next; `expiry_minutes`: from one round of
    the group coordinators, which drop expired offsets, to the next (tens of minutes).
    """

    brokers: int = 3
    topics: int = 20
    partitions: int = 12
    single: int = 6
    offsets: int = 50
    groups: int = 40
    rolls: float = 330
    cleanings: float = 120
    rebalances: float = 120
    flaps: float = 3
    expiries: float = 0.1
    kills: float = 0.02
    topics_made: float = 0.15
    roll_days: int = 21
    level: str = "TRACE"
    balance_minutes: int = 5
    expiry_minutes: int = 10

    @property
    def nodes(self) -> tuple[int, ...]:
        return tuple(range(1, self.brokers + 1))


# One broker's log of 300 partitions whose cluster has something to tell every day.
BUSY = Plan(roll_days=18, flaps=10, expiries=0.7, kills=0.08, rolls=60, cleanings=40, rebalances=80)
# A cluster of ten brokers, with all of their logs.
TEN = Plan(
    brokers=10, topics=40, roll_days=18, flaps=20, expiries=0.7, kills=0.08, rolls=300, cleanings=200, rebalances=200,
)  # fmt: skip
# A small cluster of which a year is some 50,000 records: what a fleet of hundreds is made of.
SMALL = Plan(
    topics=4, partitions=6, single=2, offsets=10, groups=4, rolls=3, cleanings=1, rebalances=4, flaps=0.3, expiries=0.03, kills=0.01,
    topics_made=0.02, roll_days=45, level="INFO", balance_minutes=120, expiry_minutes=720,
)  # fmt: skip
PLANS = {"plain": Plan(), "busy": BUSY, "ten": TEN, "small": SMALL}
