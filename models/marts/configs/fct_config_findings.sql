with findings as (
    select * from {{ ref('int_configs__findings') }}
),

final as (
    select
        {{
            row_key([
                'cluster_id', 'cluster_incarnation', 'node_id', 'owner_kind', 'owner', 'rule_id'
            ])
        }} as config_finding_key,
        cluster_id,
        cluster_incarnation,
        node_id,
        owner_kind,
        owner,
        rule_id,
        kafka_version,
        settings,
        found_at,
        last_found_at,
        cast(found_at as date) as found_date,
        severity,
        remedy,
        concat(
            replace(owner_kind, '_', ' '),
            ' ',
            owner,
            ': ',
            array_join(
                transform(
                    map_entries(settings),
                    entry -> concat(
                        -- Kafka's own names stay; what was measured is said in words.
                        if(
                            entry.key like '@%',
                            replace(substring(entry.key, 2), '_', ' '),
                            entry.key
                        ),
                        ' = ',
                        entry.value
                    )
                ),
                ', '
            ),
            '; ',
            why,
            '; ',
            consequence
        ) as said,
        evidence,
        evidence_count,
        {{
            warnings({
                'release not known': 'kafka_version is null',
                'time not known': 'found_at is null'
            })
        }} as warnings
    from findings
)

select * from final
