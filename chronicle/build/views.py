"""Views and steps that outlast a build."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from chronicle.build import internals
from chronicle.build.changes import project_hash
from chronicle.build.dbt_runs import BuildFailed, one_line, options, parse, results_of
from chronicle.project import PROJECT
from chronicle.spark.catalog import register_views, save_views
from chronicle.spark.internals.view_text import view_text
from ingestion.warehouse import Warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from chronicle.build.internals import Manifest, Model


def keep_steps(spark: SparkSession, place: Warehouse, steps: list[Model]) -> None:
    """Put the tables of steps aside, for what they hold of the clusters that are not built."""
    shutil.rmtree(place.kept_steps, ignore_errors=True)
    for step in steps:
        folder = Path(place.table(step.schema, step.alias))
        if folder.is_dir():
            (place.kept_steps / step.schema).mkdir(parents=True, exist_ok=True)
            folder.rename(place.kept_steps / step.schema / step.alias)
            spark.sql(f"drop table if exists {step.schema}.`{step.alias}`")


def keep_views(spark: SparkSession, place: Warehouse, manifest: Manifest, texts: dict[tuple[str, str], str] | None = None) -> None:
    """Keep the SQL of the catalog's views, or of those passed in, in the order of their dependencies."""
    texts = dict(texts or {})
    for schema in ("staging", "intermediate"):
        for row in spark.sql(f"show views in {schema}").collect():
            if not row.isTemporary:
                texts.setdefault((schema, row.viewName), view_text(spark, schema, row.viewName))
    save_views(place, [(schema, name, texts[schema, name]) for schema, name in internals.in_order(manifest) if (schema, name) in texts])


def make_views(spark: SparkSession, place: Warehouse, project: Path = PROJECT) -> None:
    """Compile the models that builds take into the SQL of those that read them, so that each can be asked as a view."""
    made_for = place.work / "views-of"
    if not place.views.exists() or (made_for.exists() and made_for.read_text() == project_hash(project)):
        return
    from dbt.cli.main import dbtRunner

    register_views(spark, place)
    manifest = parse(place, project, inline=False)
    wanted = ["compile", *options(place, project, inline=False), "--select", "config.materialized:view"]
    done = dbtRunner(manifest=manifest).invoke(wanted)
    if not done.success or done.result is None:
        raise BuildFailed(f"dbt: {one_line(str(done.exception))}")
    compiled = {(result.node.schema, result.node.alias): result.node.compiled_code for result in results_of(done)}
    keep_views(spark, place, manifest, compiled)
    made_for.write_text(project_hash(project))
