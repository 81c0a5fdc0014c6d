{%- set path = "coalesce(" ~ field('file') ~ ", " ~ field('log_path') ~ ")" -%}
with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns('writer_id') }},
        topic_name,
        partition_id,
        -- The last slash ends the directory of a checkpoint file, and of a log.
        coalesce(
            {{ field('log_dir') }},
            left({{ path }}, greatest(length({{ path }}) - instr(reverse({{ path }}), '/'), 0))
        ) as log_dir,
        -- The directory of a log is named after its partition.
        right(
            {{ field('log_path') }}, instr(reverse({{ field('log_path') }}), '/') - 1
        ) as log_name,
        {{ field('log_dirs') }} as log_dirs,
        {{ field('log_dir_id') }} as log_dir_id,
        {{ field('disk_operation') }} as disk_operation,
        {{ field('partition_list') }} as partition_list,
        {{ field('exception') }} as exception,
        coalesce({{ field('exception_message') }}, {{ field('error') }}) as exception_message
    from events
    where
        {{ has_role([
            'disk_error',
            'log_dir_failure',
            'offline_partitions',
            'disk_stop',
        ]) }}
        -- Up to 0.11 a broker reports it with the error of a request.
        or (
            {{ has_role('request_error') }}
            and (
                {{ field('exception') }} like '%KafkaStorageException'
                or {{ field('exception_message') }} like '%No space left on device%'
            )
        )
)

select * from final
