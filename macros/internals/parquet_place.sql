{#-
Where a Parquet table lies: its schema's folder, said outright, for a session that was started later knows the table by that
path, forgets it when it is dropped, and finds its files in the way of the next. A build of `chronicle` clears them away itself;
here the setting lets Spark write over them.
-#}
{% macro spark__location_clause() -%}
    {%- if execute and config.get('file_format') == 'parquet' and not var('building', none) -%}
        {%- do run_query('set spark.sql.legacy.allowNonEmptyLocationInCTAS = true') -%}
        {%- set found = [] -%}
        {%- for row in run_query('describe schema ' ~ model.schema).rows if row[0] == 'Location' -%}
            {%- do found.append(row[1]) -%}
        {%- endfor -%}
        location {{ sql_text(found[0] ~ '/' ~ model.alias) }}
    {%- endif -%}
{%- endmacro %}
