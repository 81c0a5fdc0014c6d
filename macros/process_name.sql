{#-
The process that wrote a file: its node, else the folder and name of the file, without what rotation and the word for GC
logs add. ZooKeeper beside a broker is a process of its own. A client's log and its GC log in one folder have the same name
where the names of the files differ by that word alone, or say nothing else.
-#}
{% macro process_name(path='source_path', node='node_id') -%}
    {%- set file -%} substring_index({{ path }}, '/', -1) {%- endset -%}
    {%- set folder -%} substring_index(substring_index({{ path }}, '/', -2), '/', 1) {%- endset -%}
    {%- set stem -%} lower(substring_index({{ file }}, '.', 1)) {%- endset -%}
    case
        when {{ node }} is not null and not contains(lower({{ file }}), 'zookeeper')
            then concat('node ', {{ node }})
        when {{ stem }} = 'gc' then {{ folder }}
        else
            concat(
                {{ folder }},
                '/',
                replace(replace(replace({{ stem }}, '-gc', ''), 'gc-', ''), '_gc', '')
            )
    end
{%- endmacro %}
