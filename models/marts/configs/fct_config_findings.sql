with broken_rules as (
    select * from {{ ref('int_configs__broken_rules') }}
),

unknown_settings as (
    select * from {{ ref('int_configs__unknown_settings') }}
),

rules as (
    select * from {{ ref('config_rules') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

broken as (
    select
        cluster_id,
        node_id,
        owner_kind,
        owner,
        rule_id,
        source_path,
        byte_offset,
        found_at,
        kafka_version,
        offsets,
        lines,
        settings,
        cast(null as string) as remedy
    from broken_rules
    union all
    select
        cluster_id,
        node_id,
        owner_kind,
        owner,
        rule_id,
        source_path,
        byte_offset,
        found_at,
        kafka_version,
        offsets,
        map('', struct(found_at as measured_at, source_path, byte_offset)) as lines,
        settings,
        remedy
    from unknown_settings
),

-- The lines of explicit settings; if all are defaults, the first line of the configuration.
reported as (
    select
        *,
        explode(
            array_distinct(
                concat(
                    transform(
                        filter(
                            settings,
                            setting -> source_path is not null
                            and (
                                setting.is_configured
                                or not exists(settings, other -> other.is_configured)
                            )
                        ),
                        setting -> struct(
                            found_at as logged_at,
                            source_path as path,
                            coalesce(offsets[setting.setting], byte_offset) as offset
                        )
                    ),
                    transform(
                        filter(settings, setting -> lines[setting.setting].source_path is not null),
                        setting -> struct(
                            lines[setting.setting].measured_at as logged_at,
                            lines[setting.setting].source_path as path,
                            lines[setting.setting].byte_offset as offset
                        )
                    )
                )
            )
        ) as line
    from broken
),

grouped as (
    select
        cluster_id,
        node_id,
        owner_kind,
        owner,
        rule_id,
        min(found_at) as found_at,
        max(found_at) as last_found_at,
        max_by(
            struct(kafka_version, settings, remedy), struct(found_at, source_path, byte_offset)
        ) as latest,
        collect_set(
            struct(
                line.logged_at, node_id, line.path as source_path, line.offset as byte_offset
            )
        ) as told_lines
    from reported
    group by cluster_id, node_id, owner_kind, owner, rule_id
),

placed as (
    {{ placed('grouped', at='found_at') }}
),

-- One row per owner of a configuration and rule that it breaks.
findings as (
    select
        placed.* except (latest, told_lines),
        placed.latest.kafka_version,
        map_from_entries(
            transform(placed.latest.settings, setting -> struct(setting.setting, setting.value))
        ) as settings,
        rules.impact,
        rules.why,
        rules.consequence,
        coalesce(placed.latest.remedy, rules.remedy) as remedy,
        slice(
            transform(
                sort_array(placed.told_lines),
                line -> named_struct(
                    'node_id', line.node_id,
                    'source_path', line.source_path,
                    'byte_offset', line.byte_offset
                )
            ),
            1,
            10
        ) as evidence,
        cast(size(placed.told_lines) as bigint) as evidence_count
    from placed
    inner join rules on placed.rule_id = rules.rule_id
),

final as (
    select
        {{
            row_key([
                'cluster_id', 'cluster_incarnation', 'node_id', 'owner_kind', 'owner', 'rule_id'
            ])
        }} as config_finding_key,
        {{ cluster_key() }} as cluster_key,
        {{ node_key() }} as node_key,
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
        impact as severity,
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
                        -- Kafka's setting names stay as they are; measured values are named in words.
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
        ) as sentence,
        evidence,
        evidence_count,
        {{
            warnings({
                'release unknown': 'kafka_version is null',
                'time unknown': 'found_at is null',
                'a pause of more than ten minutes may be a restart whose log is missing':
                    "coalesce(try_cast(split_part(settings['@longest_pause_ms'], ' ', 1) as bigint) > 600000, false)"
            })
        }} as warnings
    from findings
)

select * from final
