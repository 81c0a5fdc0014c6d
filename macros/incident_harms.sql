{#-
The harms that the summary of an incident names, with the condition under which they hold; their order and their sentences are the var `harms`. Columns
are those of fct_incidents' last step.
-#}
{% macro incident_harms() -%}
{{ return({
    'records_lost': 'size(losses) > 0',
    'unclean_election': 'size(unclean_partitions) > 0 and size(losses) = 0',
    'late_controller_writes': 'late_writes > 0',
    'leaderless': 'size(leaderless_partitions) > 0',
    'quorum_lost': 'has_lost_quorum',
    'writes_refused': 'writes_refused > 0',
    'under_min_isr': 'under_min_isr_ms > 0',
}) }}
{%- endmacro %}


{#- The sentence of a harm, without its full stop, and with the values of an incident. -#}
{% macro fill_harm(sentence) -%}
    {%- set places = {
        'lost_partitions': named_or_counted('lost_partitions'),
        'unclean_partitions': named_or_counted('unclean_partitions'),
        'leaderless_partitions': named_or_counted('leaderless_partitions'),
        'refused_partitions': named_or_counted('refused_partitions'),
        'short_partitions': named_or_counted('short_partitions'),
        'records': counted('max_records_lost', 'record', 'records'),
        'late_writes': counted('late_writes', 'leader change', 'leader changes'),
        'writes_refused': counted('writes_refused', 'time', 'times'),
        'unclean_nodes': "concat(if(size(unclean_nodes) = 1, 'node ', 'nodes '), array_join(unclean_nodes, ', '))",
        'leaderless_time': lasting('leaderless_max_ms', 'leaderless_open > 0'),
        'quorum_time': lasting('quorum_lost_ms', 'is_quorum_open'),
    } -%}
    {%- set text = namespace(sql="'" ~ sentence ~ "'") -%}
    {%- for name, value in places.items() if '{' ~ name ~ '}' in sentence -%}
        {%- set text.sql = "replace(" ~ text.sql ~ ", '{" ~ name ~ "}', " ~ value ~ ")" -%}
    {%- endfor -%}
    {{ text.sql }}
{%- endmacro %}


{#- How long it lasted; of what has no end, no more is known than that it lasted to the end of the logs. -#}
{% macro lasting(milliseconds, is_open) -%}
    if(
        {{ is_open }},
        if(
            {{ milliseconds }} > 0,
            concat('for at least ', {{ readable_duration(milliseconds) }}, ', until the logs end'),
            'at the end of the logs'
        ),
        concat('for up to ', {{ readable_duration(milliseconds) }})
    )
{%- endmacro %}


{#- A number with its noun. -#}
{% macro counted(number, one, many) -%}
    concat({{ number }}, if({{ number }} = 1, ' {{ one }}', ' {{ many }}'))
{%- endmacro %}


{#- The name of the one partition of an array, or how many there are. -#}
{% macro named_or_counted(partitions) -%}
    if(size({{ partitions }}) = 1, get({{ partitions }}, 0), concat(size({{ partitions }}), ' partitions'))
{%- endmacro %}
