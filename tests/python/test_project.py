"""The dbt project by its manifest: which layer reads which, and that nothing lacks a description, contract or test."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterator
from graphlib import TopologicalSorter
from typing import Any

from sqlglot import exp, parse_one

from chronicle.project import PROJECT
from tests import architecture

# The layers (folders of models) that each layer reads. Incidents are made from facts, and a day's measures from facts and incidents.
READS = {
    "staging": {"source", "seed", "staging"},
    "intermediate": {"seed", "staging", "intermediate"},
    "marts": {"seed", "intermediate"},
    "incidents/intermediate": {"seed", "intermediate", "marts", "incidents/intermediate"},
    "incidents/marts": {"seed", "marts", "incidents/intermediate"},
    "days": {"intermediate", "marts", "incidents/marts", "days", "days/marts"},
    "days/marts": {"intermediate", "marts", "incidents/intermediate", "days"},
    "reports": {"intermediate", "marts", "incidents/marts", "days", "days/marts", "reports"},
    "bridges": {"marts", "incidents/marts"},
}
# The number of models on the longest path from bronze to a report, and the median depth. Lower these when steps are merged.
DEEPEST, MEDIAN_DEPTH = 26, 6
# Coverage is made for the days that arrivals touch; they are queried from bronze when the model is compiled.
TOUCHED_DAYS = {"int_logs__coverage"}

# Dimensions that take from facts the members of which no step knows anything else.
HOLDS_WHAT_FACTS_NAME = {"dim_groups", "dim_nodes", "dim_partitions", "dim_topics"}


def models(manifest: Any, *layers: str) -> Iterator[Any]:
    for node in manifest.nodes.values():
        if str(node.resource_type) == "model" and (not layers or layer(node) in layers):
            yield node


def layer(node: Any) -> str:
    if str(node.resource_type) != "model":
        return str(node.resource_type)
    folders = node.path.split("/")
    return "/".join(folders[:2]) if folders[0] == "incidents" or folders[:2] == ["days", "marts"] else str(folders[0])


def marts(manifest: Any) -> Iterator[Any]:
    """The facts and dimensions, those about incidents and days among them, and what leads from one to the other."""
    return models(manifest, "marts", "incidents/marts", "days/marts", "bridges")


def parents(manifest: Any, node: Any) -> Iterator[Any]:
    for key in node.depends_on.nodes:
        yield manifest.sources.get(key) or manifest.nodes[key]


def kinds_of_test(manifest: Any, node: Any) -> set[str]:
    kinds = set()
    for test in manifest.nodes.values():
        if str(test.resource_type) == "test" and node.unique_id in test.depends_on.nodes:
            metadata = getattr(test, "test_metadata", None)
            kinds.add(metadata.name if metadata else test.name)
    return kinds


def test_questions_and_alerts_read_marts_and_reports_alone(manifest: Any) -> None:
    questions = [node for node in manifest.nodes.values() if str(node.resource_type) == "analysis"]
    off = [nodes[0] for nodes in manifest.disabled.values() if "alert" in nodes[0].tags]
    assert len(questions) == len(list((PROJECT / "analyses").glob("*.sql")))
    assert all(node.description and node.config.meta["asks"] for node in questions)
    assert len(off) == len(list((PROJECT / "tests/alerts").glob("*.sql")))
    assert [node.name for node in manifest.nodes.values() if "alert" in node.tags] == []
    read = {parent.name for node in questions for parent in parents(manifest, node)} | {ref.name for node in off for ref in node.refs}
    assert {name.split("_")[0] for name in read} == {"bridge", "dim", "fct", "rpt"}


def test_every_layer_reads_only_the_one_before(manifest: Any) -> None:
    wrong = [
        (node.name, parent.name)
        for node in models(manifest)
        for parent in parents(manifest, node)
        if layer(parent) not in READS[layer(node)]
        and not (node.name in TOUCHED_DAYS and layer(parent) == "source")
        and not (node.name in HOLDS_WHAT_FACTS_NAME and layer(parent) == "marts")
    ]
    assert wrong == []


def test_a_subject_is_entered_by_its_doors(manifest: Any) -> None:
    """dbt refuses references to private steps of another group; this tests that every model has a group and every door is used."""
    ungrouped = [node.name for node in models(manifest) if node.group is None]
    ungrouped += [node.name for node in manifest.nodes.values() if node.name.startswith("reconcile_") and node.group is None]
    assert ungrouped == []
    wrong = [(node.name, node.group) for node in models(manifest) if node.group not in node.original_file_path.split("/")]
    assert wrong == []
    open_to_others = {node.name for node in models(manifest) if node.access.value == "protected"}
    assert open_to_others == set(architecture.readers(manifest))
    public = {node.name for node in models(manifest) if node.access.value == "public"}
    assert public == {node.name for node in (*marts(manifest), *models(manifest, "reports"))}


def test_a_door_says_its_grain_and_what_it_gives(manifest: Any) -> None:
    doors = [node for node in models(manifest) if node.access.value == "protected"]
    assert len(doors) > 20
    assert [node.name for node in doors if not node.config.meta.get("gives")] == []
    assert [node.name for node in doors if not set(node.config.meta["grain"]) <= set(node.columns)] == []


def test_the_graph_is_no_deeper_than_it_has_to_be(manifest: Any) -> None:
    """Each extra step is one more to read for anyone who asks where a number comes from."""
    known = {node.unique_id: node for node in models(manifest)}
    depth: dict[str, int] = {}
    for key in TopologicalSorter({key: set(node.depends_on.nodes) & set(known) for key, node in known.items()}).static_order():
        depth[key] = 1 + max((depth[parent] for parent in known[key].depends_on.nodes if parent in known), default=0)
    assert max(depth.values()) <= DEEPEST
    assert statistics.median(depth.values()) <= MEDIAN_DEPTH


def test_a_door_and_what_is_stored_have_a_contract(manifest: Any) -> None:
    """The runner checks views and steps against it, and takes from it the columns of a table that cannot have rows."""
    held = [node for node in models(manifest) if node.access.value == "protected" or node.config.materialized == "table"]
    assert len(held) > 40
    assert [node.name for node in held if not node.config.contract.enforced] == []
    assert [f"{node.name}.{column.name}" for node in held for column in node.columns.values() if not column.data_type] == []


def test_the_page_of_the_architecture_is_what_the_manifest_says(manifest: Any) -> None:
    """`python -m tests.architecture` writes it."""
    assert architecture.PAGE.read_text(encoding="utf-8") == architecture.page(manifest), "run: python -m tests.architecture"


def test_staging_that_staging_reads_is_called_base(manifest: Any) -> None:
    read = {parent.name for node in models(manifest, "staging") for parent in parents(manifest, node) if layer(parent) == "staging"}
    assert read == {node.name for node in models(manifest, "staging") if node.name.startswith("base_")}


def test_names_say_the_layer(manifest: Any) -> None:
    forms = {
        "staging": r"(stg|base)_[a-z]+__[a-z_]+",
        "intermediate": r"int_[a-z_]+?__[a-z_]+",
        "marts": r"(dim|fct)_[a-z_]+",
        "incidents/intermediate": r"int_incidents__[a-z_]+",
        "incidents/marts": r"(fct|bridge)_incident[a-z_]+",
        "bridges": r"bridge_[a-z_]+",
        "days": r"int_days__[a-z_]+",
        "days/marts": r"fct_[a-z]+_daily",
        "reports": r"rpt_[a-z_]+",
    }
    assert [node.name for node in models(manifest) if not re.fullmatch(forms[layer(node)], node.name)] == []


# A JVM's words for being out of a resource occur in any message and in the traces below it: no form could cover them all.
FINDS_WORDS_ANYWHERE = {"stg_logs__exhaustions"}


def test_messages_are_recognised_in_ingestion_not_in_sql(manifest: Any) -> None:
    matching = re.compile(
        r"\b(?:rlike|regexp|regexp_\w+)\b|\b(?:contains|instr|locate|position|startswith)\(\s*raw_text|\braw_text\s+(?:not\s+)?i?like\b"
    )
    found = {node.name for node in models(manifest) if matching.search(re.sub(r"--[^\n]*", "", node.raw_code))}
    assert found == FINDS_WORDS_ANYWHERE


# Functions whose value depends on the frame; lag, lead and row numbers have none.
FRAMED = "min|max|sum|count|count_if|avg|first_value|last_value|collect_list|collect_set|max_by|min_by|bool_or|bool_and"
# Times that are unique in each group, because they are in the key of the grouped rows.
UNIQUE_TIMES = {
    ("int_groups__lag_windows", "sampled_at"),
    ("int_metrics__hours", "sampled_at"),
    ("rpt_offsets_topic_daily", "hours.hour_at"),
}


def code_of(node: Any) -> str:
    return re.sub(r"--[^\n]*|\{#.*?#\}", "", str(node.raw_code), flags=re.S)


def inside(code: str, start: int) -> str:
    """The text in the bracket that opens at `start`."""
    depth = 0
    for at in range(start, len(code)):
        depth += {"(": 1, ")": -1}.get(code[at], 0)
        if depth == 0:
            return code[start + 1 : at]
    raise AssertionError(f"no end of the bracket: {code[start : start + 80]}")


def arguments(text: str) -> list[str]:
    """The arguments of a call, split at the commas that are in no bracket."""
    depth, found = 0, [""]
    for letter in text:
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return [argument.strip() for argument in found]


def framed_windows(code: str) -> Iterator[tuple[str, str]]:
    """(function, window) of every aggregate over a window, with the text of windows that have a name."""
    named = {
        match[1]: inside(code, match.end() - 1) for match in re.finditer(r"(?<=[\s,])(\w+)\s+as\s+\((?=\s*(?:partition|order)\s+by)", code)
    }
    for call in re.finditer(rf"\b({FRAMED})\s*\(", code):
        after = call.end() + len(inside(code, call.end() - 1)) + 1
        filtered = re.match(r"\s*filter\s*\(", code[after:])
        if filtered:
            after += filtered.end() + len(inside(code, after + filtered.end() - 1)) + 1
        over = re.match(r"\s*over\b\s*(?:\(|(\w+))", code[after:])
        if over:
            window = over[1] or inside(code, after + over.end() - 1).strip()
            yield call[1], named.get(window, window)


def test_an_ordered_window_says_its_frame(manifest: Any) -> None:
    """The default frame ends with the last row of the same order value, not with the current row."""
    windows = [(node.name, function, window) for node in models(manifest) for function, window in framed_windows(code_of(node))]
    assert len(windows) > 50
    assert [
        found for found in windows if re.search(r"\border\s+by\b", found[2]) and not re.search(r"\b(rows|range)\s+between\b", found[2])
    ] == []


def test_the_row_at_a_time_is_one_row(manifest: Any) -> None:
    """Two lines may have the same time: `max_by` by the time alone takes either."""
    calls = [
        (node.name, arguments(inside(code_of(node), call.end() - 1))[1])
        for node in models(manifest)
        for call in re.finditer(r"\b(?:max_by|min_by)\s*\(", code_of(node))
    ]
    assert len(calls) > 50
    alone = {(name, by) for name, by in calls if re.fullmatch(r"[\w.]+_(at|from|until|date|time)", by)}
    assert alone == UNIQUE_TIMES


def test_arrays_are_sorted_without_a_lambda(manifest: Any) -> None:
    """`array_sort` compares by a lambda, which Spark interprets for each pair of elements (DECISIONS 125)."""
    assert [node.name for node in models(manifest) if re.search(r"\barray_sort\s*\(", code_of(node))] == []


# Columns whose values are words without an order of their own, beside those that a test lists the values of.
WORDS = {"kafka_version", "release", "fact_name", "event_kind"}
# Groups within which the word is always the same.
SAME_WORD = {"rpt_cluster_daily"}


def words_of(manifest: Any) -> set[str]:
    """Columns of text whose values a test lists: kinds, causes, states."""
    found = set(WORDS)
    for test in manifest.nodes.values():
        metadata = getattr(test, "test_metadata", None)
        if metadata and metadata.name == "accepted_values" and all(isinstance(value, str) for value in metadata.kwargs["values"]):
            found.add(str(test.column_name))
    return found


def ranked_by_the_alphabet(sql: str, words: set[str]) -> list[str]:
    """The words of which a query takes the first or the last of the alphabet."""
    name = rf"(?:\w+\.)?(?P<word>{'|'.join(sorted(words))})"
    aggregates = rf"\b(?:max|min|greatest|least)\(\s*{name}\s*[,)](?!\s*(?:over[^)]*\)\s*)?=)"
    chosen = rf"\b(?:max_by|min_by)\([^(),]+,\s*{name}\s*\)"
    return [found["word"] for pattern in (aggregates, chosen) for found in re.finditer(pattern, sql)]


def test_words_have_no_order_by_the_alphabet(manifest: Any) -> None:
    words = words_of(manifest)
    assert {"found_by", "end_kind", "kafka_version"} <= words
    wrong = {node.name: ranked_by_the_alphabet(node.raw_code, words) for node in models(manifest) if node.name not in SAME_WORD}
    assert {name: found for name, found in wrong.items() if found} == {}, "say which value goes first, or use newest_release"


def test_an_order_by_the_alphabet_is_found() -> None:
    words = {"found_by", "kafka_version"}
    assert ranked_by_the_alphabet("max(found_by) as found_by, min(runs.kafka_version) over (x), max_by(a, found_by)", words) == [
        "found_by",
        "kafka_version",
        "found_by",
    ]
    assert ranked_by_the_alphabet("max_by(found_by, array_position(x, found_by)), max(found_by = 'hole'), max(found_by_rank)", words) == []


def test_everything_is_described(manifest: Any) -> None:
    bare = [node.name for node in models(manifest) if not node.description.startswith("One row per")]
    bare += [
        f"{node.name}.{column.name}" for node in models(manifest) for column in node.columns.values() if not column.description.strip()
    ]
    bare += [node.name for node in models(manifest) if not node.columns]
    bare += [node.name for node in manifest.nodes.values() if str(node.resource_type) == "seed" and not node.description]
    bare += [
        macro.name
        for macro in manifest.macros.values()
        if macro.package_name == "chronicle"
        and not macro.description
        and not macro.name.startswith(("spark__", "dbt_spark", "materialization_"))
    ]
    assert bare == []


def test_texts_name_models_that_exist(manifest: Any) -> None:
    known = {node.name for node in models(manifest)}
    files = [path for folder in ("models", "macros", "dbt_project", "tests/data") for path in (PROJECT / folder).rglob("*.*")]
    named = {
        (path.name, name)
        for path in files
        if path.suffix in (".sql", ".yml", ".md")
        for name in re.findall(r"\b(?:base|stg|int)_[a-z]+(?:_[a-z]+)*?__[a-z_]+\b", path.read_text(encoding="utf-8"))
    }
    assert len(named) > 500
    assert [(place, name) for place, name in sorted(named) if name not in known] == []


def test_marts_and_reports_have_a_contract_an_owner_and_a_key(manifest: Any) -> None:
    lacking = []
    for node in (*marts(manifest), *models(manifest, "reports")):
        tests = kinds_of_test(manifest, node)
        if not node.config.contract.enforced or node.config.meta.get("owner") is None or not node.config.meta.get("grain"):
            lacking.append((node.name, "contract, owner or grain"))
        if not {"unique", "unique_key"} & tests:
            lacking.append((node.name, "test of its key"))
        if node.name.startswith("fct_") and "evidence" in node.columns and "sound_fact" not in tests:
            lacking.append((node.name, "sound_fact"))
    assert lacking == []


def counted(manifest: Any) -> Iterator[tuple[Any, set[str]]]:
    """Each model whose rows `reconciles_with` counts, with the nodes that it is compared with."""
    for node in manifest.nodes.values():
        metadata = getattr(node, "test_metadata", None)
        if metadata is not None and metadata.name == "reconciles_with":
            yield manifest.nodes[node.attached_node], set(node.depends_on.nodes) - {node.attached_node}


def test_every_mart_is_reconciled(manifest: Any) -> None:
    singular = {node.name.removeprefix("reconcile_") for node in manifest.nodes.values() if node.name.startswith("reconcile_")}
    found = singular | {model.name for model, _ in counted(manifest)}
    lacking = [node.name for node in marts(manifest) if node.name not in found]
    assert lacking == [], "add `reconciles_with` to the mart's .yml, or tests/data/<subject>/reconcile_<mart>.sql"


def test_no_mart_is_counted_against_its_own_parent(manifest: Any) -> None:
    """That would only show whether the last step lost or doubled rows. A seed is the source itself."""
    wrong = []
    for model, compared in counted(manifest):
        steps = {key for key in compared if not key.startswith("seed.")}
        if model.name.startswith(("fct_", "dim_")) and steps & set(model.depends_on.nodes):
            wrong.append(model.name)
    assert wrong == []


def test_facts_hold_the_columns_that_all_facts_share(manifest: Any) -> None:
    shared = {"cluster_id", "cluster_incarnation", "evidence", "evidence_count", "warnings"}
    about_evidence = {"fct_sources", "fct_parse_coverage_daily", "fct_unrecognised_shapes"}
    # The rows that it sums have the evidence.
    sums = {"fct_partition_daily"}
    lacking = [
        (node.name, sorted(shared - set(node.columns)))
        for node in marts(manifest)
        if node.name.startswith("fct_") and node.name not in about_evidence | sums and shared - set(node.columns)
    ]
    assert lacking == []


# The dimension of each key.
DIMENSIONS = {
    "cluster_key": "dim_clusters",
    "node_key": "dim_nodes",
    "node_run_key": "dim_node_runs",
    "topic_key": "dim_topics",
    "partition_key": "dim_partitions",
    "group_key": "dim_groups",
}
# The column that names the node a row is about, where it is not node_id.
NODES = {
    "fct_controller_tenures": "controller_id",
    "fct_controllerless_windows": "last_controller_id",
    "fct_group_coordinators": "coordinator_id",
    "fct_group_rebalances": "coordinator_id",
    "fct_hanging_transactions": "coordinator_id",
    "fct_leader_elections": "leader_id",
    "fct_leaderless_windows": "last_leader_id",
    "fct_partition_daily": "leader_id_at_end",
    "fct_under_replicated_windows": "replica_id",
    "rpt_group_daily": "coordinator_id",
}
# Dimensions of knowledge, and of days: they are about no cluster, and their rows have names of their own.
NAMED = {"dim_config_rules", "dim_dates", "dim_event_types", "dim_hours", "dim_kafka_releases", "dim_known_issues"}
# Their keys are made where their rows are.
KEYED_BEFORE = {"fct_process_failures": "int_processes__failures"}
# An incident is what begins with its first event, so its key is made of that event's.
OF_ITS_FIRST_EVENT = {"fct_incidents"}


# The history of a node goes on over the incarnations of its cluster, and so does a month.
OVER_INCARNATIONS = {"dim_node_releases", "dim_node_settings", "rpt_reliability_monthly", "rpt_topic_reliability_monthly"}


def star(manifest: Any) -> list[Any]:
    return [node for node in (*marts(manifest), *models(manifest, "reports")) if node.name not in NAMED]


def own_key(name: str) -> str:
    """fct_gc_pauses: gc_pause_key; fct_metrics_hourly: metrics_hourly_key."""
    noun = name.split("_", 1)[1]
    if not noun.endswith(("_hourly", "_daily", "_status")):
        noun = re.sub(r"s$", "", re.sub(r"ies$", "y", noun))
    return f"{noun}_key"


def about(node: Any) -> set[str]:
    """The keys of what the rows of a model are about, by its other columns."""
    columns, found = set(node.columns), set()
    if "cluster_id" in columns and node.name not in OVER_INCARNATIONS:
        found.add("cluster_key")
    if "node_id" in columns or node.name in NODES:
        found.add("node_key")
    if "run_number" in columns:
        found.add("node_run_key")
    if "topic_name" in columns:
        found.add("topic_key")
    if {"topic_name", "partition_id"} <= columns:
        found.add("partition_key")
    if "group_id" in columns:
        found.add("group_key")
    return found


def key_columns(sql: str, name: str) -> set[str] | None:
    """The columns of which a query makes a key; None if it does not."""
    made = re.search(rf"row_key\(\[((?:(?!row_key).)*?)\]\)\s*}}}}\s+as {name},", sql, re.S)
    if made is None:
        return None
    texts = [double or single for double, single in re.findall(r'"([^"]*)"|\'([^\']*)\'', made[1])]
    return {column.name for text in texts for column in parse_one(text, dialect="spark").find_all(exp.Column)}


def test_the_key_of_a_row_has_the_name_of_its_table(manifest: Any) -> None:
    assert {node.name: next(iter(node.columns)) for node in star(manifest)} == {node.name: own_key(node.name) for node in star(manifest)}


def test_a_row_has_the_keys_of_what_it_is_about(manifest: Any) -> None:
    lacking = {node.name: sorted(about(node) - set(node.columns)) for node in star(manifest)}
    assert {name: keys for name, keys in lacking.items() if keys} == {}
    unnamed = {name: column for name, column in NODES.items() if column not in next(n for n in star(manifest) if n.name == name).columns}
    assert unnamed == {}


def test_keys_stand_before_what_they_are_made_of(manifest: Any) -> None:
    late = []
    for node in star(manifest):
        columns = list(node.columns)
        keys = [columns.index(name) for name in DIMENSIONS if name in columns]
        late += [node.name for at in keys if "cluster_id" in columns and at > columns.index("cluster_id")]
    assert late == []


def test_a_key_leads_to_its_dimension(manifest: Any) -> None:
    tested = set()
    for test in manifest.nodes.values():
        metadata = getattr(test, "test_metadata", None)
        if metadata and metadata.name == "relationships":
            tested.add((manifest.nodes[test.attached_node].name, test.column_name, metadata.kwargs["to"], metadata.kwargs["field"]))
    wanted = {
        (node.name, key, f"ref('{dimension}')", key)
        for node in star(manifest)
        for key, dimension in DIMENSIONS.items()
        if key in node.columns and node.name != dimension
    }
    assert len(wanted) > 100
    assert wanted - tested == set()


def test_the_columns_of_a_key_are_columns_of_its_table(manifest: Any) -> None:
    """Else nobody can see why two rows are two, and the grain that the table states is another."""
    known = {node.name: node for node in models(manifest)}
    hidden, other = {}, {}
    for node in star(manifest):
        made = key_columns(code_of(known[KEYED_BEFORE.get(node.name, node.name)]), own_key(node.name))
        if made is None:
            # A dimension is identified by what the macro of its key takes.
            assert own_key(node.name) in DIMENSIONS or node.name in OF_ITS_FIRST_EVENT, node.name
            continue
        hidden[node.name] = sorted(made - set(node.columns))
        other[node.name] = sorted(made ^ set(node.config.meta["grain"]))
    assert {name: columns for name, columns in hidden.items() if columns} == {}
    assert {name: columns for name, columns in other.items() if columns} == {}, "the grain is what the key is made of"


def test_columns_of_a_key_are_found() -> None:
    sql = """select {{ row_key(['a', 'runs.b']) }} as other_key,
        {{
            row_key(['cluster_id', "coalesce(cast(epoch as string), concat('told at ', started_at))", "role = 'recovery'"])
        }} as own_key, c"""
    assert key_columns(sql, "own_key") == {"cluster_id", "epoch", "started_at", "role"}
    assert key_columns(sql, "other_key") == {"a", "b"}
    assert key_columns(sql, "another_key") is None


# Facts of the epochs, in-sync sets, replicas and refusals of which dim_partitions is made; and of the runs of which dim_nodes is made.
OF_PARTITIONS = {"fct_cached_epochs", "fct_epoch_gaps", "fct_isr_changes", "fct_leader_elections", "fct_under_replicated_windows"}
OF_RUNS = {"fct_issue_exposures", "fct_node_restarts"}


def test_a_dimension_has_every_member_that_a_fact_names(manifest: Any) -> None:
    facts = [node for node in models(manifest, "marts") if node.name.startswith("fct_")]
    read = {node.name: {parent.name for parent in parents(manifest, node)} for node in models(manifest, "marts")}
    of_nodes = {node.name for node in facts if "node_key" in node.columns}
    assert of_nodes - read["dim_nodes"] == OF_RUNS
    of_partitions = {node.name for node in facts if "partition_key" in node.columns}
    assert of_partitions - read["dim_partitions"] == OF_PARTITIONS


def test_all_evidence_is_in_its_bridge(manifest: Any) -> None:
    bridge = next(node for node in models(manifest, "bridges") if node.name == "bridge_evidence")
    evident = {node.name: next(iter(node.columns)) for node in marts(manifest) if "evidence" in node.columns}
    assert dict(re.findall(r"'(\w+)': '(\w+)'", bridge.raw_code)) == evident


def test_every_report_has_an_exposure(manifest: Any) -> None:
    exposed = {parent for exposure in manifest.exposures.values() for parent in exposure.depends_on.nodes}
    assert [node.name for node in models(manifest, "reports") if node.unique_id not in exposed] == []
