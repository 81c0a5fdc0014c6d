{#-
'1, 2,3' as array<int>: an empty text is an empty array, a null stays null, an element that is not a
number becomes null. Spark compiles a cast of the whole list, but not a function of each element.
-#}
{% macro int_list(expression) -%}
    {%- set numbers = "trim(both ', \\t\\n\\r' from " ~ expression ~ ")" -%}
    if(
        {{ numbers }} = '',
        cast(array() as array<int>),
        try_cast(split({{ numbers }}, '[,\\s]+') as array<int>)
    )
{%- endmacro %}
