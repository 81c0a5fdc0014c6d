{{ config(materialized='table') }}

with owned as (
    select * from {{ ref('int_configs__owned') }}
),

configs as (
    select * from {{ ref('int_configs__of_nodes') }}
),

every_default as (
    select * from {{ ref('config_defaults') }}
),

terms as (
    select * from {{ ref('config_rule_terms') }}
),

node_facts as (
    select * from {{ ref('int_configs__node_facts') }}
),

releases as (
    select distinct
        owner_kind,
        kafka_version,
        {{ release_numbers('kafka_version') }} as release_numbers
    from owned
),

-- One row per kind of owner and release of int_configs__owned, with the defaults that hold
-- there (seed config_defaults).
-- If the release is unknown, only defaults that never changed count.
release_defaults as (
    select
        releases.owner_kind,
        releases.kafka_version,
        map_from_entries(
            collect_list(struct(every_default.setting, every_default.default_value))
        ) as values,
        map_from_entries(
            collect_list(struct(every_default.setting, every_default.default_setting))
        ) as as_settings
    from releases
    inner join every_default
        on
            releases.owner_kind = every_default.applies_to
            and case
                when releases.release_numbers is null
                    then every_default.since is null and every_default.until is null
                else
                    coalesce(
                        releases.release_numbers
                        >= {{ release_numbers('every_default.since') }},
                        true
                    )
                    and coalesce(
                        releases.release_numbers
                        < {{ release_numbers('every_default.until') }},
                        true
                    )
            end
    group by releases.owner_kind, releases.kafka_version
),

-- Only settings that a rule mentions, so that most configurations equal the previous one.
names as (
    select explode(array(left_setting, times_setting, right_setting)) as setting
    from terms
    union all
    select default_setting as setting
    from every_default
),

named as (
    select collect_set(setting) as settings
    from names
),

final as (
    select
        configs.* except (settings, release_since, first_release),
        map_filter(
            configs.settings,
            (setting, value) -> array_contains(named.settings, setting) and value is not null
        ) as configured,
        coalesce(release_defaults.values, map()) as defaults,
        coalesce(release_defaults.as_settings, map()) as default_settings,
        map_concat(
            coalesce(node_facts.facts, map()),
            map(
                '@release', configs.kafka_version,
                '@first_release', configs.first_release,
                '@release_line',
                array_join({{ release_line(release_numbers('configs.kafka_version')) }}, '.'),
                '@days_on_release',
                cast(datediff(configs.found_at, configs.release_since) as string),
                '@quorum_voters',
                cast(
                    size(
                        filter(
                            split(configs.settings['controller.quorum.voters'], ','),
                            voter -> voter like '%@%'
                        )
                    ) as string
                )
            )
        ) as facts,
        node_facts.lines
    from configs
    cross join named
    left join release_defaults
        on
            configs.source_path is not null
            and configs.owner_kind = release_defaults.owner_kind
            and configs.kafka_version <=> release_defaults.kafka_version
    left join node_facts
        on
            configs.cluster_id = node_facts.cluster_id
            and if(configs.owner_kind = 'broker', configs.node_id, null) <=> node_facts.node_id
)

select * from final
