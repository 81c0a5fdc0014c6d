with terms as (
    select *
    from {{ ref('int_controllers__terms_led') }}
    where not is_written_over
),

late as (
    select * from {{ ref('int_controllers__late_writes') }}
),

final as (
    select
        terms.* except (is_written_over),
        coalesce(late.late_writes, 0) as late_writes,
        late.last_write_at,
        late.late_evidence
    from terms
    left join late using (cluster_id, cluster_incarnation, epoch_kind, controller_epoch)
)

select * from final
