with clusters as (
    {{ of_all_clusters(ref('rpt_cluster_daily')) }}
),

final as (
    select
        event_date,
        count(*) as clusters,
        count_if(evidence_state = 'known') as clusters_known,
        count_if(evidence_state = 'unknown') as clusters_unknown,
        count_if(incidents > 0) as clusters_with_incidents,
        sum(records) as records,
        {%- for measure in daily_measures() %}
            sum({{ measure.name }}) as {{ measure.name }},
        {%- endfor %}
        1 - try_divide(
            sum(leaderless_ms),
            sum(partitions * observed_ms) filter (where evidence_state = 'known')
        ) as availability_ratio,
        sort_array(collect_set(kafka_version)) as kafka_versions
    from clusters
    group by event_date
)

select * from final
