{#-
Keys that several rows of a model share, with the number of rows; two nulls are equal here, unlike
in dbt's `unique`.
-#}
{% test unique_key(model, columns) -%}
    select
        {{ columns | join(', ') }},
        count(*) as row_count
    from {{ model }}
    group by {{ columns | join(', ') }}
    having count(*) > 1
{%- endtest %}
