{#-
The condition that joins placed rows to the life of their topic at the time of the row. Both are
names of CTEs; `at` is the column with the time. The first life needs no row: without one
`life_number` is 1.
-#}
{% macro placed_in_life(rows, at='logged_at', lives='lives') -%}
    {{ rows }}.cluster_id = {{ lives }}.cluster_id
    and {{ rows }}.cluster_incarnation = {{ lives }}.cluster_incarnation
    and {{ rows }}.topic_name = {{ lives }}.topic_name
    and {{ in_life(rows, at, lives) }}
{%- endmacro %}


{#- The part of that condition that is about time: the row is of the time of the life. -#}
{% macro in_life(rows, at='logged_at', lives='lives') -%}
    {{ rows }}.{{ at }} >= {{ lives }}.began_at
    and ({{ lives }}.next_began_at is null or {{ rows }}.{{ at }} < {{ lives }}.next_began_at)
{%- endmacro %}
