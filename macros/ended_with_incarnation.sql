{#-
Stretches of the partitions of a cluster, of which none outlives the incarnation of its cluster: when
all storage is formatted anew, its partitions are gone, whatever state they were in. Both are names of
CTEs; `is_end_placed` says that no record ends the stretch in time, `doubtful_from` is as in
`int_clusters__incarnations`.
-#}
{% macro ended_with_incarnation(stretches, incarnations='incarnations') -%}
    select
        {{ stretches }}.* except (ended_at),
        least(
            {{ stretches }}.ended_at,
            nullif({{ incarnations }}.valid_to, timestamp '9999-01-01 00:00:00')
        ) as ended_at,
        coalesce({{ stretches }}.ended_at > {{ incarnations }}.valid_to, {{ stretches }}.ended_at is null)
            as is_end_placed,
        {{ incarnations }}.doubtful_from
    from {{ stretches }}
    left join {{ incarnations }} using (cluster_id, cluster_incarnation)
{%- endmacro %}
