{#-
`chronicle build` builds only the clusters that have arrivals, because no cluster's rows depend on
another's. Staging models that bring rows in are limited by this condition, in which the build fills
in the clusters (`chronicle/build/template.py`). dbt run by hand builds all.
-#}
{% macro in_built_clusters() -%}
    {{ return("cluster_id in ('/* built clusters */')" if var('compiled', false) else 'true') }}
{%- endmacro %}


{#-
The rows of a mart for all clusters: those that are built now, and the published rows of the others.
-#}
{% macro of_all_clusters(relation) -%}
    select * from {{ '__of_all_clusters__' ~ relation.identifier if var('compiled', false) else relation }}
{%- endmacro %}
