with loads as (
    select * from {{ ref('int_coordinators__loads') }}
),

lives as (
    select * from {{ ref('int_topics__lives') }}
),

placed as (
    {{ with_topic_incarnation('loads', at='started_at') }}
),

final as (
    select
        {{
            row_key([
                'cluster_id',
                'cluster_incarnation',
                'node_id',
                'topic_name',
                'partition_id',
                'started_at',
                'ended_at',
            ])
        }} as coordinator_load_key,
        {{ cluster_key() }} as cluster_key,
        {{ node_key() }} as node_key,
        {{ topic_key() }} as topic_key,
        {{ partition_key() }} as partition_key,
        cluster_id,
        cluster_incarnation,
        node_id,
        topic_name,
        topic_incarnation,
        partition_id,
        coordinator_epoch,
        started_at,
        case when outcome = 'completed' then ended_at end as finished_at,
        ended_at,
        cast(started_at as date) as started_date,
        case when outcome = 'completed' then unix_millis(ended_at) - unix_millis(started_at) end
            as duration_ms,
        outcome,
        outcome in ('process_ended', 'open') as is_unfinished,
        records_loaded,
        bytes_loaded,
        error,
        evidence,
        evidence_count,
        {{
            warnings({
                'start not in the logs': 'logged_start_at is null',
                'no end in the logs': "outcome = 'open'",
                'concluded: it was being loaded when the process ended': 'is_in_hand',
                'concluded: it waited behind another load when the process ended':
                    "outcome = 'process_ended' and not is_in_hand"
            })
        }} as warnings
    from placed
)

select * from final
