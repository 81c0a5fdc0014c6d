{#-
    Groups in which the counts of a model differ from those of the source of its rows.  `by` and
    `counts` name the columns and aggregates to compare: one text for both sides, or `source:` and
    `model:`.  A group that one side lacks counts as 0 there.
-#}
{% test reconciles_with(model, source, counts, by=['cluster_id'], source_where=none, model_where=none) -%}
    {%- set sides = {'source': (source, source_where), 'model': (model, model_where)} -%}
    {%- set keys = [] -%}
    {%- for key in by -%}
        {%- do keys.append(key if key is mapping else {'source': key, 'model': key}) -%}
    {%- endfor -%}
    with both_sides as (
        {%- for side, (relation, filter) in sides.items() %}
        select
            {%- for key in keys %}
            {{ key[side] }} as {{ key['model'] }},
            {%- endfor %}
            {%- for name, count in counts.items() %}
            {%- set reckoned = count[side] if count is mapping else count %}
            {{ reckoned if side == 'source' else 0 }} as expected_{{ name }},
            {{ reckoned if side == 'model' else 0 }} as found_{{ name }}{{ ',' if not loop.last }}
            {%- endfor %}
        from {{ relation }}
        {%- if filter is not none %}
        where {{ filter }}
        {%- endif %}
        group by {% for key in keys %}{{ key[side] }}{{ ', ' if not loop.last }}{% endfor %}
        {%- if not loop.last %}
        union all
        {%- endif %}
        {%- endfor %}
    ),

    compared as (
        select
            {%- for key in keys %}
            {{ key['model'] }},
            {%- endfor %}
            {%- for name in counts %}
            coalesce(sum(expected_{{ name }}), 0) as expected_{{ name }},
            coalesce(sum(found_{{ name }}), 0) as found_{{ name }}{{ ',' if not loop.last }}
            {%- endfor %}
        from both_sides
        group by {% for key in keys %}{{ key['model'] }}{{ ', ' if not loop.last }}{% endfor %}
    )

    select *
    from compared
    where
        {%- for name in counts %}
        {{ 'or ' if not loop.first }}expected_{{ name }} <> found_{{ name }}
        {%- endfor %}
{%- endtest %}
