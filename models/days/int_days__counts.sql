with final as (
    {%- for measure in daily_measures() if measure.day %}
        {%- if not loop.first %}
            union all
        {%- endif %}
        select
            cluster_id,
            cast({{ measure.node or 'node_id' }} as int) as node_id,
            '{{ measure.name }}' as measure,
            {{ measure.day }} as event_date,
            cast({{ measure.value or 1 }} as bigint) as value
        from {{ ref(measure.fact) }}
        {%- if measure.where %}
            where {{ measure.where }}
        {%- endif %}
    {%- endfor %}
)

select * from final
