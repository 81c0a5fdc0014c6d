{#-
Rows of a relation with the incarnation of the cluster at their time; a row without a time belongs
to the first. Both are names of CTEs; `at` is the column with the time.
-#}
{% macro placed(rows, at='logged_at', incarnations='incarnations') -%}
    select
        {{ rows }}.*,
        {{ incarnations }}.cluster_incarnation
    from {{ rows }}
    inner join {{ incarnations }}
        on
            {{ rows }}.cluster_id = {{ incarnations }}.cluster_id
            and coalesce({{ rows }}.{{ at }}, timestamp '1970-01-01 00:00:00') >= {{ incarnations }}.valid_from
            and coalesce({{ rows }}.{{ at }}, timestamp '1970-01-01 00:00:00') < {{ incarnations }}.valid_to
{%- endmacro %}
