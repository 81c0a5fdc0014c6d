{{ config(materialized='table') }}

with lives as (
    select * from {{ ref('int_clients__lives') }}
),

files as (
    select * from {{ ref('stg_sources__files') }}
),

processes as (
    select
        cluster_id,
        {{ process_name() }} as process_name,
        {{ process_folder() }} as folder_name,
        bool_or(layout_name is not null) as has_log
    from files
    where {{ process_name() }} <> concat('node ', coalesce(node_id, -1))
    group by cluster_id, {{ process_name() }}, {{ process_folder() }}
),

named as (
    select
        cluster_id,
        process_name
    from lives
    group by cluster_id, process_name
),

folders as (
    select
        processes.cluster_id,
        processes.folder_name,
        count_if(processes.has_log) as logs,
        count(named.process_name) as clients,
        min(named.process_name) as only_client
    from processes
    left join named
        on
            processes.cluster_id = named.cluster_id
            and processes.process_name = named.process_name
    group by processes.cluster_id, processes.folder_name
),

-- Files that are not logs, or are named by their folder alone, belong to the only client of the folder.
placed as (
    select
        processes.cluster_id,
        processes.process_name,
        coalesce(
            own.process_name,
            if(
                folders.clients = 1
                and (not processes.has_log or processes.process_name = processes.folder_name),
                folders.only_client,
                null
            )
        ) as named_process,
        if(
            folders.logs > 1 or contains(processes.process_name, 'zookeeper'),
            processes.process_name,
            processes.folder_name
        ) as unnamed
    from processes
    inner join folders
        on
            processes.cluster_id = folders.cluster_id
            and processes.folder_name = folders.folder_name
    left join named as own
        on processes.cluster_id = own.cluster_id and processes.process_name = own.process_name
),

final as (
    select
        placed.cluster_id,
        placed.process_name,
        coalesce(lives.valid_from, timestamp '1970-01-01 00:00:00') as valid_from,
        coalesce(lives.valid_to, timestamp '9999-01-01 00:00:00') as valid_to,
        lives.client_id,
        coalesce(lives.client_id, placed.unnamed) as owner,
        coalesce(lives.has_several_clients, false) as has_several_clients
    from placed
    left join lives
        on
            placed.cluster_id = lives.cluster_id
            and placed.named_process = lives.process_name
)

select * from final
