"""dbt with all models over thrift makes the same tables as `chronicle build`."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.made_by_dbt import BUILD, differences, over_thrift


def test_all_models_over_thrift(orders: Path, tmp_path: Path) -> None:
    made = tmp_path / "warehouse"
    shutil.copytree(orders / "bronze", made / "bronze")
    over_thrift(made, tmp_path, *BUILD)
    assert differences(orders, made) == []
