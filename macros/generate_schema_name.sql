{#- Schemas of a production target are named as they are configured: `marts`. All others have a prefix, as in `dev_marts`. -#}
{% macro generate_schema_name(custom_schema_name, node) -%}
    {%- set name = custom_schema_name | trim if custom_schema_name else target.schema -%}
    {{ name if target.name.startswith('prod') else target.schema ~ '_' ~ name }}
{%- endmacro %}
