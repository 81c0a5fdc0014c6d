with rules as (
    select * from {{ ref('config_rules') }}
),

terms as (
    select * from {{ ref('config_rule_terms') }}
),

configs as (
    select * from {{ ref('int_configs__with_defaults') }}
),

-- One row per term of a rule, with what the rule applies to.
rule_terms as (
    select
        terms.*,
        count(*) over (partition by terms.rule_id, terms.alternative) as terms_of_alternative,
        rules.applies_to,
        rules.cluster_mode as rule_mode,
        rules.needs_release,
        {{ release_numbers('rules.since') }} as since,
        {{ release_numbers('rules.until') }} as until
    from terms
    inner join rules on terms.rule_id = rules.rule_id
),

joined as (
    select
        configs.*,
        {{ release_numbers('configs.kafka_version') }} as release_numbers,
        rule_terms.*
    from configs
    inner join rule_terms
        on
            configs.owner_kind = rule_terms.applies_to
            and coalesce(configs.cluster_mode = rule_terms.rule_mode, true)
),

valued as (
    select
        *,
        {{ setting_value('left_setting') }} as left_text,
        {{ setting_value('times_setting') }} as times_text,
        coalesce({{ setting_value('right_setting') }}, right_text) as right_value
    from joined
    where
        (release_numbers is not null or not needs_release)
        and coalesce(release_numbers >= since, true)
        and coalesce(release_numbers < until, true)
),

numbered as (
    select
        *,
        try_cast(left_text as double) * coalesce(left_factor, 1)
        * if(times_setting is null, 1, try_cast(times_text as double)) as left_number,
        try_cast(right_value as double) * coalesce(right_factor, 1) as right_number
    from valued
),

final as (
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
        lines,
        rule_id,
        term_number,
        alternative,
        terms_of_alternative,
        coalesce(
            case operator
                when '<' then left_number < right_number
                when '<=' then left_number <= right_number
                when '>' then left_number > right_number
                when '>=' then left_number >= right_number
                when 'even' then left_number > 0 and left_number % 2 = 0
                when 'is' then lower(left_text) = right_text
                when 'is not'
                    then
                        lower(coalesce(left_text, '-')) <> coalesce(right_text, '')
                        and not coalesce({{ is_hidden('configured[left_setting]') }}, false)
                when 'contains' then locate(right_text, lower(left_text)) > 0
                -- Without a configuration no setting is known to be unset.
                when 'unset'
                    then
                        coalesce(configured[left_setting], left_text) is null
                        and source_path is not null
                when 'not given' then configured[left_setting] is null and source_path is not null
                when 'older'
                    then
                        {{ release_numbers('left_text') }}
                        < {{ release_numbers('right_value') }}
            end,
            false
        ) as holds,
        transform(
            filter(
                array(left_setting, times_setting, right_setting), setting -> setting is not null
            ),
            setting -> struct(
                setting,
                case
                    when configured[setting] is not null then configured[setting]
                    when facts[setting] is not null then concat(facts[setting], ' (measured)')
                    when {{ setting_value('setting') }} is null then 'not set'
                    else concat({{ setting_value('setting') }}, ' (default)')
                end as value,
                configured[setting] is not null as is_configured
            )
        ) as settings
    from numbered
)

select * from final
