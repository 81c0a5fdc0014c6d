{#- How much a counter grew since the sample before: a value below it means that the process started over at 0. -#}
{% macro counter_increase(value, previous) -%}
    case
        when {{ value }} >= {{ previous }} then {{ value }} - {{ previous }}
        when {{ value }} < {{ previous }} then {{ value }}
    end
{%- endmacro %}
