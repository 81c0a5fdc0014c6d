{#-
Hooks around a recursive model. Spark stops after 100 steps or a million rows, which a query that ends by itself may exceed: its documented limits
are lifted for this model, and are as the session had them afterwards. `chronicle build`'s local engine inlines CTEs into the plan, which is impossible
for a CTE that reads itself; nobody else's session is told that. Databricks has no such settings, and its own limits: see docs/dbt-elsewhere.md.
-#}
{% macro recursion(wanted) -%}
    {%- set hooks = [] -%}
    {%- if var('compiled', false) -%}
        {%- do hooks.append('set spark.sql.legacy.inlineCTEInCommands = ' ~ ('false' if wanted else 'true')) -%}
    {%- endif -%}
    {%- for limit in ('Level', 'Row') if target.type == 'spark' -%}
        {%- set name = 'spark.sql.cteRecursion' ~ limit ~ 'Limit' -%}
        {%- do hooks.append('set ' ~ name ~ ' = -1' if wanted else 'reset ' ~ name) -%}
    {%- endfor -%}
    {{ return(hooks) }}
{%- endmacro %}
