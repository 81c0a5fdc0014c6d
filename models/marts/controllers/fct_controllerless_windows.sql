{{ config(meta={'at': 'started_at'}) }}

with vacancies as (
    select * from {{ ref('int_controllers__vacancies') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

observed as (
    select * from {{ ref('int_clusters__observed') }}
),

ended as (
    {{ ended_with_incarnation('vacancies') }}
),

final as (
    select
        {{
            row_key(['cluster_id', 'cluster_incarnation', 'epoch_kind', 'last_epoch', 'started_at'])
        }} as controllerless_window_key,
        {{ cluster_key() }} as cluster_key,
        {{ node_key('last_controller_id') }} as node_key,
        cluster_id,
        cluster_incarnation,
        epoch_kind,
        last_epoch,
        started_at,
        ended_at,
        {{ stretch(signs=['last_sign_at']) }},
        cast(started_at as date) as started_date,
        last_sign_at,
        last_controller_id,
        next_controller_id,
        epochs,
        if(is_described, 'describe', 'log') as known_by,
        if(is_end_placed, null, end_evidence) as end_evidence,
        evidence,
        evidence_count,
        {{
            warnings({
                'no end in the logs': 'ended_at is null',
                'it had no end when the next incarnation of the cluster began': 'is_end_placed and ended_at is not null',
                'the last controller may have ended before: this is when another node first says that it knows none': 'not is_start_known',
                'only one node says so: it may have been cut off from the others': 'is_told_by_one',
                'a time is the last change of the file: the describe names none': 'is_dated_by_file',
                'no record tells how it ended: ended_at is when a node last says so, or when the last that said so ended': 'ended_at is not null and not is_ended_by_next and not is_end_placed'
            })
        }} as warnings
    from ended
)

select * from final
