{#- Columns with the sums of int_days__measures, null where the day has no evidence: nothing known is not nothing happened. -#}
{% macro measures(names, known) -%}
    {%- for name in names %}
    case
        when {{ known }}
            then coalesce(sum(value) filter (where measure = '{{ name }}'), 0)
    end as {{ name }}{{ ',' if not loop.last }}
    {%- endfor -%}
{%- endmacro %}


{#- The measures that reports of a day hold, in order. -#}
{% macro daily_measures() -%}
    {{ return([
        'elections_leader_lost', 'elections_controlled_shutdown', 'elections_preferred', 'elections_reassignment',
        'elections_unclean', 'elections_initial', 'controller_changes', 'expiries_gc_pause', 'expiries_process_stall',
        'expiries_process_death', 'expiries_network', 'expiries_unknown', 'isr_shrunk', 'isr_expanded',
        'leaderless_ms', 'under_replicated_ms', 'stale_epoch_ms', 'without_session_ms', 'stall_ms', 'gc_pause_ms',
        'cleaner_outage_ms', 'abnormal_offsets_hours', 'offsets_growth_bytes', 'records_given_up'
    ]) }}
{%- endmacro %}


{#- The columns of int_days__counts for the rows of one fact. -#}
{% macro day_count(measure, event_date, node='node_id', value='1') -%}
    cluster_id,
    cast({{ node }} as int) as node_id,
    {{ measure }} as measure,
    {{ event_date }} as event_date,
    cast({{ value }} as bigint) as value
{%- endmacro %}


{#- The columns of a stretch of time for int_days__windows, for the rows of one fact. -#}
{% macro day_window(measure, started_at, ended_at, node='node_id') -%}
    cluster_id,
    cast({{ node }} as int) as node_id,
    '{{ measure }}' as measure,
    {{ started_at }} as started_at,
    {{ ended_at }} as ended_at
{%- endmacro %}
