{#-
What lets a build of some clusters make a table only from a time on: that of the first row that differs of what the table reads, less `ahead`
in its `meta`. The rows before it stay as the build before left them. `chronicle build` fills the time in (`chronicle/build/compiled.py`);
where a table is made whole, and in dbt run by hand, conditions are `true` and what is only `in_part` is not there.
-#}

{#- A condition: the row is not before the time from which on the table is made, or `back` before that. -#}
{% macro since(column, back='0 seconds') -%}
    {{ return(column ~ " >= '/* since " ~ back ~ " */'" if var('compiled', false) else 'true') }}
{%- endmacro %}


{#- A condition: the row is not before the day of that time. Files of bronze say which days they hold, so most of them are not opened. -#}
{% macro since_day(column) -%}
    {{ return(column ~ " >= '/* from day */'" if var('compiled', false) else 'true') }}
{%- endmacro %}


{#- SQL that counts only where the table is made in part: `{% call in_part() %} union all … {% endcall %}`. -#}
{% macro in_part() -%}
    {%- if var('compiled', false) %}/* in part */ {{ caller() }} /* whole */{% endif -%}
{%- endmacro %}


{#- The table's own rows of these clusters, as the build before left them: what is carried over the time from which on it is made. -#}
{% macro as_before() -%}
    {{ return('__as_before__') }}
{%- endmacro %}


{#- Roles of events that concern all rows of the table: if such events arrive, it is made whole. -#}
{% macro whole_for(roles) -%}
    {%- set ids = [] -%}
    {%- for role in roles -%}
        {%- do ids.extend(event_roles()[role]) -%}
    {%- endfor -%}
    /* whole for {{ ids | join(',') }} */
{%- endmacro %}


{#- Of each `key` the last row of a CTE before the time from which on the table is made; no key has two at one time. -#}
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
