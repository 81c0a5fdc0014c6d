{#- Rows of a fact without a key, or whose evidence is not the first ten of the records it counts. -#}
{% test sound_fact(model, key) -%}
    select
        {{ key }},
        evidence_count,
        size(evidence) as evidence_listed
    from {{ model }}
    where
        {{ key }} is null
        or cluster_id is null
        or cluster_incarnation is null
        or evidence_count is null
        or evidence_count < 1
        or warnings is null
        or size(evidence) <> least(evidence_count, 10)
{%- endtest %}
