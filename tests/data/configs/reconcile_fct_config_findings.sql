-- Rules of a single setting in complete broker configurations, found without the rules as data: a
-- node breaks them if one of its printed configurations has the value, or its longest pause is no
-- shorter.
with configs as (
    select * from {{ ref('stg_logs__configs') }}
),

findings as (
    select * from {{ ref('fct_config_findings') }}
),

longest as (
    select
        cluster_id,
        node_id,
        max(duration_ms) as duration_ms
    from (
        select
            cluster_id,
            node_id,
            duration_ms
        from {{ ref('fct_process_stalls') }}
        union all
        select
            cluster_id,
            node_id,
            duration_ms
        from {{ ref('fct_gc_pauses') }}
        where pause_kind not in ('safepoint', 'time_to_safepoint')
    )
    group by cluster_id, node_id
),

expected as (
    select distinct
        configs.cluster_id,
        configs.node_id,
        stack(
            4,
            'lag_time_below_pause',
            cast(configs.settings['replica.lag.time.max.ms'] as bigint) <= longest.duration_ms,
            'unclean_election_on', configs.settings['unclean.leader.election.enable'] = 'true',
            'cleaner_off_with_compaction', configs.settings['log.cleaner.enable'] = 'false',
            'timeouts_min_isr_controlled_shutdown',
            configs.settings['controlled.shutdown.enable'] = 'false'
        ) as (rule_id, is_broken)
    from configs
    left join longest
        on configs.cluster_id = longest.cluster_id and configs.node_id = longest.node_id
    where configs.config_class = 'KafkaConfig' and configs.node_id is not null
),

broken as (
    select
        cluster_id,
        node_id,
        rule_id,
        max(coalesce(is_broken, false)) as is_broken
    from expected
    group by cluster_id, node_id, rule_id
),

final as (
    select
        broken.cluster_id,
        broken.node_id,
        broken.rule_id,
        broken.is_broken,
        findings.config_finding_key
    from broken
    left join findings
        on
            broken.cluster_id = findings.cluster_id
            and broken.node_id = findings.node_id
            and broken.rule_id = findings.rule_id
    where broken.is_broken and findings.config_finding_key is null
)

select * from final
