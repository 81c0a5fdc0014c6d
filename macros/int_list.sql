{#-
'1, 2,3' as array<int>: an empty text is an empty array, a null stays null, what is not a number becomes a null element. A cast of the whole list
is compiled; a function of each element is not.
-#}
{% macro int_list(expression) -%}
    {%- set numbers = "trim(both ', \\t\\n\\r' from " ~ expression ~ ")" -%}
    if(
        {{ numbers }} = '',
        cast(array() as array<int>),
        try_cast(split({{ numbers }}, '[,\\s]+') as array<int>)
    )
{%- endmacro %}
