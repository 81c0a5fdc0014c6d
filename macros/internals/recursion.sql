{#-
Hooks around a model that is recursive. Builds write the names given by `with` into the plan, which a name that reads itself
cannot be; and Spark stops after 100 steps or a million rows, which a query may exceed that ends by itself.
-#}
{% macro recursion(wanted) -%}
    {{ return([
        'set spark.sql.legacy.inlineCTEInCommands = ' ~ ('false' if wanted else 'true'),
        'set spark.sql.cteRecursionLevelLimit = ' ~ ('-1' if wanted else '100'),
        'set spark.sql.cteRecursionRowLimit = ' ~ ('-1' if wanted else '1000000'),
    ]) }}
{%- endmacro %}
