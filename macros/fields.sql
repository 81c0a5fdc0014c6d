{#-
A field of a recognised record, cast; null if the wording has none or the value is not of that type.
-#}
{% macro field(name, type='string') -%}
    {%- if type == 'string' -%}
        fields['{{ name }}']
    {%- elif type == 'array<int>' -%}
        {{ int_list("fields['" ~ name ~ "']") }}
    {%- else -%}
        try_cast(fields['{{ name }}'] as {{ type }})
    {%- endif -%}
{%- endmacro %}
