{#-
Hooks around a recursive model. Spark stops after 100 steps or a million rows, which a query that ends by itself may exceed: its documented limits
are lifted for this model, and are as the session had them afterwards. Databricks has no such settings, and its own limits: see docs/dbt-elsewhere.md.
-#}
{% macro recursion(wanted) -%}
    {%- set hooks = [] -%}
    {%- for limit in ('Level', 'Row') if target.type == 'spark' -%}
        {%- set name = 'spark.sql.cteRecursion' ~ limit ~ 'Limit' -%}
        {%- do hooks.append('set ' ~ name ~ ' = -1' if wanted else 'reset ' ~ name) -%}
    {%- endfor -%}
    {{ return(hooks) }}
{%- endmacro %}
