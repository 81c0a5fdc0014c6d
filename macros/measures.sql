{#- Columns with the sums of int_days__measures; null, not 0, if the day has no evidence. -#}
{% macro measures(rows, known) -%}
    {%- for measure in rows %}
    case
        when {{ known }}
            then coalesce(sum(value) filter (where measure = '{{ measure.name }}'), 0)
    end as {{ measure.name }}{{ ',' if not loop.last }}
    {%- endfor -%}
{%- endmacro %}


{#- The measures of nodes: all except those of the cluster alone. -#}
{% macro node_measures() -%}
    {{ return(daily_measures() | rejectattr('node', 'equalto', 'null') | list) }}
{%- endmacro %}
