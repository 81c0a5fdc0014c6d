{#-
The effective value of a setting, as text: given, measured (names with @), that of the setting it
follows, Kafka's default. Null if it is given but not shown.
-#}
{% macro setting_value(name) -%}
    case
        when {{ is_hidden('configured[' ~ name ~ ']') }} then null
        else
            coalesce(
                configured[{{ name }}],
                facts[{{ name }}],
                configured[default_settings[{{ name }}]],
                defaults[{{ name }}]
            )
    end
{%- endmacro %}
