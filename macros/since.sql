{#-
Macros that let a partial build make a table only from a start time on: the time of the first
changed row in what the table reads, minus `ahead` in its `meta`. Earlier rows stay as the previous
build left them. `chronicle build` fills in the start time (`chronicle/build/template.py`); in a
full build of the table, and in dbt run by hand, conditions are `true` and `in_part` yields nothing.
-#}

{#- A condition: the row is not before the start time, or not before `back` before it. -#}
{% macro since(column, back='0 seconds') -%}
    {{ return(column ~ " >= '/* since " ~ back ~ " */'" if var('compiled', false) else 'true') }}
{%- endmacro %}


{#-
A condition: the row is not before the day of the start time. Bronze files list the days they hold,
so most are not opened.
-#}
{% macro since_day(column) -%}
    {{ return(column ~ " >= '/* from day */'" if var('compiled', false) else 'true') }}
{%- endmacro %}


{#-
SQL that is used only if the table is made in part:
`{% call in_part() %} union all … {% endcall %}`.
-#}
{% macro in_part() -%}
    {%- if var('compiled', false) %}/* in part */ {{ caller() }} /* whole */{% endif -%}
{%- endmacro %}


{#-
The table's own rows of these clusters, as the previous build left them, to carry values over the
start time. If `meta` has `carried`, a key, these are the last rows before the start time for each
of its values, and all of the time `back` before it; there may be others among them.
-#}
{% macro as_before() -%}
    {{ return('__as_before__') }}
{%- endmacro %}


{#- Roles of events that affect all rows of the table: if such events arrive, it is made whole. -#}
{% macro whole_for(roles) -%}
    {%- set ids = [] -%}
    {%- for role in roles -%}
        {%- do ids.extend(event_roles()[role]) -%}
    {%- endfor -%}
    /* whole for {{ ids | join(',') }} */
{%- endmacro %}


{#- For each `key` the last row of a CTE before the start time; no key has two rows at one time. -#}
{% macro last_before(rows, at, key) -%}
    select {{ rows }}.*
    from {{ rows }}
    inner join (
        select
            {{ key | join(', ') }},
            max({{ at }}) as {{ at }}
        from {{ rows }}
        where not ({{ since(at) }})
        group by {{ key | join(', ') }}
    ) as last_rows
        on
            {% for column in key -%}
            {{ rows }}.{{ column }} = last_rows.{{ column }} and
            {% endfor -%}
            {{ rows }}.{{ at }} = last_rows.{{ at }}
{%- endmacro %}
