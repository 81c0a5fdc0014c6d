{{ config(materialized='table') }}

with silences as (
    select * from {{ ref('int_processes__log_silences') }}
    where silence_ms >= 600000
),

-- The longest but one, and of more than fifty the longest but two, and so on: a log may have several holes.
usual as (
    select
        cluster_id,
        process_name,
        get(sort_array(collect_list(silence_ms), false), cast(count(*) div 50 as int) + 1)
            as usual_ms
    from silences
    group by cluster_id, process_name
),

-- One row per stretch in which a process logged nothing for half an hour or longer, and three times as long as it does otherwise.
final as (
    select
        silences.cluster_id,
        silences.process_name,
        silences.silent_from,
        silences.resumed_at
    from silences
    inner join usual using (cluster_id, process_name)
    where silences.silence_ms >= 3 * greatest(coalesce(usual.usual_ms, 0), 600000)
)

select * from final
