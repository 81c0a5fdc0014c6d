{#-
Overrides of dbt-spark where Delta does not allow its way, or where it costs an extra commit.
-#}

{#- Delta's clustering; the adapter knows only Hive's buckets. -#}
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


{#- `not_null` as a CHECK: Delta cannot make a column of an existing table NOT NULL. -#}
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
An incremental table is dropped before a full build: the catalog keeps its partitions separately
from Delta, and a second `create or replace` in one session finds that they differ.
-#}
{% macro spark__create_table_as(temporary, relation, compiled_code, language='sql') -%}
    {%- if not temporary and model.config.materialized == 'incremental' -%}
        {%- do run_query('drop table if exists ' ~ relation) -%}
    {%- endif -%}
    {{ dbt.spark__create_table_as(temporary, relation, compiled_code, language) }}
{%- endmacro %}
