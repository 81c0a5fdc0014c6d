{#-
Stretches of time that contradict themselves: an end before the start, a duration below zero or other than that between both, not open without
an end or open with one (`open_if`: a condition for those that may have ended at an unknown time), `duration_so_far_ms` other than `duration_ms` where there is an end, and
other than to `observed_until` where there is none.
-#}
{% test sound_stretch(model, start='started_at', end='ended_at', open_if=none) -%}
    select *
    from {{ model }}
    where
        {{ end }} < {{ start }}
        or is_open is null
        or is_open is distinct from ({{ end }} is null{% if open_if %} and {{ open_if }}{% endif %})
        or duration_ms is distinct from unix_millis({{ end }}) - unix_millis({{ start }})
        or duration_so_far_ms is distinct from unix_millis(observed_until) - unix_millis({{ start }})
        or duration_so_far_ms < 0
        or ({{ end }} is not null and duration_so_far_ms is distinct from duration_ms)
        or (is_open and observed_until is null)
{%- endtest %}
