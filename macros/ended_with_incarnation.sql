{#-
Stretches of time of partitions, each of which ends at the latest when the incarnation of its cluster
does: formatting the storage removes the partitions. `stretches` and `incarnations` are names of CTEs. `is_end_placed`
is true where no record ended the stretch before that; `doubtful_from` is that of `int_clusters__incarnations`.
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
