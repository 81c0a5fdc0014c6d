-- Each table has as many rows here as its facts have records, of which a fact lists ten at most.
{%- set tables = [
    'fct_leader_elections',
    'fct_isr_changes',
    'fct_incidents',
] %}

with bridge as (
    select * from {{ ref('bridge_evidence') }}
),

expected as (
    {%- for table in tables %}
        {%- if not loop.first %}
            union all
        {%- endif %}
        select
            '{{ table }}' as fact_name,
            sum(least(evidence_count, 10)) as records
        from {{ ref(table) }}
    {%- endfor %}
),

found as (
    select
        fact_name,
        count(*) as records
    from bridge
    left semi join expected using (fact_name)
    group by fact_name
),

final as (
    select
        expected.fact_name,
        expected.records as expected_records,
        found.records as found_records
    from expected
    left join found on expected.fact_name = found.fact_name
    where coalesce(expected.records, 0) <> coalesce(found.records, 0)
)

select * from final
