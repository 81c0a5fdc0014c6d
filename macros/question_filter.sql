{# The values that a question was asked with (vars, each may be missing) as conditions for its `where`. #}
{% macro question_filter(
    cluster='cluster_id', node=none, topic=none, partition=none, group=none, release=none, key=none, start=none, end=none
) -%}
    true
    {%- if var('cluster', none) is not none %} and {{ cluster }} = {{ text_literal(var('cluster')) }}{% endif %}
    {%- if node and var('node', none) is not none %} and {{ node }} = {{ var('node') | int }}{% endif %}
    {%- if topic and var('topic', none) is not none %} and {{ topic }} = {{ text_literal(var('topic')) }}{% endif %}
    {%- if partition and var('partition', none) is not none %} and concat({{ topic or "'__consumer_offsets'" }}, '-', cast({{ partition }} as string)) = {{ text_literal(var('partition')) }}{% endif %}
    {%- if group and var('group', none) is not none %} and {{ group }} = {{ text_literal(var('group')) }}{% endif %}
    {%- if release and var('release', none) is not none %} and {{ release }} = {{ text_literal(var('release')) }}{% endif %}
    {%- if key and var('key', none) is not none %} and {{ key }} = {{ text_literal(var('key')) }}{% endif %}
    {%- if start %}{{ overlaps_period(start, end) }}{% endif %}
{%- endmacro %}

{#
A row that lasts from `start` to `end` (null: continues), or happens at `start`, overlaps the period
or the time that was asked for.
#}
{% macro overlaps_period(start, end=none) -%}
    {%- if var('since', none) is not none and end %} and ({{ end }} is null or {{ end }} >= {{ time_literal(var('since')) }})
    {%- elif var('since', none) is not none %} and {{ start }} >= {{ time_literal(var('since')) }}
    {%- endif %}
    {%- if var('until', none) is not none %} and {{ start }} < {{ time_literal(var('until')) }}{% endif %}
    {%- if var('at', none) is not none %} and {{ start }} <= {{ time_literal(var('at')) }}{% if end %} and ({{ end }} is null or {{ end }} > {{ time_literal(var('at')) }}){% endif %}{% endif %}
{%- endmacro %}

{#
A text as an SQL literal; a backslash, which is an escape to Spark but not to delta-rs, is put
outside the quotes.
#}
{% macro text_literal(text) -%}
    {%- set quoted = "'" ~ (text | string | replace("'", "''") | replace('\\', "' || chr(92) || '")) ~ "'" -%}
    {{ '(' ~ quoted ~ ')' if '\\' in text | string else quoted }}
{%- endmacro %}

{# A time in ISO 8601 as an SQL literal; without a zone it is UTC. #}
{% macro time_literal(text) -%}cast({{ text_literal(text) }} as timestamp){%- endmacro %}


{#
Whether a fact is in no incident that is an alert itself, of this severity of alerts or a higher one: one alert per incident, with its
parts, and others for what lies outside. A minor incident must not swallow an error, nor a maintenance, which is no alert, anything.
#}
{% macro outside_incidents(fact_name, key, severity) -%}
not exists (
        select 1
        from {{ ref('bridge_incident_facts') }} as part
        inner join {{ ref('fct_incidents') }} as incident on part.incident_key = incident.incident_key
        where
            part.fact_name = '{{ fact_name }}'
            and part.fact_key = {{ key }}
            and (incident.severity in ('critical', 'major'){% if severity == 'warn' %} or not incident.is_maintenance{% endif %})
    )
{%- endmacro %}


{#- Whether an incident began in the period that was asked for, or any of its events but recoveries did; `incidents`: what the query calls fct_incidents. -#}
{% macro began_or_went_on(incidents) -%}
(
        ({{ question_filter(start='started_at') }})
        or exists (
            select 1
            from {{ ref('fct_incident_events') }} as parts
            where
                parts.incident_key = {{ incidents }}.incident_key
                and parts.role <> 'recovery'
                and {{ question_filter(cluster='parts.cluster_id', start='parts.happened_at') }}
        )
    )
{%- endmacro %}


{#-
A value as sentences write it: the phrase in dbt_project.yml for that value of the column, else with
blanks for underscores.
-#}
{% macro in_words(column, expression=none) -%}
    case {{ expression or column }}
        {#- To a linter every var is a text. #}
        {%- for value, words in (var('words')[column] if var('words') is mapping else {}).items() %}
        when '{{ value }}' then '{{ words }}'
        {%- endfor %}
        else replace({{ expression or column }}, '_', ' ')
    end
{%- endmacro %}


{#- Some expressions as one text; what is null in it is a question mark. -#}
{% macro in_one_text(parts) -%}
    concat({% for part in parts %}{% if loop.index > 1 %}, {% endif %}coalesce(cast({{ part }} as string), '?'){% endfor %})
{%- endmacro %}
