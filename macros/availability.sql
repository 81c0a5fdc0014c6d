{#-
    The share of the time that partitions existed and were observed in which they had a leader; null if none was observed.  Both
    are null on days without evidence, so that sums leave these out.
-#}
{% macro availability(leaderless_ms, partition_observed_ms) -%}
    1 - try_divide({{ leaderless_ms }}, {{ partition_observed_ms }})
{%- endmacro %}
