with stretches as (
    select * from {{ ref('int_cleaners__quiet_stretches') }}
),

-- The rhythm of the node's cleaner: its longest silence between two cleanings, and the most
-- segments rolled during one.
compared as (
    select
        *,
        lead(alive_at) over (in_order) as next_alive_at,
        lead(is_cleaning) over (in_order) as next_is_cleaning,
        lead(slice(evidence, 1, 1)) over (in_order) as next_alive_evidence,
        unix_millis(last_rolled_at) - unix_millis(alive_at) as silent_ms
    from stretches
    window in_order as (
        partition by cluster_id, cluster_incarnation, node_id order by stretch_number
    )
),

paced as (
    select
        *,
        sum(cast(is_cleaning as int)) over (so_far) as cleanings_before,
        max(
            case
                when next_is_cleaning
                    then unix_millis(next_alive_at) - unix_millis(alive_at)
            end
        ) over (so_far) as longest_gap_ms,
        max(case when next_is_cleaning then segments_rolled end) over (so_far) as max_rolled
    from compared
    window so_far as (
        partition by cluster_id, cluster_incarnation, node_id
        order by stretch_number
        rows between unbounded preceding and 1 preceding
    )
),

final as (
    select
        *,
        greatest({{ var('cleaner_silence_ms') }}, 4 * longest_gap_ms) as usual_silence_ms
    from paced
)

select * from final
