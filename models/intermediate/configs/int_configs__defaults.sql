with owned as (
    select * from {{ ref('int_configs__owned') }}
),

defaults as (
    select * from {{ ref('config_defaults') }}
),

releases as (
    select distinct
        owner_kind,
        kafka_version,
        {{ release_numbers('kafka_version') }} as release_numbers
    from owned
),

-- Without a release only what was never another default counts.
final as (
    select
        releases.owner_kind,
        releases.kafka_version,
        map_from_entries(
            collect_list(struct(defaults.setting, defaults.default_value))
        ) as values,
        map_from_entries(
            collect_list(struct(defaults.setting, defaults.default_setting))
        ) as as_settings
    from releases
    inner join defaults
        on
            releases.owner_kind = defaults.applies_to
            and case
                when releases.release_numbers is null
                    then defaults.since is null and defaults.until is null
                else
                    coalesce(
                        releases.release_numbers >= {{ release_numbers('defaults.since') }}, true
                    )
                    and coalesce(
                        releases.release_numbers < {{ release_numbers('defaults.until') }}, true
                    )
            end
    group by releases.owner_kind, releases.kafka_version
)

select * from final
