{#- Text for a literal in single quotes. -#}
{% macro sql_text(text) -%}
    {{ return("'" ~ (text | replace('\\', '\\\\') | replace("'", "\\'")) ~ "'") }}
{%- endmacro %}
