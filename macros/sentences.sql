{#-
A sentence with its placeholders filled in from the columns of int_incidents__members; null if there
is no sentence.
-#}
{% macro fill_sentence(sentence) -%}
    {%- set places = {
        'nodes': "coalesce(nullif(nodes_text, ''), '?')",
        'other': "coalesce(cast(other_node_id as string), '?')",
        'owner': "coalesce(case when size(node_ids) > 0 then concat('node ', nodes_text) else owner end, '?')",
        'partitions': 'partitions_text',
        'groups': "array_join(group_ids, ', ')",
        'detail': "trim(trailing '.' from coalesce(detail, 'unknown'))",
        'fate': "if(startswith(detail, 'it '), concat('node ', nodes_text, substring(detail, 3)), concat('the process of node ', nodes_text, ' ended', coalesce(concat(' (', detail, ')'), '')))",
        'returned': "coalesce(returned_as, 'is back')",
        'amount': "coalesce(cast(amount_total as string), '?')",
        'most': "coalesce(cast(amount_max as string), '?')",
        'rows': 'cast(fact_rows as string)',
        'duration': readable_duration('duration_max_ms'),
        'lasting': "if(ended_at is null, 'until the logs end', concat('for up to ', " ~ readable_duration('duration_max_ms') ~ "))",
    } -%}
    {%- set text = namespace(sql=sentence) -%}
    {%- for name, value in places.items() -%}
        {%- set text.sql = "replace(" ~ text.sql ~ ", '{" ~ name ~ "}', " ~ value ~ ")" -%}
    {%- endfor -%}
    {#- A process whose node is unknown is named after its file. #}
    replace(replace({{ text.sql }}, 'Node unknown (', 'An unknown node ('), 'node unknown (', 'an unknown node (')
{%- endmacro %}


{#- Milliseconds in readable form: 819 ms, 13.5 s, 12.0 min, 3.1 h, 2.2 d. -#}
{% macro readable_duration(milliseconds) -%}
    case
        when {{ milliseconds }} is null then 'the rest of the logs'
        when {{ milliseconds }} < 1000 then concat({{ milliseconds }}, ' ms')
        when {{ milliseconds }} < 120000 then concat(cast({{ milliseconds }} / 1000 as decimal(20, 1)), ' s')
        when {{ milliseconds }} < 7200000 then concat(cast({{ milliseconds }} / 60000 as decimal(20, 1)), ' min')
        when {{ milliseconds }} < 172800000 then concat(cast({{ milliseconds }} / 3600000 as decimal(20, 1)), ' h')
        else concat(cast({{ milliseconds }} / 86400000 as decimal(20, 1)), ' d')
    end
{%- endmacro %}
