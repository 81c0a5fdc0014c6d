{#-
The event days that must be built again, as date literals for `event_date in (…)`: those of rows
that arrived in later batches than the last one the model has seen. They are found once, when the
model is compiled; the write takes them from between the two marks in the compiled text, so that it
empties exactly the days that were read.

Compared by batch, because batches are numbered consecutively; the time of an arrival comes from a
clock, which may be set back.
-#}
{% macro touched_days(relation) -%}
    {%- set days = [] -%}
    {%- if execute and is_incremental() -%}
        {#- Two queries: only with a literal does Delta skip the older files. -#}
        {%- set newest = run_query('select max(batch_id) from ' ~ this).rows[0][0] -%}
        {%- set found = run_query(
            'select distinct cast(event_date as string) from ' ~ relation ~ ' where event_date is not null'
            ~ (' and batch_id > ' ~ newest | int if newest is not none else '')
        ) -%}
        {%- for row in found.rows -%}
            {%- do days.append("date'" ~ row[0] ~ "'") -%}
        {%- endfor -%}
    {%- endif -%}
    /* touched */ {{ days | sort | join(', ') if days else "date'0001-01-01'" }} /* days */
{%- endmacro %}


{#-
A condition that is true for the days that an incremental table replaces: all days in a full build, and where dbt compiles without a database.
`chronicle build` fills in the days itself (`chronicle/build/compiled.py`).
-#}
{% macro in_touched_days(relation) -%}
    {%- if var('compiled', false) -%}
        event_date in ('/* days of {{ relation }} */')
    {%- elif flags.INTROSPECT and is_incremental() -%}
        event_date in ({{ touched_days(relation) }})
    {%- else -%}
        true
    {%- endif -%}
{%- endmacro %}


{#-
A condition that is true for the rows that an incremental table has not seen yet, if it adds new
rows to its stored rows of the days that it replaces (`in_part`, `as_before`); for all rows if it is
made of whole days, as in dbt run by hand.
-#}
{% macro in_new_batches() -%}
    {{ return("batch_id > '/* newest batch */'" if var('compiled', false) else 'true') }}
{%- endmacro %}


{#- The date literals that `touched_days` wrote into a model; none if the model does not use it. -#}
{% macro days_touched_by(code) -%}
    {%- set found = modules.re.search('/\\* touched \\*/ (.*?) /\\* days \\*/', code) -%}
    {{ return(found.group(1) if found else none) }}
{%- endmacro %}
