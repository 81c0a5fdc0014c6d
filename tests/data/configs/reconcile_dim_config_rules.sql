-- Each rule of the seed is one row; those that are evaluated have all of their terms or are of names, the others have a reason.
with source_rows as (
    select
        rules.rule_id,
        rules.applies_to = 'any' as is_by_names,
        count(terms.rule_id) as terms
    from {{ ref('config_rules') }} as rules
    left join {{ ref('config_rule_terms') }} as terms on rules.rule_id = terms.rule_id
    group by rules.rule_id, rules.applies_to
),

mart_rows as (
    select * from {{ ref('dim_config_rules') }}
),

final as (
    select
        source_rows.rule_id as expected_rule_id,
        mart_rows.rule_id as found_rule_id
    from source_rows
    full outer join mart_rows on source_rows.rule_id = mart_rows.rule_id
    where
        not source_rows.terms <=> cast(mart_rows.terms as bigint)
        or mart_rows.is_evaluated <> (source_rows.terms > 0 or source_rows.is_by_names)
        or mart_rows.is_evaluated <> (mart_rows.not_evaluated_because is null)
)

select * from final
