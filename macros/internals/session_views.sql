{#-
The query of a model, with the views it reads made known to the session instead of written into it. dbt compiles an ephemeral
model into everything that reads it, and Spark analyses all of that text again for each of them; a view of the session keeps
its analysed plan (`spark.sql.legacy.storeAnalyzedPlanForView`), so that each model is analysed once in a build.

`code`: the compiled query, `with __dbt__cte__a as (…), own as (…) select …`; returns `with own as (…) select …`.
-#}
{% macro from_session_views(code) -%}
    {%- set steps = model.extra_ctes -%}
    {%- if not steps -%}
        {{ return(code) }}
    {%- endif -%}
    {#- The graph lives as long as the build. -#}
    {%- set made = graph.setdefault('session_views', []) -%}
    {%- for step in steps if step.id not in made -%}
        {%- do run_query('create or replace temporary view' ~ step.sql) -%}
        {%- do made.append(step.id) -%}
    {%- endfor -%}
    {%- set own = code.split(steps[-1].sql, 1)[1] | trim -%}
    {{ return('with ' ~ own[1:] if own.startswith(',') else own) }}
{%- endmacro %}
