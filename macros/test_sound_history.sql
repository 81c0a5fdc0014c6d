{#-
Rows of a history that overlap, are empty, or do not say rightly whether they are the last: of each `of`, at most one row holds at any
time, from `valid_from` until before `valid_to`, and the one without an end is current.
-#}
{% test sound_history(model, of) -%}
    with ordered as (
        select
            {{ of | join(', ') }},
            valid_from,
            valid_to,
            is_current,
            lead(valid_from) over (
                partition by {{ of | join(', ') }} order by valid_from, valid_to
            ) as next_from
        from {{ model }}
    )

    select *
    from ordered
    where
        valid_from is null
        or valid_to <= valid_from
        or coalesce(valid_to > next_from, next_from is not null and valid_to is null)
        or is_current is distinct from (valid_to is null)
{%- endtest %}
