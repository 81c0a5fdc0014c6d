{#-
The event days that must be built again, as date literals for `event_date in (…)`: those of rows that arrived after the
newest arrival the model has seen. They are found once, when the model is compiled; the write takes them from the compiled
text between the two marks, so that it empties the days that were read and no others.
-#}
{% macro touched_days(relation, arrival='ingested_at') -%}
    {%- set days = [] -%}
    {%- if execute and is_incremental() -%}
        {#- Two queries: only a literal lets Delta leave out the files that are older. -#}
        {%- set newest = run_query('select cast(max(' ~ arrival ~ ') as string) from ' ~ this).rows[0][0] -%}
        {%- set found = run_query(
            'select distinct cast(event_date as string) from ' ~ relation ~ ' where event_date is not null'
            ~ (' and ' ~ arrival ~ " > '" ~ newest ~ "'" if newest is not none else '')
        ) -%}
        {%- for row in found.rows -%}
            {%- do days.append("date'" ~ row[0] ~ "'") -%}
        {%- endfor -%}
    {%- endif -%}
    /* touched */ {{ days | sort | join(', ') if days else "date'0001-01-01'" }} /* days */
{%- endmacro %}


{#- The date literals that `touched_days` wrote into a model; none where the model does not use it. -#}
{% macro days_touched_by(code) -%}
    {%- set found = modules.re.search('/\\* touched \\*/ (.*?) /\\* days \\*/', code) -%}
    {{ return(found.group(1) if found else none) }}
{%- endmacro %}
