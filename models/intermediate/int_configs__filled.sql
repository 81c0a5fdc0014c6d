{{ config(materialized='table', file_format='parquet') }}

with owned as (
    select * from {{ ref('int_configs__owned') }}
),

seed_defaults as (
    select * from {{ ref('config_defaults') }}
),

terms as (
    select * from {{ ref('config_rule_terms') }}
),

measured as (
    select * from {{ ref('int_nodes__measured') }}
),

-- Only settings that a rule speaks of: then most configurations are the same as the one before.
names as (
    select explode(array(left_setting, times_setting, right_setting)) as setting
    from terms
    union all
    select default_setting as setting
    from seed_defaults
),

named as (
    select collect_set(setting) as settings
    from names
),

release_defaults as (
    select * from {{ ref('int_configs__defaults') }}
),

node_facts as (
    select
        cluster_id,
        node_id,
        map_from_entries(collect_list(struct(setting, cast(value as string)))) as facts,
        map_from_entries(collect_list(struct(setting, line))) as lines
    from measured
    group by cluster_id, node_id
),

final as (
    select
        owned.* except (settings),
        map_filter(
            owned.settings,
            (setting, value) -> array_contains(named.settings, setting)
            and value not in ('null', '')
        ) as given,
        coalesce(release_defaults.values, map()) as defaults,
        coalesce(release_defaults.as_settings, map()) as default_settings,
        map_concat(
            if(owned.owner_kind = 'broker', coalesce(node_facts.facts, map()), map()),
            map(
                '@release', owned.kafka_version,
                '@quorum_voters',
                cast(
                    size(
                        filter(
                            split(owned.settings['controller.quorum.voters'], ','),
                            voter -> voter like '%@%'
                        )
                    ) as string
                )
            )
        ) as facts,
        node_facts.lines
    from owned
    cross join named
    left join release_defaults
        on
            owned.owner_kind = release_defaults.owner_kind
            and owned.kafka_version <=> release_defaults.kafka_version
    left join node_facts
        on owned.cluster_id = node_facts.cluster_id and owned.node_id = node_facts.node_id
)

select * from final
