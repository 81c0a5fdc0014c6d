{#- Rows of a model that share a key, and how many they are; two nulls are the same value here, unlike in dbt's `unique`. -#}
{% test unique_key(model, columns) -%}
    select
        {{ columns | join(', ') }},
        count(*) as row_count
    from {{ model }}
    group by {{ columns | join(', ') }}
    having count(*) > 1
{%- endtest %}
