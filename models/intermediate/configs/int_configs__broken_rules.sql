with terms as (
    select * from {{ ref('int_configs__terms_checked') }}
),

-- A rule is broken where all terms of one of its alternatives hold.
held as (
    select
        cluster_id,
        node_id,
        owner_kind,
        owner,
        rule_id,
        alternative,
        source_id,
        source_path,
        byte_offset,
        min(found_at) as found_at,
        {{ newest_release('kafka_version') }} as kafka_version,
        max_by(offsets, term_number) as offsets,
        max_by(lines, term_number) as lines,
        sort_array(array_distinct(flatten(collect_list(settings)))) as settings
    from terms
    where holds
    group by
        cluster_id,
        node_id,
        owner_kind,
        owner,
        rule_id,
        alternative,
        source_id,
        source_path,
        byte_offset
    having count(*) = max(terms_of_alternative)
),

-- If several alternatives hold, the settings of all of them are listed.
final as (
    select
        cluster_id,
        node_id,
        owner_kind,
        owner,
        rule_id,
        min(alternative) as alternative,
        source_id,
        source_path,
        byte_offset,
        min(found_at) as found_at,
        {{ newest_release('kafka_version') }} as kafka_version,
        min_by(offsets, alternative) as offsets,
        min_by(lines, alternative) as lines,
        sort_array(array_distinct(flatten(collect_list(settings)))) as settings
    from held
    group by
        cluster_id,
        node_id,
        owner_kind,
        owner,
        rule_id,
        source_id,
        source_path,
        byte_offset
)

select * from final
