with terms as (
    select * from {{ ref('int_controllers__terms_begun') }}
),

final as (
    select * except (is_written_over, given_up_at, given_up_evidence)
    from terms
    where not is_written_over
)

select * from final
