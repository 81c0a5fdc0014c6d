{#-
The condition that joins placed records of a KRaft controller to the term that was over, or about
to end, when it printed them: what it prints then is never committed. Both are names of CTEs.
-#}
{% macro in_stale_term(rows, terms='stale_terms') -%}
    {{ rows }}.cluster_id = {{ terms }}.cluster_id
    and {{ rows }}.cluster_incarnation = {{ terms }}.cluster_incarnation
    and {{ rows }}.node_id = {{ terms }}.node_id
    and {{ rows }}.logged_at >= {{ terms }}.stale_from
    and {{ rows }}.logged_at <= {{ terms }}.stale_until
{%- endmacro %}
