{#- Rows whose value is below `at_least` or above `at_most`; null is in every range. -#}
{% test in_range(model, column_name, at_least=none, at_most=none) -%}
    select *
    from {{ model }}
    where
        {{ column_name }} < {{ at_least if at_least is not none else column_name }}
        or {{ column_name }} > {{ at_most if at_most is not none else column_name }}
{%- endtest %}
