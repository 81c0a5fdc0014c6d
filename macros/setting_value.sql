{#- The value in force of a setting, as text: given, measured (names with @), that of the setting it follows, Kafka's default. -#}
{% macro setting_value(name) -%}
    coalesce(
        given[{{ name }}],
        facts[{{ name }}],
        given[default_settings[{{ name }}]],
        defaults[{{ name }}]
    )
{%- endmacro %}
