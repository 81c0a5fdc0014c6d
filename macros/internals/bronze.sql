{#-
Bronze in the catalog of a target that starts a Spark of its own: tables in place, of the warehouse that `CHRONICLE_WAREHOUSE` names
(by default the folder `warehouse`), unless `bronze_schema` names a schema that has them already. Other targets know their tables.
-#}
{% macro register_bronze() -%}
    {%- if execute and target.type == 'spark' and not is_production() and var('bronze_schema') == 'bronze' -%}
        {%- set place = env_var('CHRONICLE_WAREHOUSE', 'warehouse') -%}
        {%- set place = place if place.startswith('/') or '://' in place else env_var('PWD') ~ '/' ~ place -%}
        {%- do run_query('create schema if not exists bronze') -%}
        {%- for source in graph.sources.values() -%}
            {%- do run_query('create table if not exists bronze.' ~ source.identifier ~ ' using delta location ' ~ sql_text(place ~ '/bronze/' ~ source.identifier)) -%}
        {%- endfor -%}
    {%- endif -%}
{%- endmacro %}
