with feature_levels as (
    select * from {{ ref('stg_logs__feature_levels') }}
),

election_causes as (
    select * from {{ ref('stg_logs__election_causes') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

-- A leader that was elected as an eligible replica shows that the cluster kept eligible replicas
-- before, too.
reported as (
    select
        cluster_id,
        logged_at,
        coalesce(try_cast(feature_level as int), 0) > 0 as is_kept,
        false as is_kept_before
    from feature_levels
    where feature_name = 'eligible.leader.replicas.version'
    union all
    select
        cluster_id,
        logged_at,
        true as is_kept,
        true as is_kept_before
    from election_causes
    where {{ has_role('eligible_election') }}
),

placed as (
    {{ placed('reported') }}
),

followed as (
    select
        *,
        lag(is_kept) over (
            partition by cluster_id, cluster_incarnation
            order by logged_at, is_kept_before, is_kept
        ) as was_kept
    from placed
),

-- Every controller that starts replays the old records: only a new value is a change.
turns as (
    select
        cluster_id,
        cluster_incarnation,
        is_kept,
        case
            when was_kept is null and is_kept_before then timestamp '1970-01-01 00:00:00'
            else logged_at
        end as turned_at
    from followed
    where was_kept is null or was_kept <> is_kept
),

bounded as (
    select
        *,
        coalesce(
            lead(turned_at) over (
                partition by cluster_id, cluster_incarnation order by turned_at, is_kept
            ),
            timestamp '9999-01-01 00:00:00'
        ) as enabled_until
    from turns
),

final as (
    select
        cluster_id,
        cluster_incarnation,
        turned_at as enabled_from,
        enabled_until
    from bounded
    where is_kept
)

select * from final
