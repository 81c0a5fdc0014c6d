with isr_changes as (
    select * from {{ ref('fct_isr_changes') }}
),

truncations as (
    select * from {{ ref('fct_truncations') }}
),

disconnects as (
    select * from {{ ref('fct_fetcher_disconnects_hourly') }}
),

under_replicated as (
    select * from {{ ref('fct_under_replicated_windows') }}
),

-- Out of sync until it is in the set again.
shrinks as (
    select
        isr_changes.*,
        replica_id
    from isr_changes
        lateral view explode(removed) replicas as replica_id
    where change_kind = 'shrunk'
),

followed as (
    select
        shrinks.*,
        under_replicated.ended_at as returned_at
    from shrinks
    inner join under_replicated
        on
            shrinks.cluster_id = under_replicated.cluster_id
            and shrinks.topic_name = under_replicated.topic_name
            and shrinks.partition_id = under_replicated.partition_id
            and shrinks.replica_id = under_replicated.replica_id
            and shrinks.changed_at = under_replicated.started_at
),

final as (
    select
        {{
            incident_fact(
                'fct_isr_changes', 'isr_change_key', "'isr_shrunk'", 'changed_at',
                'returned_at', nodes='array(replica_id)', other='node_id',
                topic='topic_name', partition='partition_id', burst='replica_id'
            )
        }}
    from followed
    union all
    select
        {{
            incident_fact(
                'fct_truncations', 'truncation_key', "'records_truncated'", 'truncated_at', 'truncated_at',
                nodes='array(node_id)', topic='topic_name', partition='partition_id',
                amount='records_truncated', burst='node_id'
            )
        }}
    from truncations
    where records_truncated > 0 and node_id is not null
    union all
    select
        {{
            incident_fact(
                'fct_fetcher_disconnects_hourly', 'fetcher_disconnects_hourly_key', "'fetch_disconnects'",
                'first_at', 'last_at', nodes='array(node_id)', other='source_node_id',
                amount='disconnects', burst="concat(node_id, '<', source_node_id)"
            )
        }}
    from disconnects
    where node_id is not null
)

select * from final
