{#-
A release as array<int>, to compare as numbers: '0.10.1.0' is [0, 10, 1, 0]; a suffix after a hyphen
is cut.
-#}
{% macro release_numbers(expression) -%}
    transform(
        split(split_part({{ expression }}, '-', 1), '[.]'),
        part -> try_cast(part as int)
    )
{%- endmacro %}


{#-
The newest of the releases in a group.  Releases that differ in the suffix alone are ordered as text.
-#}
{% macro newest_release(expression) -%}
    max_by({{ expression }}, struct({{ release_numbers(expression) }}, {{ expression }}))
{%- endmacro %}


{#- The line of a release given as numbers: x.y, before 1.0 0.x.y. -#}
{% macro release_line(numbers) -%}
    slice({{ numbers }}, 1, if(element_at({{ numbers }}, 1) = 0, 3, 2))
{%- endmacro %}
