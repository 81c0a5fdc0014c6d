with clusters as (
    {{ of_all_clusters(ref('rpt_cluster_daily')) }}
),

final as (
    select
        {{ row_key(['event_date']) }} as fleet_daily_key,
        event_date,
        count(*) as clusters,
        count_if(evidence_state = 'known') as clusters_known,
        count_if(evidence_state = 'unknown') as clusters_unknown,
        count_if(incidents > 0) as clusters_with_incidents,
        sum(records) as records,
        sum(partition_observed_ms) as partition_observed_ms,
        {%- for measure in daily_measures() %}
            sum({{ measure.name }}) as {{ measure.name }},
        {%- endfor %}
        {{ availability('sum(leaderless_ms)', 'sum(partition_observed_ms)') }}
            as availability_ratio,
        transform(
            sort_array(
                array_distinct(
                    transform(
                        flatten(collect_list(kafka_versions)),
                        release -> struct(
                            {{ release_numbers('release') }} as release_numbers, release
                        )
                    )
                )
            ),
            numbered -> numbered.release
        ) as kafka_versions
    from clusters
    group by event_date
)

select * from final
