{#-
The folder that identifies the owner of a file: its own, or the one above if its own is called log
or logs.
-#}
{% macro process_folder(path='source_path') -%}
    {%- set folder -%} substring_index(substring_index({{ path }}, '/', -2), '/', 1) {%- endset -%}
    {%- set above -%} substring_index(substring_index({{ path }}, '/', -3), '/', 1) {%- endset -%}
    coalesce(
        nullif(if(lower({{ folder }}) in ('log', 'logs'), {{ above }}, {{ folder }}), ''),
        {{ path }}
    )
{%- endmacro %}


{#-
The process that wrote a file: its node, else the folder and name of the file, without suffixes of
rotation and the word gc. ZooKeeper beside a broker is a process of its own: a capture that is named
after it is not of the node of its folder, while a record of a log (`of_record`) has a node only if
that node wrote it, whatever the file is called. A client's log and its
GC log in one folder have the same name if their file names differ only by that word, or are
generic.
-#}
{% macro process_name(path='source_path', node='node_id', of_record=false) -%}
    {%- set file -%} substring_index({{ path }}, '/', -1) {%- endset -%}
    {%- set stem -%} lower(substring_index({{ file }}, '.', 1)) {%- endset -%}
    case
        when
            {{ node }} is not null
            {%- if not of_record %}
            and not contains(lower({{ file }}), 'zookeeper')
            {%- endif %}
            then concat('node ', {{ node }})
        when {{ stem }} in ('gc', 'stdout', 'stderr', 'console', 'nohup') then {{ process_folder(path) }}
        else
            concat(
                {{ process_folder(path) }},
                '/',
                replace(replace(replace({{ stem }}, '-gc', ''), 'gc-', ''), '_gc', '')
            )
    end
{%- endmacro %}


{#-
Rows with the `owner` of their process: the id of its node, the client id that a client prints, else
its folder (int_clients__named), and `has_several_clients`. Both are names of CTEs; a row without a
time (`at`) takes the last name.
-#}
{% macro with_owner(rows, at='logged_at', clients='clients') -%}
    select
        {{ rows }}.*,
        case
            when {{ rows }}.process_name = concat('node ', {{ rows }}.node_id)
                then cast({{ rows }}.node_id as string)
            else coalesce({{ clients }}.owner, {{ rows }}.process_name)
        end as owner,
        coalesce({{ clients }}.has_several_clients, false) as has_several_clients
    from {{ rows }}
    left join {{ clients }}
        on
            {{ rows }}.cluster_id = {{ clients }}.cluster_id
            and {{ rows }}.process_name = {{ clients }}.process_name
            and coalesce({{ rows }}.{{ at }}, timestamp '9998-12-31 00:00:00') >= {{ clients }}.valid_from
            and coalesce({{ rows }}.{{ at }}, timestamp '9998-12-31 00:00:00') < {{ clients }}.valid_to
{%- endmacro %}
