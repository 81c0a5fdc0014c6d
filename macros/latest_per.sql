{#- The last row per key, by an order that must be total; only the columns of the relation. -#}
{% macro latest_per(relation, key, order) -%}
    select * except (_place)
    from (
        select
            *,
            row_number() over (
                partition by {{ key if key is string else key | join(', ') }}
                order by {{ order if order is string else order | join(', ') }}
            ) as _place
        from {{ relation }}
    )
    where _place = 1
{%- endmacro %}
