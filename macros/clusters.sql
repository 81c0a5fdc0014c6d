{#-
A build takes only the clusters that arrivals touch (variable `clusters`; without it, all): what is known of one does not
depend on another. Staging models that bring rows in are bounded by this condition.
-#}
{% macro in_built_clusters() -%}
    {%- if var('clusters', none) is none -%}
        true
    {%- else -%}
        cluster_id in ({{ built_clusters() }})
    {%- endif -%}
{%- endmacro %}


{#- The rows of a mart of all clusters: those that are built now, and those that were published before of the others. -#}
{% macro of_all_clusters(relation) -%}
    select * from {{ relation }}
    {%- if var('clusters', none) is not none %}
        union all
        select * from delta.`{{ var('warehouse') | replace('`', '``') }}/{{ relation.schema }}/{{ relation.identifier }}`
        where cluster_id not in ({{ built_clusters() }})
    {%- endif -%}
{%- endmacro %}


{#- The clusters of this build as texts of SQL. -#}
{% macro built_clusters() -%}
    {%- for cluster in var('clusters') -%}
        {{ sql_text(cluster) }}{{ ', ' if not loop.last }}
    {%- endfor -%}
{%- endmacro %}
