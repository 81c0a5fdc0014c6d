{#- A size that the log cleaner printed ('1,234.5', in a German JVM '1.234,5', 'NaN') as a double; null for NaN. -#}
{% macro megabytes(expression) -%}
    try_cast(
        case
            when {{ expression }} like '%,_' and {{ expression }} not like '%.%,%.%'
                then replace(replace({{ expression }}, '.', ''), ',', '.')
            else replace({{ expression }}, ',', '')
        end as double
    )
{%- endmacro %}
