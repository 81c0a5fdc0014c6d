{{ config(materialized='table', file_format='parquet') }}

with metric_samples as (
    select * from {{ source('bronze', 'metric_samples') }}
),

named as (
    select
        cluster_id,
        node_id,
        sampled_at,
        event_date,
        metric,
        attribute,
        labels,
        array_join(
            array_sort(
                transform(
                    map_entries(labels), label -> concat(label.key, '=', coalesce(label.value, ''))
                )
            ),
            ','
        ) as labels_text,
        unit,
        kind,
        source_kind,
        source_id,
        source_path,
        byte_offset,
        row_number,
        value,
        warnings
    from metric_samples
    where sampled_at is not null and {{ in_built_clusters() }}
),

-- An answer of Jolokia to two requests may hold the same value twice; two exporters may say the same.
numbered as (
    select
        *,
        row_number() over (
            partition by cluster_id, node_id, metric, attribute, labels_text, sampled_at
            order by source_path, source_id, byte_offset, row_number
        ) as occurrence
    from named
),

final as (
    select
        cluster_id,
        node_id,
        sampled_at,
        event_date,
        metric,
        attribute,
        labels,
        labels_text,
        unit,
        kind,
        source_kind,
        source_id,
        source_path,
        byte_offset,
        value,
        warnings
    from numbered
    where occurrence = 1
    order by metric, sampled_at
)

select * from final
