{#-
Growth of a counter since the previous sample; a lower value means that its process restarted from
0.
-#}
{% macro counter_increase(value, previous) -%}
    case
        when {{ value }} >= {{ previous }} then {{ value }} - {{ previous }}
        when {{ value }} < {{ previous }} then {{ value }}
    end
{%- endmacro %}
