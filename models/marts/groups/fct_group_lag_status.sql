with statuses as (
    select * from {{ ref('int_groups__lag_status') }}
),

lives as (
    select * from {{ ref('int_topics__lives') }}
),

placed as (
    {{ with_topic_incarnation('statuses', at='window_started_at') }}
),

final as (
    select
        {{
            row_key([
                'cluster_id', 'cluster_incarnation', 'group_id', 'topic_name', 'partition_id', 'source_kind', 'status_kind', 'window_started_at'
            ])
        }} as group_lag_status_key,
        {{ cluster_key() }} as cluster_key,
        {{ topic_key() }} as topic_key,
        {{ partition_key() }} as partition_key,
        {{ group_key() }} as group_key,
        cluster_id,
        cluster_incarnation,
        group_id,
        topic_name,
        topic_incarnation,
        partition_id,
        source_kind,
        status_kind,
        status,
        window_started_at,
        window_ended_at,
        cast(window_started_at as date) as window_date,
        samples,
        first_offset,
        last_offset,
        first_lag,
        last_lag,
        evidence,
        evidence_count,
        {{
            warnings({
                'too few samples to evaluate': 'status is null',
                'window not full': 'is_incomplete',
                'no times of commits: a stop and a stall look alike': 'is_stop_or_stall',
                'level at its last commit, so Burrow may still wait': 'is_stop_doubtful',
                'dated by the last change of the file: its text names no time': 'coalesce(is_dated_by_file, false)'
            })
        }} as warnings
    from placed
)

select * from final
