with copies as (
    select * from {{ ref('stg_logs__remote_copies') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

-- Copies that fail one after the other are one stretch, until a segment is copied, or nothing is tried for an hour.
marked as (
    select
        *,
        is_failure
        and coalesce(
            not lag(is_failure) over (copies_of)
            or logged_at > lag(logged_at) over (copies_of) + interval 1 hour,
            true
        ) as is_first,
        lead(
            case
                when not is_failure then struct(logged_at, node_id, source_path, byte_offset)
            end
        ) ignore nulls over (copies_of) as next_copy
    from copies
    window copies_of as (
        partition by cluster_id, node_id, topic_name, partition_id
        order by logged_at, source_id, byte_offset
    )
),

numbered as (
    select
        *,
        count_if(is_first) over (
            partition by cluster_id, node_id, topic_name, partition_id
            order by logged_at, source_id, byte_offset
            rows between unbounded preceding and current row
        ) as stall_number
    from marked
),

stretches as (
    select
        cluster_id,
        node_id,
        topic_name,
        partition_id,
        min(logged_at) as started_at,
        max(logged_at) as last_failed_at,
        min(next_copy) as closing,
        count(*) as failures,
        max_by(exception, struct(logged_at, source_id, byte_offset)) filter (
            where exception is not null
        ) as exception,
        max_by(exception_message, struct(logged_at, source_id, byte_offset)) filter (
            where exception_message is not null
        ) as exception_message,
        {{ evidence() }} as evidence,
        count(*) as evidence_count
    from numbered
    where is_failure
    group by cluster_id, node_id, topic_name, partition_id, stall_number
),

stalls as (
    select
        * except (closing),
        closing.logged_at as ended_at,
        if(
            closing is null,
            null,
            array(struct(closing.node_id, closing.source_path, closing.byte_offset))
        ) as end_evidence
    from stretches
),

final as (
    {{ placed('stalls', at='started_at') }}
)

select * from final
