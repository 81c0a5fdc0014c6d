with sources as (
    select * from {{ source('bronze', 'sources') }}
),

read_files as (
    select
        cluster_id,
        source_id,
        node_id,
        node_known_by,
        source_path,
        batch_id
    from sources
    where outcome in ('read', 'cut') and {{ in_built_clusters() }}
),

latest as (
    {{ latest_per('read_files', ['cluster_id', 'source_id'], ['batch_id desc', 'source_path']) }}
),

final as (
    select
        cluster_id,
        source_id,
        node_id,
        node_known_by
    from latest
)

select * from final
