{#- Schemas of a production target are named as they are configured: `marts`. All others have a prefix, as in `dev_marts`. -#}
{% macro generate_schema_name(custom_schema_name, node) -%}
    {%- set name = custom_schema_name | trim if custom_schema_name else target.schema -%}
    {{ name if is_production() else target.schema ~ '_' ~ name }}
{%- endmacro %}


{#- Whether the target has the schemas of the product. -#}
{% macro is_production() -%}
    {{ return(target.name.startswith('prod')) }}
{%- endmacro %}
