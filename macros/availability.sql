{#-
    The share of the time that partitions existed and were observed in which they had a leader; null if none was observed.  Both
    are null on days without evidence, so that sums leave these out.
-#}
{% macro availability(leaderless_ms, partition_observed_ms) -%}
    1 - try_divide({{ leaderless_ms }}, {{ partition_observed_ms }})
{%- endmacro %}


{#- The partition-time without a leader that the target of the cluster (`slo_target`) allows; null without a target. -#}
{% macro error_budget_ms() -%}
    cast(round((1 - slo_target) * partition_observed_ms) as bigint)
{%- endmacro %}
