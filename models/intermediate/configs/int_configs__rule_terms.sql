with rules as (
    select * from {{ ref('config_rules') }}
),

terms as (
    select * from {{ ref('config_rule_terms') }}
),

final as (
    select
        terms.*,
        count(*) over (partition by terms.rule_id, terms.alternative) as terms_of_alternative,
        rules.applies_to,
        rules.mode as rule_mode,
        rules.needs_release,
        {{ release_numbers('rules.since') }} as since,
        {{ release_numbers('rules.until') }} as until
    from terms
    inner join rules on terms.rule_id = rules.rule_id
)

select * from final
