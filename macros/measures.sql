{#- Columns with the sums of int_days__measures; null, not 0, if the day has no evidence. `column`: what a measure is called. -#}
{% macro measures(rows, known) -%}
    {%- for measure in rows %}
    case
        when {{ known }}
            then coalesce(sum(value) filter (where measure = '{{ measure.name }}'), 0)
    end as {{ measure.column or measure.name }}{{ ',' if not loop.last }}
    {%- endfor -%}
{%- endmacro %}


{#- The measures of nodes: all except those of the cluster alone, with the name that says what they are of a node. -#}
{% macro node_measures() -%}
    {%- set found = [] -%}
    {%- for measure in daily_measures() if measure.node != 'null' -%}
        {%- do found.append({'name': measure.name, 'column': measure.of_node.name or measure.name}) -%}
    {%- endfor -%}
    {{ return(found + measures_of_each_node()) }}
{%- endmacro %}
