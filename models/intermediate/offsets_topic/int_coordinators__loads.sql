with steps as (
    select * from {{ ref('int_coordinators__load_steps') }}
),

loads as (
    select
        cluster_id,
        cluster_incarnation,
        node_id,
        topic_name,
        partition_id,
        run_number,
        load_number,
        max(process_ended_at) as process_ended_at,
        min(case when step = 'started' then logged_at end) as logged_start_at,
        min(
            case
                when step in ('completed', 'failed', 'cancelled') and is_part
                    then struct(logged_at, step)
            end
        ) as logged_end,
        min(case when step = 'confirmed' and is_part then logged_at end) as confirmed_at,
        max(case when step = 'leaving' and is_part then logged_at end) as leaving_at,
        max(step = 'skipped') as is_skipped,
        max(case when step in ('started', 'completed') then coordinator_epoch end)
            as coordinator_epoch,
        max(case when step = 'completed' then duration_ms end) as printed_ms,
        min(case when step = 'completed' then timestamp_millis(load_start_ms) end)
            as printed_start_at,
        max(case when step in ('completed', 'confirmed') then records_loaded end)
            as records_loaded,
        max(case when step = 'completed' then bytes_loaded end) as bytes_loaded,
        max(case when step = 'failed' then error end) as error,
        {{ evidence('is_part') }} as evidence,
        count_if(is_part) as evidence_count
    from steps
    where load_number > 0
    group by
        cluster_id,
        cluster_incarnation,
        node_id,
        topic_name,
        partition_id,
        run_number,
        load_number
),

ended as (
    select
        *,
        coalesce(
            logged_start_at,
            printed_start_at,
            case
                when logged_end.step = 'completed'
                    then logged_end.logged_at - make_dt_interval(0, 0, 0, printed_ms / 1000.0)
            end,
            logged_end.logged_at
        ) as started_at,
        case
            when logged_end is not null then logged_end.step
            when confirmed_at is not null then 'completed'
            when leaving_at > logged_start_at then 'cancelled'
            when process_ended_at is not null then 'process_ended'
            else 'open'
        end as outcome,
        coalesce(
            logged_end.logged_at,
            confirmed_at,
            case when leaving_at > logged_start_at then leaving_at end,
            process_ended_at
        ) as ended_at
    from loads
),

-- A start that the node then calls needless, because the partition is already loaded, is not a
-- load.
needed as (
    select *
    from ended
    where not (is_skipped and outcome in ('cancelled', 'process_ended', 'open'))
),

-- One thread loads one partition after the other, in the order in which they are queued: of the
-- loads that the end of the process cut off, it had begun only the first.
final as (
    select
        *,
        outcome = 'process_ended'
        and row_number() over (
            partition by
                cluster_id, cluster_incarnation, node_id, topic_name, run_number, outcome
            order by started_at, get(evidence, 0).source_path, get(evidence, 0).byte_offset
        ) = 1 as is_in_hand
    from needed
)

select * from final
