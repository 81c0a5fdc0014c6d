{{ config(meta={'at': 'stopped_at'}) }}

with signs as (
    select * from {{ ref('int_cleaners__signs') }}
    where sign in ('restarted', 'uncleanable')
),

thread_outages as (
    select * from {{ ref('int_cleaners__thread_outages') }}
),

quiet_outages as (
    select * from {{ ref('int_cleaners__quiet_outages') }}
),

disabled_stretches as (
    select * from {{ ref('int_cleaners__disabled_stretches') }}
),

silences as (
    select * from {{ ref('int_processes__long_silences') }}
),

lives as (
    select * from {{ ref('int_topics__lives') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

observed as (
    select * from {{ ref('int_clusters__observed') }}
),

-- The cleaner forgets uncleanable partitions only when it restarts.
turned as (
    select
        *,
        count_if(sign = 'restarted') over (
            partition by cluster_id, cluster_incarnation, node_id, process_name
            order by signed_at, source_path, byte_offset
            rows between unbounded preceding and current row
        ) as turn_number,
        lead(case when sign = 'restarted' then signed_at end) ignore nulls over (
            partition by cluster_id, cluster_incarnation, node_id, process_name
            order by signed_at, source_path, byte_offset
        ) as restarted_at,
        lead(
            case when sign = 'restarted' then array(struct(node_id, source_path, byte_offset)) end
        ) ignore nulls over (
            partition by cluster_id, cluster_incarnation, node_id, process_name
            order by signed_at, source_path, byte_offset
        ) as restarted_evidence
    from signs
),

given_up as (
    select
        cluster_id,
        cluster_incarnation,
        node_id,
        process_name,
        min(cleaner_thread) as cleaner_thread,
        topic_name,
        partition_id,
        false as is_partition_concluded,
        turn_number,
        'partition' as scope,
        min(signed_at) as stopped_at,
        min(signed_at) as noticed_at,
        min(restarted_at) as resumed_at,
        if(partition_id is null, 'metric', 'thread_error') as found_by,
        min_by(cause, struct(signed_at, source_path, byte_offset)) filter (where cause is not null)
            as cause,
        {{ evidence(at='signed_at') }} as evidence,
        count(*) as evidence_count,
        min_by(restarted_evidence, struct(signed_at, source_path, byte_offset)) as end_evidence
    from turned
    where sign = 'uncleanable'
    group by
        cluster_id,
        cluster_incarnation,
        node_id,
        process_name,
        topic_name,
        partition_id,
        turn_number
),

-- A metric counts the partitions without naming them: where the log names one, the count adds nothing.
named as (
    select
        *,
        max(partition_id) over (
            partition by cluster_id, cluster_incarnation, node_id, process_name, turn_number
            order by stopped_at
            rows between unbounded preceding and unbounded following
        ) as named_partition_id
    from given_up
),

-- One row per partition that the cleaner marked uncleanable, until it restarts.
partition_outages as (
    select * except (named_partition_id, turn_number)
    from named
    where partition_id is not null or named_partition_id is null
),

-- One row per stretch in which a log cleaner did not clean.
outages as (
    select
        cluster_id,
        cluster_incarnation,
        node_id,
        process_name,
        cleaner_thread,
        topic_name,
        partition_id,
        is_partition_concluded,
        scope,
        stopped_at,
        noticed_at,
        resumed_at,
        found_by,
        cause,
        evidence,
        evidence_count,
        end_evidence
    from thread_outages
    union all
    select
        cluster_id,
        cluster_incarnation,
        node_id,
        process_name,
        cleaner_thread,
        topic_name,
        partition_id,
        is_partition_concluded,
        scope,
        stopped_at,
        noticed_at,
        resumed_at,
        found_by,
        cause,
        evidence,
        evidence_count,
        end_evidence
    from partition_outages
    union all
    select
        cluster_id,
        cluster_incarnation,
        node_id,
        process_name,
        cleaner_thread,
        topic_name,
        partition_id,
        is_partition_concluded,
        scope,
        stopped_at,
        noticed_at,
        resumed_at,
        found_by,
        cause,
        evidence,
        evidence_count,
        end_evidence
    from quiet_outages
    union all
    select
        cluster_id,
        cluster_incarnation,
        node_id,
        process_name,
        cleaner_thread,
        topic_name,
        partition_id,
        is_partition_concluded,
        scope,
        stopped_at,
        noticed_at,
        resumed_at,
        found_by,
        cause,
        evidence,
        evidence_count,
        end_evidence
    from disabled_stretches
),

-- Whether the log of the node may have a hole during an outage.
silence_checked as (
    select
        outages.*,
        count(silences.cluster_id) > 0 as is_silent
    from outages
    left join silences
        on
            outages.cluster_id = silences.cluster_id
            and silences.process_name = concat('node ', outages.node_id)
            and outages.stopped_at <= silences.silent_from
            and outages.resumed_at >= silences.resumed_at
    group by all
),

placed as (
    {{ with_topic_incarnation('silence_checked', at='stopped_at') }}
),

stretches as (
    select
        * except (resumed_at),
        resumed_at as ended_at
    from placed
),

ended as (
    {{ ended_with_incarnation('stretches') }}
),

final as (
    select
        {{
            row_key([
                'cluster_id',
                'cluster_incarnation',
                'coalesce(cast(node_id as string), process_name)',
                'found_by',
                'cleaner_thread',
                'topic_name',
                'partition_id',
                'stopped_at',
            ])
        }} as log_cleaner_outage_key,
        {{ cluster_key() }} as cluster_key,
        {{ node_key() }} as node_key,
        {{ topic_key() }} as topic_key,
        {{ partition_key() }} as partition_key,
        cluster_id,
        cluster_incarnation,
        node_id,
        coalesce(process_name, concat('node ', node_id)) as process_name,
        cleaner_thread,
        topic_name,
        topic_incarnation,
        partition_id,
        scope,
        stopped_at,
        noticed_at,
        ended_at,
        {{ stretch(start='stopped_at') }},
        cast(stopped_at as date) as stopped_date,
        found_by,
        cause,
        if(is_end_placed, null, end_evidence) as end_evidence,
        evidence,
        evidence_count,
        {{
            warnings({
                'no end in the evidence': 'ended_at is null',
                'it had no end when the next incarnation of the cluster began': 'is_end_placed and ended_at is not null',
                'it stopped between stopped_at (last sign of life) and noticed_at':
                    "found_by in ('thread_dump', 'metric', 'silence') and stopped_at < noticed_at",
                'when it stopped is unknown': "found_by in ('thread_dump', 'metric') and stopped_at = noticed_at",
                'its log has nothing for much longer than usual: it may have resumed before ended_at':
                    'is_silent',
                'silence alone: its log may be missing': "found_by = 'silence'",
                'concluded: the partition is the one that the thread had begun to clean':
                    'is_partition_concluded',
                'no record says which node it is; process_name is its log': 'node_id is null'
            })
        }} as warnings
    from ended
)

select * from final
