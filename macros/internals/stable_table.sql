{#-
A table that stays in place: if the names and types of all columns are unchanged, its rows are replaced in one commit (comments and constraints
stay, and readers never see it empty), in a partial build only those of the clusters that arrivals touch (`macros/internals/builds.sql`); otherwise
it is created again. Constraints are set when it is created; if they have changed, `--full-refresh` sets them again.

`chronicle build`'s local engine works differently: it writes the rows as plain Parquet, and commits all tables when the last one is ready
(`chronicle/build/publish.py`), at a hundredth of the cost of a commit by Spark.
-#}
{% materialization stable_table, adapter='spark' -%}
    {%- if config.get('partition_by') -%}
        {%- do exceptions.raise_compiler_error('a stable_table has no partitions, for an overwrite may keep old ones; use cluster_by') -%}
    {%- endif -%}
    {{ return(make_in_place()) }}
{%- endmaterialization %}


{#- A step: the same, instead of dbt's own, which makes a table of all rows each time. -#}
{% materialization table, adapter='spark' -%}
    {{ return(make_in_place()) }}
{%- endmaterialization %}


{#- What both do: a model's hooks, and between them its rows. -#}
{% macro make_in_place() -%}
    {%- set target = this.incorporate(type='table') -%}
    {{ run_hooks(pre_hooks) }}
    {{ build_in_place(target, compiled_code) }}
    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [target]}) }}
{%- endmacro %}


{#- Writes the rows as a Delta table, in place. -#}
{% macro build_in_place(target, code) -%}
    {%- set held = load_relation(this) -%}
    {%- if held is not none and held.is_view -%}
        {%- do adapter.drop_relation(held) -%}
    {%- elif held is not none and not held.is_delta -%}
        {#- A Parquet table of the local engine: its folder has to become one of Delta, because a table cannot be created among its files. -#}
        {%- do run_query('convert to delta ' ~ held) -%}
    {%- endif -%}
    {%- set can_stay = namespace(value=false) -%}
    {%- set found = [] -%}
    {%- if held is not none and held.is_delta and not should_full_refresh() -%}
        {%- set wanted = [] -%}
        {%- for row in run_query('describe query ' ~ stable_query(code)).rows -%}
            {%- do wanted.append((row[0], row[1])) -%}
        {%- endfor -%}
        {%- for column in adapter.get_columns_in_relation(held) -%}
            {%- do found.append((column.name, column.dtype)) -%}
        {%- endfor -%}
        {%- set can_stay.value = wanted == found -%}
    {%- endif -%}
    {%- if can_stay.value -%}
        {%- set clusters = touched_clusters() if 'cluster_id' in found | map(attribute=0) else none -%}
        {%- call statement('main') -%}
            {{ replace_rows(target, code, clusters) }}
        {%- endcall -%}
    {%- else -%}
        {%- call statement('main') -%}
            {{ create_table_as(False, target, code) }}
        {%- endcall -%}
        {%- do persist_constraints(target, model) -%}
    {%- endif -%}
    {%- do persist_docs(target, model) -%}
{%- endmacro %}


{#- Replaces the rows of some clusters (none: all rows); no cluster's rows depend on another's. -#}
{% macro replace_rows(target, code, clusters) -%}
    {%- if clusters is none -%}
        insert overwrite table {{ target }}
        {{ stable_query(code) }}
    {%- elif not clusters -%}
        select 0 as clusters_touched
    {%- else -%}
        insert into table {{ target }} replace where cluster_id in ({{ clusters | join(', ') }})
        select * from (
            {{ stable_query(code) }}
        ) as built
        where cluster_id in ({{ clusters | join(', ') }})
    {%- endif -%}
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
