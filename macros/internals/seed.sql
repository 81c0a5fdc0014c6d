{#-
A seed is a view over its own rows: no commit, nothing to load, and the file in the repository stays
the only copy. Meant, as all seeds, for a few hundred rows. Columns are text unless `column_types`
says otherwise; an empty cell is null. Targets that are not production have a table: a metastore
keeps the text of a view, up to 32,700 characters in Derby.
-#}
{% materialization seed, adapter='spark' -%}
    {%- set held = load_relation(this) -%}
    {%- set kind = 'view' if is_production() else 'table' -%}
    {%- set seed = this.incorporate(type=kind) -%}
    {%- set rows = load_agate_table() -%}
    {%- do store_result('agate_table', response='OK', agate_table=rows) -%}
    {%- set types = config.get('column_types', {}) -%}
    {{ run_hooks(pre_hooks) }}
    {%- if held is not none and held.is_view != (kind == 'view') -%}
        {%- do adapter.drop_relation(held) -%}
    {%- endif -%}
    {%- call statement('main') -%}
        create or replace {{ kind }} {{ seed }} {{ 'using delta' if kind == 'table' }} as
        {{ seed_query(rows, types) }}
    {%- endcall -%}
    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [seed]}) }}
{%- endmaterialization %}


{#- The rows of a seed as a query; a column that `column_types` does not name has the type that its cells suggest. -#}
{% macro seed_query(rows, types) -%}
    {%- set names = rows.column_names | list -%}
    {%- if not rows.rows %}
    select
        {%- for name in names %}
        cast(null as {{ types.get(name, 'string') }}) as {{ adapter.quote(name) }}{{ ',' if not loop.last }}
        {%- endfor %}
    where false
    {%- else %}
    select
        {%- for name in names %}
        cast({{ adapter.quote(name) }} as {{ types.get(name) or adapter.convert_type(rows, loop.index0) }}) as {{ adapter.quote(name) }}
        {{- ',' if not loop.last }}
        {%- endfor %}
    from values
        {%- for row in rows.rows %}
        (
            {%- for cell in row -%}
                {{ 'null' if cell is none else sql_text(cell | string | trim) }}{{ ', ' if not loop.last }}
            {%- endfor -%}
        ){{ ',' if not loop.last }}
        {%- endfor %}
        as seed ({% for name in names %}{{ adapter.quote(name) }}{{ ', ' if not loop.last }}{% endfor %})
    {%- endif %}
{%- endmacro %}
