"""Where the dbt project is: the repository in a checkout, `chronicle/dbt` in an installation."""

from __future__ import annotations

from pathlib import Path

from ingestion.cache import IS_CHECKOUT, ROOT

PROJECT = ROOT if IS_CHECKOUT else Path(__file__).resolve().parent / "dbt"
# Schemas of published tables, by the beginning of a model's name.
PUBLISHED_IN = {"bridge": "marts", "dim": "marts", "fct": "marts", "rpt": "reports"}


def version() -> str:
    """The version of this code: of the checkout it is in, else of the installed package."""
    import tomllib
    from importlib import metadata

    if IS_CHECKOUT:
        return str(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])
    return metadata.version("kafka-chronicle")
