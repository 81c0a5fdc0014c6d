with signs as (
    select * from {{ ref('int_cleaners__thread_signs') }}
),

-- A thread that ends while its process shuts down is not an outage, nor is an error that the shutdown caused.
outages as (
    select
        cluster_id,
        cluster_incarnation,
        node_id,
        process_name,
        cleaner_thread,
        -- What the error itself says counts before what the thread had begun.
        min_by(
            struct(topic_name, partition_id), struct(signed_at, source_path, byte_offset)
        ) filter (where partition_id is not null) as named,
        min_by(last_words, struct(signed_at, source_path, byte_offset)) as last_words,
        min(signed_at) as stopped_at,
        min(least(restarted_at, alive_at)) as resumed_at,
        min_by(
            if(coalesce(restarted_at <= alive_at, alive_at is null), restarted_line, alive_line),
            struct(least(restarted_at, alive_at), signed_at, source_path, byte_offset)
        ) filter (where restarted_at is not null or alive_at is not null) as resumed_line,
        min_by(cause, struct(signed_at, source_path, byte_offset)) filter (where cause is not null)
            as cause,
        {{ evidence(at='signed_at') }} as evidence,
        count(*) as evidence_count
    from signs
    where
        sign = 'dead'
        and coalesce(cleaner_state, '') <> 'stopping'
        and (stopping_at is null or stopping_at > signed_at + interval 10 seconds)
    group by
        cluster_id,
        cluster_incarnation,
        node_id,
        process_name,
        cleaner_thread,
        cleaner_state_number,
        life_number
),

judged as (
    select
        *,
        named is null and coalesce(last_words.is_begun, false) as is_partition_concluded
    from outages
),

final as (
    select
        cluster_id,
        cluster_incarnation,
        node_id,
        process_name,
        cleaner_thread,
        if(is_partition_concluded, last_words.topic_name, named.topic_name) as topic_name,
        if(is_partition_concluded, last_words.partition_id, named.partition_id) as partition_id,
        is_partition_concluded,
        if(cleaner_thread is null, 'cleaner', 'thread') as scope,
        stopped_at,
        stopped_at as noticed_at,
        resumed_at,
        'thread_error' as found_by,
        cause,
        if(
            is_partition_concluded,
            -- The error comes first: it is the outage itself.
            concat(
                slice(evidence, 1, 9),
                array(
                    named_struct(
                        'node_id', node_id,
                        'source_path', last_words.source_path,
                        'byte_offset', last_words.byte_offset
                    )
                )
            ),
            evidence
        ) as evidence,
        evidence_count + if(is_partition_concluded, 1, 0) as evidence_count,
        if(resumed_line is null, null, array(resumed_line)) as end_evidence
    from judged
)

select * from final
