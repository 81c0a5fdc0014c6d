with days as (
    select
        cluster_id,
        node_id,
        event_date,
        starts,
        unclean_shutdowns,
        expiries_gc_pause + expiries_process_stall + expiries_process_death + expiries_network
        + expiries_unknown as sessions_lost,
        controllerships_won,
        node_daily_key
    from {{ ref('rpt_node_daily') }}
    where {{ question_filter(node='node_id', start='cast(event_date as timestamp)') }}
)

select *
from days
where starts + unclean_shutdowns + sessions_lost >= 3
order by
    starts + unclean_shutdowns + sessions_lost desc, cluster_id asc, node_id asc, event_date asc
