{{ config(materialized='table') }}

with issues as (
    select * from {{ ref('known_issues') }}
),

releases as (
    select * from {{ ref('kafka_releases') }}
),

node_releases as (
    select * from {{ ref('int_nodes__releases') }}
),

versions as (
    select kafka_version
    from releases
    union
    select kafka_version
    from node_releases
    where kafka_version is not null
),

numbered as (
    select
        kafka_version,
        {{ release_numbers('kafka_version') }} as release_numbers
    from versions
),

issue_numbers as (
    select
        issue_id,
        cluster_mode,
        component,
        first_affected,
        confidence,
        {{ release_numbers('last_affected') }} as last_numbers,
        transform(
            split(first_affected, ','), since -> {{ release_numbers('since') }}
        ) as first_numbers,
        transform(
            split(coalesce(fixed_in, ''), ','), fixed -> {{ release_numbers('fixed') }}
        ) as fixed_numbers,
        fixed_in is not null as is_fixed
    from issues
),

-- A few hundred issues times a hundred releases.
compared as (
    select
        numbered.kafka_version,
        numbered.release_numbers,
        issue_numbers.*,
        filter(
            issue_numbers.first_numbers,
            since -> {{ release_line('since') }} = {{ release_line('numbered.release_numbers') }}
        ) as first_in_line,
        filter(
            issue_numbers.fixed_numbers,
            fixed -> {{ release_line('fixed') }} = {{ release_line('numbered.release_numbers') }}
        ) as fixed_in_line
    from numbered
    cross join issue_numbers
    where element_at(numbered.release_numbers, 1) is not null
),

final as (
    select
        kafka_version,
        release_numbers,
        issue_id,
        cluster_mode,
        component,
        -- If no source names the first affected release, all releases before the fix are suspect.
        confidence <> 'verified' or first_affected is null as is_suspect
    from compared
    where
        -- A fault came into a line as a fix goes into it: with its own release, or from the highest.
        case
            when first_affected is null then true
            when size(first_in_line) > 0 then release_numbers >= array_min(first_in_line)
            else release_numbers >= array_max(first_numbers)
        end
        and case
            when not is_fixed then coalesce(release_numbers <= last_numbers, true)
            when size(fixed_in_line) > 0 then release_numbers < array_min(fixed_in_line)
            else release_numbers < array_max(fixed_numbers)
        end
)

select * from final
