with releases as (
    select * from {{ ref('int_nodes__releases') }}
),

affected as (
    select * from {{ ref('int_issues__affected_releases') }}
),

symptoms as (
    select * from {{ ref('int_issues__symptoms') }}
),

issues as (
    select * from {{ ref('known_issues') }}
),

-- Issues of clients concern the releases of clients, which no run of a node prints.
by_release as (
    select
        releases.cluster_id,
        releases.node_id,
        releases.run_number,
        affected.issue_id,
        affected.is_suspect
    from releases
    inner join affected on releases.kafka_version = affected.kafka_version
    where
        affected.component <> 'client'
        and coalesce(affected.cluster_mode = releases.cluster_mode, true)
),

-- A release that does not have the issue shows the same signs for another reason; an unknown
-- release may have it.
exposed as (
    select
        cluster_id,
        node_id,
        run_number,
        issue_id,
        is_suspect
    from by_release
    union all
    select
        symptoms.cluster_id,
        symptoms.node_id,
        symptoms.run_number,
        symptoms.issue_id,
        true as is_suspect
    from symptoms
    inner join releases
        on
            symptoms.cluster_id = releases.cluster_id
            and symptoms.node_id = releases.node_id
            and symptoms.run_number = releases.run_number
    where releases.kafka_version is null
),

-- One row per run of a process on a node and known issue that its release has, or that its records
-- show if the release is unknown.
exposures as (
    select
        releases.node_run_key,
        exposed.cluster_id,
        releases.cluster_incarnation,
        exposed.node_id,
        exposed.run_number,
        releases.kafka_version,
        releases.run_at,
        exposed.issue_id,
        if(symptoms.issue_id is null, 'version_affected', 'evidence_seen') as exposure,
        case
            when symptoms.issue_id is null or releases.kafka_version is null
                then exposed.is_suspect
            else issues.confidence <> 'verified' or not issues.has_checked_strings
        end as is_suspect,
        issues.title,
        issues.impact,
        split(issues.fixed_in, ',') as fixed_in,
        issues.fix_requires_setting,
        symptoms.first_seen_at,
        symptoms.last_seen_at,
        releases.cluster_mode is null and issues.cluster_mode is not null as is_mode_unknown,
        releases.is_reported_by_others,
        coalesce(symptoms.evidence, array(releases.release_line)) as evidence,
        coalesce(symptoms.evidence_count, 1) as evidence_count
    from exposed
    inner join releases
        on
            exposed.cluster_id = releases.cluster_id
            and exposed.node_id = releases.node_id
            and exposed.run_number = releases.run_number
    inner join issues on exposed.issue_id = issues.issue_id
    left join symptoms
        on
            exposed.cluster_id = symptoms.cluster_id
            and exposed.node_id = symptoms.node_id
            and exposed.run_number = symptoms.run_number
            and exposed.issue_id = symptoms.issue_id
),

final as (
    select
        {{ row_key(['node_run_key', 'issue_id']) }} as issue_exposure_key,
        {{ cluster_key() }} as cluster_key,
        {{ node_key() }} as node_key,
        node_run_key,
        cluster_id,
        cluster_incarnation,
        node_id,
        run_number,
        kafka_version,
        issue_id,
        exposure,
        is_suspect,
        impact,
        fixed_in,
        fix_requires_setting,
        run_at as exposed_at,
        cast(run_at as date) as exposed_date,
        first_seen_at,
        last_seen_at,
        concat(
            issue_id,
            ': ',
            title,
            if(exposure = 'evidence_seen', '; seen on ', '; may happen on '),
            coalesce(kafka_version, 'an unknown release'),
            coalesce(concat('; fixed in ', array_join(fixed_in, ', ')), '; no fixed release known')
        ) as sentence,
        evidence,
        evidence_count,
        {{
            warnings({
                'release unknown': 'kafka_version is null',
                'release reported by other runs of the cluster': 'is_reported_by_others',
                'ZooKeeper or KRaft mode unknown': 'is_mode_unknown',
                'not verified for this release':
                    "is_suspect and exposure = 'version_affected'",
                'the symptom alone is no proof': "is_suspect and exposure = 'evidence_seen'"
            })
        }} as warnings
    from exposures
)

select * from final
