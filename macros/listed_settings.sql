{#-
The settings of a list as Kafka prints it, as array<struct<setting, setting_value>>: 'a -> 1,b -> x,y', '{a=1, b=x,y}'. What follows a comma
and names no setting belongs to the value before it.
-#}
{% macro listed_settings(expression) -%}
    transform(
        filter(
            split(
                trim(both '{} ' from {{ expression }}),
                ', *(?=[A-Za-z_][A-Za-z0-9._]*( -> |=))'
            ),
            one -> one like '_%=%' or one like '_% -> %'
        ),
        one -> if(
            one like '% -> %' and substring_index(one, ' -> ', 1) not like '%=%',
            named_struct(
                'setting', substring_index(one, ' -> ', 1),
                'setting_value', substring(one, instr(one, ' -> ') + 4)
            ),
            named_struct(
                'setting', substring_index(one, '=', 1),
                'setting_value', substring(one, instr(one, '=') + 1)
            )
        )
    )
{%- endmacro %}
