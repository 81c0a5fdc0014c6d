{#-
`chronicle build` makes only the clusters that arrivals touch: what is known of one does not depend on another. Staging models that
bring rows in are bounded by this condition, in which the build fills in the clusters (`chronicle/build/compiled.py`). dbt run by hand
builds all.
-#}
{% macro in_built_clusters() -%}
    {{ return("cluster_id in ('/* built clusters */')" if var('compiled', false) else 'true') }}
{%- endmacro %}


{#- The rows of a mart of all clusters: those that are built now, and those that were published before of the others. -#}
{% macro of_all_clusters(relation) -%}
    select * from {{ '__of_all_clusters__' ~ relation.identifier if var('compiled', false) else relation }}
{%- endmacro %}
