{#-
The first ten records behind a row, in order of time (`at`), in a grouped select; only records for
which `condition` is true. `line`: the relation that has the records, if the select joins several.
-#}
{% macro evidence(condition=none, at='logged_at', line=none) -%}
    {%- set of = line ~ '.' if line else '' -%}
    transform(
        slice(
            sort_array(
                collect_list(struct({{ at }}, {{ of }}node_id, {{ of }}source_path, {{ of }}byte_offset))
                {%- if condition %} filter (where {{ condition }}){% endif %}
            ),
            1,
            10
        ),
        line -> named_struct(
            'node_id', line.node_id,
            'source_path', line.source_path,
            'byte_offset', line.byte_offset
        )
    )
{%- endmacro %}


{#- The warnings of a row: the texts whose condition is true. -#}
{% macro warnings(texts) -%}
    filter(
        array(
            {%- for text, condition in texts.items() %}
            case when {{ condition }} then '{{ text }}' end{{ ',' if not loop.last }}
            {%- endfor %}
        ),
        warning -> warning is not null
    )
{%- endmacro %}


{#-
The columns that every staged event has: position, time, writer. What is said of a process, and not of the cluster, has `writer_id` as its
node: a process without a number is one, too.
-#}
{% macro event_columns(node='node_id') -%}
    cluster_id,
    {{ node ~ ' as node_id' if node != 'node_id' else node }},
    logged_at,
    event_date,
    event_type,
    source_id,
    source_path,
    byte_offset
{%- endmacro %}
