-- Every day on which an epoch of a partition begins is a row, whose leader at the end is that of the day's last epoch unless the partition had
-- none for a time; and no stretch is longer than the partition was observed.
with epochs as (
    select * from {{ ref('int_partitions__epochs') }}
    where elected_at is not null
),

days as (
    select * from {{ ref('fct_partition_daily') }}
),

known_days as (
    select * from {{ ref('rpt_cluster_daily') }}
    where evidence_state = 'known'
),

led as (
    select
        epochs.cluster_id,
        epochs.cluster_incarnation,
        epochs.topic_name,
        epochs.topic_incarnation,
        epochs.partition_id,
        known_days.event_date,
        max(struct(epochs.leader_epoch, epochs.leader_id)).leader_id as leader_id
    from epochs
    inner join known_days
        on
            epochs.cluster_id = known_days.cluster_id
            and cast(epochs.elected_at as date) = known_days.event_date
    group by all
)

select
    led.cluster_id,
    led.topic_name,
    led.partition_id,
    led.event_date,
    led.leader_id,
    days.leader_id_at_end
from led
left join days
    using (
        cluster_id, cluster_incarnation, topic_name, topic_incarnation, partition_id, event_date
    )
where
    days.partition_daily_key is null
    or (days.leaderless_ms = 0 and not days.leader_id_at_end <=> led.leader_id)
union all
select
    cluster_id,
    topic_name,
    partition_id,
    event_date,
    cast(null as int) as leader_id,
    leader_id_at_end
from days
where
    leaderless_ms > observed_ms
    or under_replicated_ms > observed_ms
    or under_min_isr_ms > observed_ms
    or replicas_out_of_sync_ms < under_replicated_ms
