{#-
The value of a setting as Kafka prints it; null where that says that the setting has none: `null`,
`[]` (an empty list) or nothing.
-#}
{% macro given(expression) -%}
    nullif(nullif(nullif(trim({{ expression }}), ''), 'null'), '[]')
{%- endmacro %}

{#- Whether a given value is not shown: Kafka prints `[hidden]`, and ingestion hides secrets, too. -#}
{% macro is_hidden(expression) -%}
    {{ expression }} in ('[hidden]', '[redacted]')
{%- endmacro %}
