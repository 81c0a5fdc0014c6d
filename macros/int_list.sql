{#- '1, 2,3' as array<int>: an empty text is an empty array, a null stays null, what is not a number becomes a null element. -#}
{% macro int_list(expression) -%}
    transform(
        filter(split({{ expression }}, '[,\\s]+'), element -> element <> ''),
        element -> try_cast(element as int)
    )
{%- endmacro %}
