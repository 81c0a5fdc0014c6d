"""Settings that Spark and Delta do not document, or call legacy.

Relies on: their names, which are not checked when they are set; a setting that no longer exists is ignored.  Read in: Spark 4.2.0, Delta 4.4.0.
Breaks: nothing visibly, except for `catalog.update`: builds become slower.
Brings: measured in `docs/upgrading.md`.
"""

from __future__ import annotations

# A text that Delta keeps with each commit of a session; Delta's documentation has it.
TEXT_OF_COMMITS = "spark.databricks.delta.commitInfo.userMetadata"

# For a session on few cores.
ON_FEW_CORES = {
    # By default Delta takes 50 tasks to read the log of a table.
    "spark.databricks.delta.snapshotPartitions": "1",
}

# For every session of the local engine.
ALWAYS = {
    **ON_FEW_CORES,
    # Otherwise the catalog holds an empty schema, and BI tools see tables without columns.
    "spark.databricks.delta.catalog.update.enabled": "true",
    # Listeners get the text of the plan of each execution, of which nothing reads more than a line.
    "spark.sql.ui.explainMode": "simple",
    # The default; but if it is not set, Spark looks whether it is being tested, for each value that an interpreted expression reads from a map.
    "spark.sql.types.framework.enabled": "false",
}

# With `LEGACY` Spark replaces each name of a `with` by its query, which cannot be done where a query reads itself. If one `with` is inside another and
# both have the same name, the outer one counts; no model has a `with` inside another (`tests/python/test_template.py`).
WITH = "spark.sql.legacy.ctePrecedencePolicy"
WRITTEN_IN, CARRIED_ALONG = "LEGACY", "CORRECTED"

# For builds, beside what `chronicle/build/dbt_runs.py` sets.
WHILE_BUILDING = {
    # Code for each of hundreds of small plans costs more to generate and compile than the rows do; `chronicle/build/generated_code.py`
    # turns it on for statements that read many.
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    # CTEs are inlined into the plan where they are read; otherwise they are carried along, and every plan that holds them is
    # checked and renewed for each of them.
    WITH: WRITTEN_IN,
}

# For a server, which lives long and gets statements of any shape.
WHILE_SERVING = {
    # What the parser learned of statements stays: after 14,000 odd ones 150 of 512 MB. Beyond a tenth of the heap it is forgotten.
    "spark.sql.parser.manageParserCaches": "true",
    "spark.sql.parser.parserDfaCacheFlushRatio": "10",
}
