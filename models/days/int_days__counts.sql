with elections as (
    select * from {{ ref('fct_leader_elections') }}
),

tenures as (
    select * from {{ ref('fct_controller_tenures') }}
),

session_expiries as (
    select * from {{ ref('fct_session_expiries') }}
),

incidents as (
    select * from {{ ref('fct_incidents') }}
),

isr_changes as (
    select * from {{ ref('fct_isr_changes') }}
),

process_stalls as (
    select * from {{ ref('fct_process_stalls') }}
),

gc_pauses as (
    select * from {{ ref('fct_gc_pauses') }}
),

truncations as (
    select * from {{ ref('fct_truncations') }}
),

growth as (
    select * from {{ ref('fct_offsets_topic_growth_hourly') }}
),

final as (
    select
        {{
            day_count("concat('elections_', election_kind)", 'elected_date', node='leader_id')
        }}
    from elections
    union all
    select
        {{ day_count("'controller_changes'", 'elected_date', node='controller_id') }}
    from tenures
    union all
    select
        {{ day_count("concat('expiries_', cause_kind)", 'expired_date') }}
    from session_expiries
    union all
    select
        {{
            day_count(
                "if(is_maintenance, 'maintenances', 'incidents')", 'started_date', node='null'
            )
        }}
    from incidents
    union all
    select
        {{ day_count("concat('isr_', change_kind)", 'changed_date') }}
    from isr_changes
    union all
    select
        {{ day_count("'stall_ms'", 'started_date', value='duration_ms') }}
    from process_stalls
    union all
    select
        {{ day_count("'gc_pause_ms'", 'started_date', value='duration_ms') }}
    from gc_pauses
    union all
    select
        {{ day_count("'records_given_up'", 'truncated_date', value='records_given_up') }}
    from truncations
    union all
    select
        {{ day_count("'offsets_growth_bytes'", 'cast(hour_at as date)', value='bytes_growth') }}
    from growth
    union all
    select
        {{ day_count("'abnormal_offsets_hours'", 'cast(hour_at as date)') }}
    from growth
    where is_abnormal
)

select * from final
