with settings as (
    select * from {{ ref('int_partitions__settings') }}
),

final as (
    select
        {{
            row_key([
                'cluster_id', 'cluster_incarnation', 'topic_name', 'topic_incarnation', 'partition_id', 'valid_from'
            ])
        }} as partition_setting_key,
        {{ cluster_key() }} as cluster_key,
        {{ topic_key() }} as topic_key,
        {{ partition_key() }} as partition_key,
        cluster_id,
        cluster_incarnation,
        topic_name,
        topic_incarnation,
        partition_id,
        valid_from,
        valid_to,
        valid_to is null as is_current,
        replication_factor,
        min_insync_replicas,
        known_from
    from settings
)

select * from final
