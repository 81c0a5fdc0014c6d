{{
    config(
        materialized='table',
        meta={
            'at': 'hour_at',
            'ahead': {'hours': 1},
            'carried': ['cluster_id', 'cluster_incarnation', 'node_id', 'partition_id'],
            'back': {'hours': 24}
        }
    )
}}

-- A node has one size of segments, that of its last configuration.
{{ whole_for(['node_config']) }}
with steps as (
    select * from {{ ref('int_offsets__size_records') }}
    where {{ since('hour_at') }}
),

minutes as (
    select * from {{ ref('int_nodes__minutes') }}
    where {{ since('minute_at') }}
),

{% call in_part() %}
before as (
    select * from {{ as_before() }}
),

-- One row per node and offsets partition: its last hour before those that are made now.
carried as (
    {{
        last_before(
            'before',
            at='hour_at',
            key=['cluster_id', 'cluster_incarnation', 'node_id', 'partition_id']
        )
    }}
),
{% endcall %}

-- If the size of a partition was never reported, only its growth is known.
turned as (
    select
        *,
        case
            when measured_bytes is not null
                then struct(logged_at, source_path, byte_offset, measured_bytes as bytes)
        end as measure,
        case
            when {{ has_role('segment_roll') }} then segment_bytes
            when {{ has_role('segment_deletion') }} then -coalesce(deleted_bytes, 0)
            when
                {{ has_role('cleaning_end') }}
                then coalesce(reported_bytes - cleaned_from_bytes, 0)
            else 0
        end as turned_bytes
    from steps
),

-- A reported size holds until the next one; segments that were rolled since are added.
counted as (
    select
        *,
        count(reported_bytes) over (
            partition by cluster_id, cluster_incarnation, node_id, partition_id
            order by logged_at, source_path, byte_offset
            rows between unbounded preceding and current row
        ) as reported_size_number
    from turned
),

reckoned as (
    select
        *,
        coalesce(
            max(reported_bytes) over (so_far)
            {% call in_part() %}, carried_bytes{% endcall %}
        )
        + sum(if(reported_bytes is null, turned_bytes, 0)) over (so_far) as reckoned_bytes
    from counted
    {% call in_part() %}
    left join (
        select
            cluster_id,
            cluster_incarnation,
            node_id,
            partition_id,
            reckoned_bytes as carried_bytes
        from carried
    ) using (cluster_id, cluster_incarnation, node_id, partition_id)
    {% endcall %}
    window so_far as (
        partition by cluster_id, cluster_incarnation, node_id, partition_id, reported_size_number
        order by logged_at, source_path, byte_offset
        rows between unbounded preceding and current row
    )
),

-- One row per node, offsets partition and hour that has a record.
hours as (
    select
        cluster_id,
        cluster_incarnation,
        node_id,
        partition_id,
        hour_at,
        max(segment_bytes) as segment_bytes,
        max(is_segment_size_known) as is_segment_size_known,
        count_if({{ has_role('segment_roll') }}) as segments_rolled,
        count_if({{ has_role('segment_deletion') }}) as segments_deleted,
        sum(turned_bytes) as bytes_turned_over,
        count_if({{ has_role('cleaning_end') }}) as cleaner_runs,
        max_by(reckoned_bytes, struct(logged_at, source_path, byte_offset)) as reckoned_bytes,
        min(measure).bytes as first_measured_bytes,
        max(measure).bytes as last_measured_bytes,
        count(measured_bytes) as measures,
        max(measured_bytes is not null and is_unit_inferred) as is_unit_inferred,
        max(case when {{ has_role('cleaning_end') }} then logged_at end) as cleaned_at,
        max(case when {{ has_role('coordinator_load_end') }} then duration_ms end)
            as longest_load_ms,
        coalesce(sum(case when {{ has_role('tombstone_failure') }} then tombstones end), 0)
            as failed_tombstones,
        {{ evidence() }} as evidence,
        count(*) as evidence_count
    from reckoned
    group by cluster_id, cluster_incarnation, node_id, partition_id, hour_at
    {% call in_part() %}
    union all
    select
        cluster_id,
        cluster_incarnation,
        node_id,
        partition_id,
        hour_at,
        segment_bytes,
        is_segment_size_known,
        segments_rolled,
        segments_deleted,
        cast(null as bigint) as bytes_turned_over,
        cleaner_runs,
        reckoned_bytes,
        cast(null as bigint) as first_measured_bytes,
        last_measured_bytes,
        cast(null as bigint) as measures,
        is_unit_inferred,
        last_cleaned_at as cleaned_at,
        longest_load_ms,
        failed_tombstones,
        evidence,
        evidence_count
    from carried
    {% endcall %}
),

heard as (
    select
        cluster_id,
        node_id,
        date_trunc('hour', minute_at) as hour_at
    from minutes
    group by cluster_id, node_id, date_trunc('hour', minute_at)
),

spans as (
    select
        cluster_id,
        cluster_incarnation,
        node_id,
        partition_id,
        min(hour_at) as first_hour_at,
        lead(min(hour_at)) over (
            partition by cluster_id, node_id, partition_id order by cluster_incarnation
        ) as next_incarnation_at
    from hours
    group by cluster_id, cluster_incarnation, node_id, partition_id
),

