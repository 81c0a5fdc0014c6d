{#-
Hooks around a recursive model. Builds inline the CTEs into the plan, which is impossible for a CTE
that reads itself; and Spark stops after 100 steps or a million rows, which a query that ends by
itself may exceed.
-#}
{% macro recursion(wanted) -%}
    {{ return([
        'set spark.sql.legacy.inlineCTEInCommands = ' ~ ('false' if wanted else 'true'),
        'set spark.sql.cteRecursionLevelLimit = ' ~ ('-1' if wanted else '100'),
        'set spark.sql.cteRecursionRowLimit = ' ~ ('-1' if wanted else '1000000'),
    ]) }}
{%- endmacro %}
