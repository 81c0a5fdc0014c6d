{#-
Whether the event of a row has a role, or one of several: a comparison with the ids that have it in the catalogue, written out when the
model is compiled. `column` holds the event's id.
-#}
{% macro has_role(roles, column='event_type') -%}
    {%- set known = event_roles() -%}
    {%- set ids = [] -%}
    {%- for role in ([roles] if roles is string else roles) -%}
        {%- if role not in known -%}
            {%- do exceptions.raise_compiler_error(
                "unknown role '" ~ role ~ "': use one of ingestion/catalogue/roles.yml, and run `chronicle catalogue build` after a change there"
            ) -%}
        {%- endif -%}
        {%- do ids.extend(known[role] | reject('in', ids)) -%}
    {%- endfor -%}
    {%- if ids | length == 1 -%}
        {{ column }} = '{{ ids[0] }}'
    {%- else -%}
        {{ column }} in ('{{ ids | join("', '") }}')
    {%- endif -%}
{%- endmacro %}
