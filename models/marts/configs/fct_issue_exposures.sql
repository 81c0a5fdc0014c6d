with exposures as (
    select * from {{ ref('int_issues__exposures') }}
),

final as (
    select
        {{ row_key(['cluster_id', 'node_id', 'run_number', 'issue_id']) }} as issue_exposure_key,
        cluster_id,
        cluster_incarnation,
        node_id,
        run_number,
        {{ row_key(['cluster_id', 'node_id', 'run_number']) }} as node_run_key,
        kafka_version,
        issue_id,
        exposure,
        is_suspect,
        severity,
        fixed_in,
        fix_needs,
        run_at as exposed_at,
        cast(run_at as date) as exposed_date,
        first_seen_at,
        last_seen_at,
        concat(
            issue_id,
            ': ',
            title,
            if(exposure = 'evidence_seen', '; seen on ', '; may happen on '),
            coalesce(kafka_version, 'a release that is not known'),
            coalesce(concat('; fixed in ', array_join(fixed_in, ', ')), '; no fixed release known')
        ) as said,
        evidence,
        evidence_count,
        {{
            warnings({
                'release not known': 'kafka_version is null',
                'release told by other runs of the cluster': 'is_told_by_others',
                'ZooKeeper or KRaft is not known': 'is_mode_unknown',
                'nothing verified says that this release has it':
                    "is_suspect and exposure = 'version_affected'",
                'what is seen alone decides nothing': "is_suspect and exposure = 'evidence_seen'"
            })
        }} as warnings
    from exposures
)

select * from final
