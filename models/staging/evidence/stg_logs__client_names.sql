with records as (
    select * from {{ source('bronze', 'log_records') }}
),

-- Only what a process says of itself: a prefix that names the client, or the settings that it
-- prints. A broker's line may name any client, but its prefix names the broker.
named as (
    select
        cluster_id,
        {{ process_name(of_record=true) }} as process_name,
        logged_at,
        source_id,
        source_path,
        byte_offset,
        coalesce(
            {{ field('stream_client') }},
            substring_index({{ field('stream_thread') }}, '-StreamThread-', 1),
            {{ field('client_id') }},
            {{ field('member_id') }}
        ) as prefix_id,
        case
            when {{ has_role('client_config') }} then {{ given(field('client.id')) }}
            when {{ has_role('config_override') }} and {{ field('setting') }} = 'client.id'
                then {{ given(field('setting_value')) }}
        end as configured_id,
        context,
        case
            when coalesce({{ field('stream_client') }}, {{ field('stream_thread') }}) is not null
                then 2
            when {{ field('client_id') }} is null and {{ field('member_id') }} is not null then 1
            when {{ field('group_id') }} is not null then 3
            when {{ field('config_class') }} = 'ConsumerConfig' then 3
            else 4
        end as name_rank
    from records
    where {{ in_built_clusters() }} and node_id is null
),

final as (
    select
        cluster_id,
        process_name,
        logged_at,
        source_id,
        source_path,
        byte_offset,
        coalesce(configured_id, prefix_id) as client_id,
        name_rank
    from named
    where
        configured_id is not null
        or (prefix_id <> '' and contains(context, prefix_id))
)

select * from final
