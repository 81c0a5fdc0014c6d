with consumer_events as (
    select * from {{ ref('stg_logs__old_consumer_events') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

placed as (
    {{ placed('consumer_events') }}
),

-- The attempts of one rebalance follow each other, numbered from 0; later records belong to it
-- until the next rebalance.
final as (
    select
        *,
        {{ has_role([
            'old_consumer_rebalance_start',
            'old_consumer_rebalance_end',
            'old_consumer_rebalance_failure',
            'old_consumer_wait',
        ]) }}
        or is_given_up as is_of_rebalance,
        sum(if({{ has_role('old_consumer_rebalance_start') }} and attempt = 0, 1, 0))
            over (
                partition by cluster_id, cluster_incarnation, member_id
                order by logged_at, source_path, byte_offset
                rows between unbounded preceding and current row
            ) as rebalance_number,
        max(case when {{ has_role('old_consumer_expiry') }} then logged_at end)
            over (
                partition by cluster_id, cluster_incarnation, member_id
                order by logged_at, source_path, byte_offset
                rows between unbounded preceding and current row
            ) as session_expired_at
    from placed
)

select * from final