-- A partition without records is carried on while its node logs anything; hours without any record of the node are unknown.
calendar as (
    select
        cluster_id,
        cluster_incarnation,
        node_id,
        partition_id,
        hour_at
    from hours
    union
    select
        spans.cluster_id,
        spans.cluster_incarnation,
        spans.node_id,
        spans.partition_id,
        heard.hour_at
    from spans
    inner join heard
        on
            spans.cluster_id = heard.cluster_id
            and spans.node_id = heard.node_id
            and spans.first_hour_at <= heard.hour_at
            and (spans.next_incarnation_at is null or spans.next_incarnation_at > heard.hour_at)
),

filled as (
    select
        calendar.cluster_id,
        calendar.cluster_incarnation,
        calendar.node_id,
        calendar.partition_id,
        calendar.hour_at,
        coalesce(hours.segments_rolled, 0) as segments_rolled,
        coalesce(hours.segments_deleted, 0) as segments_deleted,
        coalesce(hours.bytes_turned_over, 0) as bytes_turned_over,
        coalesce(hours.cleaner_runs, 0) as cleaner_runs,
        hours.first_measured_bytes,
        hours.last_measured_bytes,
        coalesce(hours.measures, 0) as measures,
        coalesce(hours.is_unit_inferred, false) as is_unit_inferred,
        coalesce(
            hours.last_measured_bytes, last_value(hours.reckoned_bytes, true) over (so_far)
        ) as bytes_at_end,
        last_value(hours.reckoned_bytes, true) over (so_far) as reckoned_bytes,
        hours.longest_load_ms,
        coalesce(hours.failed_tombstones, 0) as failed_tombstones,
        max(hours.cleaned_at) over (so_far) as last_cleaned_at,
        last_value(hours.segment_bytes, true) over (so_far) as segment_bytes,
        last_value(hours.is_segment_size_known, true) over (so_far) as is_segment_size_known,
        hours.evidence_count is null as is_carried,
        -- An hour without a record takes its values from the last hour that had one.
        last_value(hours.evidence, true) over (so_far) as evidence,
        last_value(hours.evidence_count, true) over (so_far) as evidence_count
    from calendar
    left join hours using (cluster_id, cluster_incarnation, node_id, partition_id, hour_at)
    window so_far as (
        partition by
            calendar.cluster_id,
            calendar.cluster_incarnation,
            calendar.node_id,
            calendar.partition_id
        order by calendar.hour_at
        rows between unbounded preceding and current row
    )
),

followed as (
    select
        *,
        lag(hour_at) over (in_order) as previous_hour_at,
        lag(bytes_at_end) over (in_order) as previous_bytes,
        lag(last_measured_bytes) over (in_order) as previous_measured_bytes
    from filled
    window in_order as (
        partition by cluster_id, cluster_incarnation, node_id, partition_id order by hour_at
    )
),

-- A measured size is compared with that of the previous hour; if that was not measured, with the
-- first of its own hour. Growth in hours without records is not attributed to any hour.
measured as (
    select
        *,
        case
            when last_measured_bytes is null then null
            when
                previous_measured_bytes is not null
                and previous_hour_at = hour_at - interval 1 hour
                then last_measured_bytes - previous_measured_bytes
            when measures > 1 then last_measured_bytes - first_measured_bytes
        end as measured_growth
    from followed
),

grown as (
    select
        * except (
            bytes_turned_over,
            first_measured_bytes,
            measures,
            previous_hour_at,
            previous_bytes,
            previous_measured_bytes
        ),
        coalesce(
            measured_growth,
            case
                when previous_measured_bytes is null and last_measured_bytes is null
                    then bytes_at_end - previous_bytes
            end,
            bytes_turned_over
        ) as bytes_growth
    from measured
    where {{ since('hour_at') }}
    {% call in_part() %}
    union all
    select * except (growth_24h)
    from before
    where {{ since('hour_at', '24 hours') }} and not ({{ since('hour_at') }})
    {% endcall %}
),

-- Growth is summed from the beginning, because Spark computes a sliding sum again for each row.
summed as (
    select
        *,
        count(bytes_growth) over (until_now) as hours_grown,
        sum(bytes_growth) over (until_now) as growth_so_far,
        count(bytes_growth) over (until_yesterday) as hours_grown_until_yesterday,
        sum(bytes_growth) over (until_yesterday) as growth_until_yesterday
    from grown
    window
        until_now as (
            partition by cluster_id, cluster_incarnation, node_id, partition_id
            order by hour_at
            range between unbounded preceding and current row
        ),
        until_yesterday as (
            partition by cluster_id, cluster_incarnation, node_id, partition_id
            order by hour_at
            range between unbounded preceding and interval 24 hours preceding
        )
),

final as (
    select
        * except (
            hours_grown,
            growth_so_far,
            hours_grown_until_yesterday,
            growth_until_yesterday
        ),
        case
            when hours_grown > hours_grown_until_yesterday
                then growth_so_far - coalesce(growth_until_yesterday, 0)
        end as growth_24h
    from summed
    where {{ since('hour_at') }}
)

select * from final
