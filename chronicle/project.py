"""Where the dbt project is: the repository in a checkout, `chronicle/dbt` in an installation."""

from __future__ import annotations

from pathlib import Path

from ingestion.cache import IS_CHECKOUT, ROOT

PROJECT = ROOT if IS_CHECKOUT else Path(__file__).resolve().parent / "dbt"
