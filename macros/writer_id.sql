{#-
The node that wrote a record of bronze; where it is not known, a number below -1 made of the process:
a process without a number is a process. Null for records of other programs.
-#}
{% macro writer_id() -%}
    -- The hash of a null is not null.
    coalesce(
        node_id,
        case when writer is not null then cast(-2 - pmod(xxhash64(writer), 2147483000) as int) end
    )
{%- endmacro %}


{#- The name of a node for people: 'node 3', or 'unknown (broker.log)' for a process without a number. -#}
{% macro node_name(node='node_id', writer='writer') -%}
    if({{ node }} < -1, concat('unknown (', substring_index({{ writer }}, '/', -1), ')'), concat('node ', {{ node }}))
{%- endmacro %}
