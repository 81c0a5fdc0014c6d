{#-
A table that is built in full and stays in place: if the names and types of all columns are
unchanged, its rows are replaced in one commit (`insert overwrite` keeps comments and constraints,
and readers never see it empty); otherwise it is created again. Constraints are set when it is
created; if they have changed, `--full-refresh` sets them again.

`chronicle build` works differently: it writes the rows as plain Parquet, and commits all tables
when the last one is ready (`chronicle/build/publish.py`), at a hundredth of the cost of a commit by
Spark. This is for dbt run by hand.
-#}
{% materialization stable_table, adapter='spark' -%}
    {%- if config.get('partition_by') -%}
        {%- do exceptions.raise_compiler_error('a stable_table has no partitions, for an overwrite may keep old ones; use cluster_by') -%}
    {%- endif -%}
    {%- set target = this.incorporate(type='table') -%}
    {{ run_hooks(pre_hooks) }}
    {{ build_in_place(target, compiled_code) }}
    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [target]}) }}
{%- endmaterialization %}


{#- Writes the rows as a Delta table, in place. -#}
{% macro build_in_place(target, code) -%}
    {%- set held = load_relation(this) -%}
    {%- set can_stay = namespace(value=false) -%}
    {%- if held is not none and held.is_delta and not should_full_refresh() -%}
        {%- set wanted = [] -%}
        {%- for row in run_query('describe query ' ~ stable_query(code)).rows -%}
            {%- do wanted.append((row[0], row[1])) -%}
        {%- endfor -%}
        {%- set found = [] -%}
        {%- for column in adapter.get_columns_in_relation(held) -%}
            {%- do found.append((column.name, column.dtype)) -%}
        {%- endfor -%}
        {%- set can_stay.value = wanted == found -%}
    {%- endif -%}
    {%- if can_stay.value -%}
        {%- call statement('main') -%}
            insert overwrite table {{ target }}
            {{ stable_query(code) }}
        {%- endcall -%}
    {%- else -%}
        {%- if held is not none and not held.is_delta -%}
            {%- do adapter.drop_relation(held) -%}
        {%- endif -%}
        {%- call statement('main') -%}
            {{ create_table_as(False, target, code) }}
        {%- endcall -%}
        {%- do persist_constraints(target, model) -%}
    {%- endif -%}
    {%- do persist_docs(target, model) -%}
{%- endmacro %}


{#-
The model's query; with a contract its columns are in the contract's order, as when the table was
created.
-#}
{% macro stable_query(code) -%}
    {%- if config.get('contract').enforced -%}
        {{ get_assert_columns_equivalent(code) }}
        {{ get_select_subquery(code) }}
    {%- else -%}
        {{ code }}
    {%- endif -%}
{%- endmacro %}
