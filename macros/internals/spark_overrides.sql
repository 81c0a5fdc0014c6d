{#- What dbt-spark does otherwise and Delta does not allow, or does at the price of one commit too many. -#}

{#- Clustering as Delta means it; the adapter knows only Hive's buckets. -#}
{% macro spark__clustered_cols(label, required=false) -%}
    {%- set columns = config.get('cluster_by') -%}
    {%- if columns -%}
        cluster by ({{ columns if columns is string else columns | join(', ') }})
    {%- endif -%}
{%- endmacro %}


{#- All column comments that differ from what the table holds, in one statement, which is one commit. -#}
{% macro spark__alter_column_comment(relation, column_dict) -%}
    {%- set held = {} -%}
    {%- for row in run_query('describe table ' ~ relation).rows if row[0] and not row[0].startswith('#') -%}
        {%- do held.update({row[0]: row[2] or ''}) -%}
    {%- endfor -%}
    {%- set parts = [] -%}
    {%- for name, column in column_dict.items() if name in held and (column['description'] or '') | trim != held[name] -%}
        {%- do parts.append(adapter.quote(name) ~ ' comment ' ~ sql_text((column['description'] or '') | trim)) -%}
    {%- endfor -%}
    {%- if parts -%}
        {%- do run_query('alter table ' ~ relation ~ ' alter column ' ~ parts | join(', ')) -%}
    {%- endif -%}
{%- endmacro %}


{#- `not_null` as a CHECK: Delta cannot make a column NOT NULL once the table is there. -#}
{% macro spark__alter_column_set_constraints(relation, column_dict) -%}
    {%- for name, column in column_dict.items() -%}
        {%- for constraint in column['constraints'] if constraint.type == 'not_null' and not is_incremental() -%}
            {%- call statement() -%}
                alter table {{ relation }} add constraint {{ name }}_not_null check ({{ adapter.quote(name) }} is not null)
            {%- endcall -%}
        {%- endfor -%}
    {%- endfor -%}
{%- endmacro %}


{#-
Steps that are tables are built as marts are: from views of the session. An incremental table that is made whole is dropped
first: the catalog keeps its partitions apart from Delta, and a second `create or replace` in one session finds them differing.
-#}
{% macro spark__create_table_as(temporary, relation, compiled_code, language='sql') -%}
    {%- if not temporary and model.config.materialized == 'incremental' -%}
        {%- do run_query('drop table if exists ' ~ relation) -%}
    {%- endif -%}
    {%- set code = from_session_views(compiled_code) if var('building', none) and not temporary else compiled_code -%}
    {{ dbt.spark__create_table_as(temporary, relation, code, language) }}
{%- endmacro %}
