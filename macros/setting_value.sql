{#-
The effective value of a setting, as text: given, measured (names with @), that of the setting it
follows, Kafka's default.
-#}
{% macro setting_value(name) -%}
    coalesce(
        configured[{{ name }}],
        facts[{{ name }}],
        configured[default_settings[{{ name }}]],
        defaults[{{ name }}]
    )
{%- endmacro %}
