with outages as (
    select * from {{ ref('int_cleaners__outages') }}
),

final as (
    select
        {{
            row_key([
                'cluster_id',
                'cluster_incarnation',
                'node_id',
                'found_by',
                'cleaner_thread',
                'topic_name',
                'partition_id',
                'stopped_at',
            ])
        }} as log_cleaner_outage_key,
        cluster_id,
        cluster_incarnation,
        node_id,
        cleaner_thread,
        topic_name,
        partition_id,
        extent,
        stopped_at,
        noticed_at,
        resumed_at,
        cast(stopped_at as date) as stopped_date,
        unix_millis(resumed_at) - unix_millis(stopped_at) as duration_ms,
        found_by,
        cause,
        evidence,
        evidence_count,
        {{
            warnings({
                'no end in the evidence': 'resumed_at is null',
                'it stopped between stopped_at, its last sign of life, and noticed_at':
                    "found_by in ('thread_dump', 'metric', 'silence') and stopped_at < noticed_at",
                'nothing tells since when': "found_by in ('thread_dump', 'metric') and stopped_at = noticed_at",
                'silence alone: its log may be missing': "found_by = 'silence'",
                'concluded: the partition is the one that the thread had begun to clean':
                    "extent <> 'partition' and partition_id is not null"
            })
        }} as warnings
    from outages
)

select * from final
