{#- A key of 32 hex digits from the columns that identify a row; a null is distinguished from every text. -#}
{% macro row_key(columns) -%}
    left(
        sha2(
            concat_ws(
                chr(31)
                {%- for column in columns %},
                coalesce(cast({{ column }} as string), chr(30))
                {%- endfor %}
            ),
            256
        ),
        32
    )
{%- endmacro %}
