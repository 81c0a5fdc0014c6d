-- Rules of one setting that is printed in whole configurations of brokers, found without the rules as data: a node is found
-- to break them if and only if one of its printed configurations has the value.
with configs as (
    select * from {{ ref('stg_logs__configs') }}
),

findings as (
    select * from {{ ref('fct_config_findings') }}
),

expected as (
    select distinct
        cluster_id,
        node_id,
        stack(
            3,
            'unclean_election_on', settings['unclean.leader.election.enable'] = 'true',
            'cleaner_off_with_compaction', settings['log.cleaner.enable'] = 'false',
            'timeouts_min_isr_controlled_shutdown', settings['controlled.shutdown.enable'] = 'false'
        ) as (rule_id, is_broken)
    from configs
    where config_class = 'KafkaConfig' and node_id is not null
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
