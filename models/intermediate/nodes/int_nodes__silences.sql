{{ config(materialized='table', file_format='parquet') }}

with minutes as (
    select * from {{ ref('int_nodes__minutes') }}
),

followed as (
    select
        cluster_id,
        node_id,
        lag(last_record.logged_at) over (
            partition by cluster_id, node_id order by minute_at, start_number, first_seen_at
        ) as silent_from,
        first_seen_at as resumed_at
    from minutes
),

long_ones as (
    select
        *,
        unix_millis(resumed_at) - unix_millis(silent_from) as silence_ms
    from followed
    where resumed_at >= silent_from + interval 10 minutes
),

-- The longest but one, and of more than fifty the longest but two, and so on: a log may have several holes.
usual as (
    select
        cluster_id,
        node_id,
        coalesce(
            get(sort_array(collect_list(silence_ms), false), cast(count(*) div 50 as int) + 1), 0
        ) as usual_ms
    from long_ones
    group by cluster_id, node_id
),

-- One row per stretch in which a node logged nothing for half an hour or longer, and three times as long as it does otherwise.
final as (
    select
        long_ones.cluster_id,
        long_ones.node_id,
        long_ones.silent_from,
        long_ones.resumed_at
    from long_ones
    inner join usual using (cluster_id, node_id)
    where long_ones.silence_ms >= 3 * greatest(usual.usual_ms, 600000)
)

select * from final
