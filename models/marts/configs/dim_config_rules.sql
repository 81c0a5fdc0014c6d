with rules as (
    select * from {{ ref('config_rules') }}
),

terms as (
    select
        rule_id,
        count(*) as terms
    from {{ ref('config_rule_terms') }}
    group by rule_id
),

final as (
    select
        rules.rule_id,
        rules.applies_to,
        rules.cluster_mode,
        rules.since,
        rules.until,
        rules.condition,
        rules.why,
        rules.consequence,
        rules.impact,
        rules.remedy,
        rules.source_codes,
        cast(coalesce(terms.terms, 0) as int) as terms,
        terms.terms is not null or rules.applies_to = 'any' as is_evaluated,
        rules.not_evaluated_because
    from rules
    left join terms on rules.rule_id = terms.rule_id
)

select * from final
