"""The keys of steps are found in their .yml, and duplicate keys in their rows."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake

from tests import keys
from tests.keys import Key


def test_every_step_with_a_key_test_is_taken() -> None:
    found = list(keys.keys())
    texts = [path.read_text(encoding="utf-8") for folder in keys.STEPS for path in (keys.MODELS / folder).rglob("*.yml")]
    assert len(found) == sum(text.count("- unique_key:") for text in texts)
    assert Key("stg_logs__records", ("cluster_id", "source_id", "byte_offset"), "outcome <> 'source_cut'") in found


@pytest.mark.parametrize("kind", ["parquet", "delta"])
def test_a_key_that_is_there_twice_is_found(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = pa.table({"cluster_id": ["a", "a", "b", None, None], "node_id": [1, 1, 1, 2, 2], "is_cut": [False, True, False, False, False]})
    folder = tmp_path / "int_steps"
    if kind == "delta":
        write_deltalake(folder, pa.concat_tables([rows, rows]))
        write_deltalake(folder, rows, mode="overwrite")
    else:
        folder.mkdir()
        pq.write_table(rows, folder / "part-0.parquet")
    wanted = [
        Key("int_steps", ("cluster_id", "node_id"), None),
        Key("int_steps", ("cluster_id", "node_id", "is_cut"), "cluster_id is not null"),
    ]
    monkeypatch.setattr(keys, "keys", lambda: wanted)
    assert keys.doubled({"int_steps": folder}) == {"int_steps cluster_id, node_id": [("a", 1, 2), (None, 2, 2)]}
