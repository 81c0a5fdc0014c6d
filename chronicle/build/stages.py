"""The stages of a build by the local engine: a list, which `chronicle build --explain` prints before `local.py` goes through it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chronicle.build.changes import Arrivals
from chronicle.build.compiled import Model, Project
from chronicle.build.tables import BRONZE

# Why a model is built whatever arrived: which of its rows are of the clusters that are built cannot be told.
NO_CLUSTER = "rows of no cluster"


@dataclass(frozen=True)
class Prepare:
    """Delete or move aside the tables that are rebuilt, and register those that are read.

    clusters: whose rows are rebuilt (None: of all)
    is_anew: incremental tables are rebuilt whole
    is_of_all: all models are built
    """

    clusters: tuple[str, ...] | None
    is_anew: bool
    is_of_all: bool


@dataclass(frozen=True)
class BuildModel:
    """Build a model, unless it turns out that nothing which it reads has changed.

    may_change: what of it may (None: it is built in any case)
    """

    model: Model
    may_change: tuple[str, ...] | None = None


@dataclass(frozen=True)
class BuildModels:
    """Build models, each when all that it reads is built.

    models: those that may have to be built
    left: how many stay as they are, because nothing that arrived feeds them
    """

    models: tuple[BuildModel, ...]
    left: int = 0


@dataclass(frozen=True)
class RunTests:
    """Let dbt test the new tables.

    selection: as options of dbt
    """

    selection: tuple[str, ...]


@dataclass(frozen=True)
class Publish:
    """Commit the marts that were built, so that readers see all of them at once.

    marts: those that may have been built
    clusters: as in `Prepare`
    """

    marts: tuple[Model, ...]
    clusters: tuple[str, ...] | None


@dataclass(frozen=True)
class Keep:
    """Note what the tables were made from, so that the next build is of what arrives after it."""


Stage = Prepare | BuildModels | RunTests | Publish | Keep


def build_models(project: Project, wanted: set[str], arrived: Arrivals | None) -> BuildModels:
    """The models of these names, of which a partial build leaves those that nothing new feeds."""
    models = [model for name, model in project.models.items() if name in wanted]
    if arrived is None:
        return BuildModels(tuple(map(BuildModel, models)))
    changed, fed = {BRONZE + name for name in arrived.tables} | arrived.seeds, project.fed()
    found: list[BuildModel] = []
    for model in models:
        is_of_none = not (arrived.is_same or model.is_incremental or "cluster_id" in model.columns) and model.name in fed
        # The seeds' tables are not kept.
        reasons = (NO_CLUSTER,) if is_of_none else tuple(sorted(changed.intersection(model.columns_read)))
        if reasons or model.kind == "seed":
            found.append(BuildModel(model, reasons or None))
            changed |= {model.name} if reasons else set()
    return BuildModels(tuple(found), len(models) - len(found))


def explained(stages: Sequence[Stage]) -> Iterator[str]:
    """A line for each stage, for people."""
    for stage in stages:
        match stage:
            case Prepare(clusters, is_anew):
                of = "all clusters" if clusters is None else f"clusters {', '.join(clusters)}; rows of others stay"
                yield f"prepare: {of}{', tables by day whole' if is_anew else ''}"
            case BuildModels(models, left) if left or any(one.may_change for one in models):
                fed = sorted({name for one in models for name in one.may_change or () if name.startswith(BRONZE)})
                yield f"build: at most {len(models)} models, which {', '.join(fed) or 'changed seeds'} may feed; {left} stay"
            case BuildModels(models):
                yield f"build: {len(models)} models"
            case RunTests():
                yield "test: data and unit tests of what was built"
            case Publish(marts):
                yield f"publish: what has changed of {len(marts)} marts"
            case Keep():
                yield "keep: what the tables were made from"
