{#-
`insert_overwrite` of a model that uses `touched_days` replaces exactly the days it was asked to
build. A day without new rows becomes empty; Spark's dynamic overwrite only replaces days that have
new rows. Without touched days nothing is written.
-#}
{% macro dbt_spark_get_incremental_sql(strategy, source, target, existing, unique_key, incremental_predicates) -%}
    {%- set days = days_touched_by(model.compiled_code) -%}
    {%- if strategy == 'insert_overwrite' and days is not none -%}
        {%- if days == "date'0001-01-01'" -%}
            select 0 as days_touched
        {%- else -%}
            {%- set names = adapter.get_columns_in_relation(target) | map(attribute='quoted') | join(', ') -%}
            insert into table {{ target }} replace where event_date in ({{ days }})
            select {{ names }} from {{ source }}
        {%- endif -%}
    {%- elif strategy == 'insert_overwrite' -%}
        {{ get_insert_overwrite_sql(source, target, existing) }}
    {%- elif strategy == 'append' -%}
        {{ get_insert_into_sql(source, target) }}
    {%- elif strategy == 'merge' -%}
        {{ get_merge_sql(target, source, unique_key, dest_columns=none, incremental_predicates=incremental_predicates) }}
    {%- else -%}
        {%- do exceptions.raise_compiler_error('strategy ' ~ strategy ~ ' is not used here; take insert_overwrite with touched_days') -%}
    {%- endif -%}
{%- endmacro %}
