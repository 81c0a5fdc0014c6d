with ids as (
    select * from {{ ref('int_clients__ids') }}
),

-- Most consumers of ZooKeeper take a new id at each start. Ids whose times overlap belong to one life of the process.
followed as (
    select
        *,
        max(last_at) over (
            partition by cluster_id, process_name
            order by first_at, client_id
            rows between unbounded preceding and 1 preceding
        ) as printed_until
    from ids
),

numbered as (
    select
        *,
        sum(if(first_at > printed_until, 1, 0)) over (
            partition by cluster_id, process_name
            order by first_at, client_id
            rows between unbounded preceding and current row
        ) as life_number
    from followed
),

lives as (
    select
        cluster_id,
        process_name,
        life_number,
        min(client_id) as client_id,
        count(*) > 1 as has_several_clients,
        min(first_at) as first_at
    from numbered
    group by cluster_id, process_name, life_number
),

-- An id holds until the next one; the first also holds for everything before it.
final as (
    select
        *,
        if(life_number = 0, timestamp '1970-01-01 00:00:00', first_at) as valid_from,
        coalesce(
            lead(first_at) over (
                partition by cluster_id, process_name order by life_number
            ),
            timestamp '9999-01-01 00:00:00'
        ) as valid_to
    from lives
)

select * from final
