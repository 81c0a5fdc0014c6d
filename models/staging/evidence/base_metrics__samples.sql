{{ config(materialized='table', meta={'known_values': 'metric'}) }}

with metric_samples as (
    select * from {{ source('bronze', 'metric_samples') }} where {{ in_built_clusters() }}
),

nodes as (
    select * from {{ ref('base_sources__nodes') }}
),

-- A node that the file's own text does not name may have become known after it was read.
named as (
    select
        metric_samples.cluster_id,
        case
            when metric_samples.node_known_by = 'content' then metric_samples.node_id
            else nodes.node_id
        end as node_id,
        metric_samples.sampled_at,
        metric_samples.sampled_known_by,
        metric_samples.event_date,
        metric_samples.metric,
        metric_samples.attribute,
        metric_samples.labels,
        array_join(
            sort_array(
                transform(
                    map_entries(metric_samples.labels),
                    label -> concat(label.key, '=', coalesce(label.value, ''))
                )
            ),
            ','
        ) as labels_text,
        nullif(metric_samples.unit, '') as unit,
        metric_samples.kind,
        metric_samples.source_kind,
        metric_samples.source_id,
        metric_samples.source_path,
        metric_samples.byte_offset,
        metric_samples.row_number,
        metric_samples.value,
        metric_samples.warnings
    from metric_samples
    left join nodes
        on
            metric_samples.cluster_id = nodes.cluster_id
            and metric_samples.source_id = nodes.source_id
    where metric_samples.sampled_at is not null
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
        sampled_known_by,
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
