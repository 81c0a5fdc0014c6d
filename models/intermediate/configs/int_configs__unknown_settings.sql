with owned as (
    select * from {{ ref('int_configs__owned') }}
),

kinds as (
    select * from {{ ref('int_configs__owner_kinds') }}
),

refusals as (
    select * from {{ ref('stg_logs__unknown_settings') }}
),

known as (
    select * from {{ ref('known_settings') }}
),

-- The configuration that a refusal is about is the last one before it in its log; 0.8 prints
-- refusals among the settings.
refused_in as (
    select
        refusals.cluster_id,
        refusals.source_id,
        refusals.byte_offset,
        min_by(
            kinds.byte_offset,
            struct(
                kinds.byte_offset > refusals.byte_offset as is_later,
                abs(refusals.byte_offset - kinds.byte_offset) as distance
            )
        ) as config_offset
    from refusals
    inner join kinds
        on
            refusals.cluster_id = kinds.cluster_id
            and refusals.source_id = kinds.source_id
            and refusals.logged_at < kinds.found_at + interval 10 seconds
            and refusals.logged_at > kinds.found_at - interval 10 seconds
    group by refusals.cluster_id, refusals.source_id, refusals.byte_offset
),

refused as (
    select
        owned.cluster_id,
        owned.node_id,
        owned.owner_kind,
        owned.owner,
        owned.kafka_version,
        owned.source_id,
        owned.source_path,
        owned.byte_offset,
        owned.found_at,
        refusals.byte_offset as setting_offset,
        refusals.setting_value as value,
        explode(refusals.settings) as setting
    from refusals
    inner join refused_in
        on
            refusals.cluster_id = refused_in.cluster_id
            and refusals.source_id = refused_in.source_id
            and refusals.byte_offset = refused_in.byte_offset
    inner join owned
        on
            refused_in.cluster_id = owned.cluster_id
            and refused_in.source_id = owned.source_id
            and refused_in.config_offset = owned.byte_offset
),

-- A whole configuration holds known settings alone, so only those are looked at whose settings
-- have a line each.
given as (
    select
        cluster_id,
        node_id,
        owner_kind,
        owner,
        kafka_version,
        source_id,
        source_path,
        byte_offset,
        found_at,
        offsets,
        explode(settings) as (setting, value)
    from owned
    where offsets[''] is null
),

told as (
    select
        cluster_id,
        node_id,
        owner_kind,
        owner,
        kafka_version,
        source_id,
        source_path,
        byte_offset,
        found_at,
        offsets[setting] as setting_offset,
        setting,
        value
    from given
    where value is not null
    union all
    select
        cluster_id,
        node_id,
        owner_kind,
        owner,
        kafka_version,
        source_id,
        source_path,
        byte_offset,
        found_at,
        setting_offset,
        setting,
        value
    from refused
),

-- One row per name, with who knows it in which releases.
names as (
    select
        setting,
        map_from_entries(
            collect_list(
                struct(
                    applies_to,
                    struct(
                        since,
                        until,
                        {{ release_numbers('since') }} as since_numbers,
                        {{ release_numbers('until') }} as until_numbers
                    )
                )
            )
        ) as knowers,
        max(instead) filter (where applies_to = 'topic') as instead_of_topics,
        max(instead) filter (where applies_to in ('old_consumer', 'old_producer'))
            as instead_of_old_clients
    from known
    group by setting
),

compared as (
    select
        told.*,
        names.knowers,
        names.knowers[told.owner_kind] as own,
        if(told.owner_kind = 'broker', names.instead_of_topics, names.instead_of_old_clients)
            as instead,
        {{ release_numbers('told.kafka_version') }} as release_numbers
    from told
    left join names on told.setting = names.setting
),

-- A file of settings may serve a consumer and a producer, so neither is told of the other's.
judged as (
    select
        *,
        case
            when own is not null and release_numbers >= own.until_numbers
                then 'setting_of_other_release'
            when own is not null and release_numbers < own.since_numbers
                then 'setting_of_other_release'
            when own is not null then cast(null as string)
            when knowers is null then 'setting_unknown'
            when owner_kind in ('broker', 'old_consumer') then 'setting_of_other_kind'
            when
                knowers['consumer'] is null
                and knowers['producer'] is null
                and coalesce(knowers['old_consumer'], knowers['old_producer']) is not null
                then 'setting_of_other_kind'
        end as rule_id
    from compared
),

misspelt as (
    select
        owner_kind,
        setting
    from judged
    where rule_id = 'setting_unknown'
    group by owner_kind, setting
),

nearest as (
    select
        misspelt.owner_kind,
        misspelt.setting,
        min(
            struct(levenshtein(misspelt.setting, known.setting) as distance, known.setting)
        ) as found
    from misspelt
    inner join known on misspelt.owner_kind = known.applies_to
    group by misspelt.owner_kind, misspelt.setting
),

-- Plugins read settings of their own, which nobody lists: a name that nobody knows is a mistake only
-- where it is nearly one that is known.
advised as (
    select
        judged.*,
        case
            when judged.rule_id = 'setting_unknown'
                then concat(nearest.found.setting, ' instead of ', judged.setting)
            when judged.rule_id = 'setting_of_other_kind'
                then
                    coalesce(
                        concat(judged.instead, ' instead of ', judged.setting),
                        concat('remove ', judged.setting)
                    )
            when judged.release_numbers < judged.own.since_numbers
                then concat(judged.setting, ' needs ', judged.own.since)
            else concat('remove ', judged.setting, ', which is gone since ', judged.own.until)
        end as remedy
    from judged
    left join nearest
        on judged.owner_kind = nearest.owner_kind and judged.setting = nearest.setting
    where
        judged.rule_id is not null
        and (
            judged.rule_id <> 'setting_unknown'
            or nearest.found.distance <= least(3, length(judged.setting) / 4)
        )
),

-- A setting may be given and refused.
single as (
    select
        cluster_id,
        node_id,
        owner_kind,
        owner,
        rule_id,
        source_id,
        byte_offset,
        setting,
        max(source_path) as source_path,
        min(found_at) as found_at,
        {{ newest_release('kafka_version') }} as kafka_version,
        min(setting_offset) as setting_offset,
        coalesce(max(value), 'given') as value,
        max(remedy) as remedy
    from advised
    group by
        cluster_id,
        node_id,
        owner_kind,
        owner,
        rule_id,
        source_id,
        byte_offset,
        setting
),

final as (
    select
        cluster_id,
        node_id,
        owner_kind,
        owner,
        rule_id,
        source_id,
        max(source_path) as source_path,
        byte_offset,
        min(found_at) as found_at,
        {{ newest_release('kafka_version') }} as kafka_version,
        map_from_entries(collect_list(struct(setting, setting_offset))) as offsets,
        sort_array(collect_list(struct(setting, value, true as is_configured))) as settings,
        array_join(
            transform(sort_array(collect_list(struct(setting, remedy))), one -> one.remedy), '; '
        ) as remedy
    from single
    group by cluster_id, node_id, owner_kind, owner, rule_id, source_id, byte_offset
)

select * from final
