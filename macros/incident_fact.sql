{#-
The columns of int_incidents__events for the rows of one fact; omitted arguments are null. Arguments
are SQL: `at` and `until` its times (until null: it still lasts), `nodes` the affected nodes,
`other` the other node it mentions, `held` since when the nodes had held what it ended, `amount` the number in its sentence, `returned` how what it took away came back, `shown_by` the
records that show it, if they are not the fact's evidence, and `end_shown_by` those of its end: without any, no recovery is told; `burst` the text that facts
of the same event share (within `burst_ms`). `rows` and `where` are the query's (`incident_facts`).
The keys of the topic, partition and group are those of the fact where the arguments name its own columns.
-#}
{% macro incident_fact(
    fact, key, kind, at, until, nodes='array()', other='null', owner='null', topic='null', partition='null', partitions='null',
    group='null', topic_key='null', partition_key='null', group_key='null',
    processes='array()', caused_by='null', held='null', detail='null', amount='null', duration='null', returned='null',
    shown_by=none, end_shown_by='null', burst=none, rows=none, where=none
) -%}
    cluster_id,
    cluster_incarnation,
    '{{ fact }}' as fact_name,
    {{ key }} as fact_key,
    {{ kind }} as event_kind,
    {{ at }} as started_at,
    {{ until }} as ended_at,
    cast({{ nodes }} as array<int>) as node_ids,
    cast({{ other }} as int) as other_node_id,
    cast({{ owner }} as string) as owner,
    cast({{ topic }} as string) as topic_name,
    cast({{ partition }} as int) as partition_id,
    cast({{ partitions }} as array<string>) as partitions,
    cast({{ group }} as string) as group_id,
    cast({{ 'topic_key' if topic == 'topic_name' else topic_key }} as string) as topic_key,
    cast({{ 'partition_key' if partition == 'partition_id' and topic == 'topic_name' else partition_key }} as string) as partition_key,
    cast({{ 'group_key' if group == 'group_id' else group_key }} as string) as group_key,
    cast({{ processes }} as array<string>) as processes,
    cast({{ caused_by }} as string) as caused_by_key,
    cast({{ held }} as timestamp) as held_since_at,
    cast({{ detail }} as string) as detail,
    cast({{ amount }} as bigint) as amount,
    cast({{ duration }} as bigint) as duration_ms,
    cast({{ returned }} as string) as returned_as,
    cast({{ burst or key }} as string) as burst,
    {{ shown_by or 'evidence' }} as evidence,
    {{ 'cast(size(' ~ shown_by ~ ') as bigint)' if shown_by else 'evidence_count' }} as evidence_count,
    cast({{ end_shown_by }} as array<struct<node_id: int, source_path: string, byte_offset: bigint>>) as end_evidence,
    warnings
{%- endmacro %}


{#- The processes, except for ZooKeeper, that wrote the evidence of a fact. -#}
{% macro evidence_processes() -%}
    filter(
        transform(evidence, line -> {{ process_name('line.source_path', 'line.node_id') }}),
        process -> not contains(process, 'zookeeper')
    )
{%- endmacro %}
