"""The columns of daily reports that follow from `macros/daily_measures.sql`: `python -m tests.measures` writes them into the reports' .yml."""

from __future__ import annotations

import re
from typing import Any

import jinja2
import yaml

from chronicle.project import PROJECT

REPORTS = PROJECT / "models/reports/days"
# The column before the measures, and the end of each measure's description.
PLACES = {
    "rpt_cluster_daily": ("partition_observed_ms", ". Null if the day is unknown."),
    "rpt_node_daily": ("unclean_shutdowns", ". Null if the day is unknown."),
    "rpt_fleet_daily": ("partition_observed_ms", "; null if all clusters are unknown."),
}
# SQL keywords that measures use.
WORDS = {"and", "as", "cast", "date", "in", "is", "not", "null", "or"}


def rows_of(macro: str) -> list[dict[str, Any]]:
    """What a macro of `macros/daily_measures.sql` returns."""
    found: list[dict[str, Any]] = []
    macros = jinja2.Environment().from_string((PROJECT / "macros/daily_measures.sql").read_text(encoding="utf-8"), {"return": found.extend})
    getattr(macros.module, macro)()
    return found


def daily_measures() -> list[dict[str, Any]]:
    """The measures of the reports of clusters and of the fleet."""
    return rows_of("daily_measures")


def measures_of_each_node() -> list[dict[str, Any]]:
    """The measures that nodes alone have."""
    return rows_of("measures_of_each_node")


def unknown_names(row: dict[str, Any]) -> set[str]:
    """Names in the expressions of a measure that are not columns in its fact's .yml."""
    (place,) = (PROJECT / "models").rglob(f"{row['fact']}.yml")
    columns = {column["name"] for column in yaml.safe_load(place.read_text(encoding="utf-8"))["models"][0]["columns"]}
    said = " ".join(str(row[key]) for key in ("day", "started_at", "ended_at", "value", "where", "node", "each") if key in row)
    return set(re.findall(r"\b[a-z_]\w*", re.sub(r"'[^']*'", "", said))) - columns - WORDS


def measures_of(report: str) -> list[dict[str, Any]]:
    """The measures in a report, as they are called there: nodes have none of those that are only about a cluster."""
    if report != "rpt_node_daily":
        return daily_measures()
    return [row | row.get("of_node", {}) for row in daily_measures() if row.get("node") != "null"] + measures_of_each_node()


def with_columns(report: str, text: str) -> str:
    """A report's .yml with the columns of its measures replaced: all up to the first that is not a bigint."""
    before, goes_on = PLACES[report]
    head, mark, rest = text.partition(f"      - name: {before}\n")
    own, *columns = rest.split("      - name: ")
    kept = next((at for at, column in enumerate(columns) if "data_type: bigint\n" not in column), len(columns))
    made = [f'{row["name"]}\n        data_type: bigint\n        description: "{row["means"]}{goes_on}"\n' for row in measures_of(report)]
    return head + mark + "      - name: ".join([own, *made, *columns[kept:]])


def main() -> None:
    for report in PLACES:
        path = REPORTS / f"{report}.yml"
        path.write_text(with_columns(report, path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
