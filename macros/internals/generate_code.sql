{#-
Hooks around a model that reads very many rows. Builds compile no code (a compiler for each of hundreds of small plans costs
more than the rows do); where rows are many it pays.
-#}
{% macro generate_code(wanted) -%}
    {{ return([
        'set spark.sql.codegen.wholeStage = ' ~ ('true' if wanted else 'false'),
        'set spark.sql.codegen.factoryMode = ' ~ ('FALLBACK' if wanted else 'NO_CODEGEN'),
    ]) }}
{%- endmacro %}
