{#-
Stretches of time, each of which ends at the latest when the incarnation of its cluster does: formatting the storage
removes the partitions. `stretches`, `incarnations` and `observed` are names of CTEs. `is_end_placed` is true where no record
ended the stretch before that; `doubtful_from` is that of `int_clusters__incarnations`; `last_seen_of_cluster_at` is until when
the logs of the incarnation reach, `all_stopped_at` when the last of its brokers was stopped, if all were.
-#}
{% macro ended_with_incarnation(stretches, incarnations='incarnations', observed='observed') -%}
    select
        {{ stretches }}.* except (ended_at),
        least(
            {{ stretches }}.ended_at,
            nullif({{ incarnations }}.valid_to, timestamp '9999-01-01 00:00:00')
        ) as ended_at,
        coalesce({{ stretches }}.ended_at > {{ incarnations }}.valid_to, {{ stretches }}.ended_at is null)
            as is_end_placed,
        {{ incarnations }}.doubtful_from,
        {{ observed }}.last_seen_at as last_seen_of_cluster_at,
        {{ observed }}.all_stopped_at
    from {{ stretches }}
    left join {{ incarnations }} using (cluster_id, cluster_incarnation)
    left join {{ observed }} using (cluster_id, cluster_incarnation)
{%- endmacro %}


{#-
The columns of a stretch that follow its end: is_open, observed_until, duration_ms, duration_so_far_ms. An open stretch is known to last until the
logs of its cluster end, or until `signs`: later records that show it. `is_open`: a condition, for stretches that may have ended at an unknown time.
-#}
{% macro stretch(start='started_at', end='ended_at', last_seen='last_seen_of_cluster_at', signs=[], is_open=none) -%}
    {%- set open = is_open or end ~ ' is null' -%}
    {%- set reached = 'greatest(' ~ ([last_seen, start] + signs) | join(', ') ~ ')' -%}
    {{ open }} as is_open,
    if({{ open }}, {{ reached }}, {{ end }}) as observed_until,
    unix_millis({{ end }}) - unix_millis({{ start }}) as duration_ms,
    unix_millis(if({{ open }}, {{ reached }}, {{ end }})) - unix_millis({{ start }}) as duration_so_far_ms
{%- endmacro %}
