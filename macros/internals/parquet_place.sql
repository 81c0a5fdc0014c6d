{#-
Location of a Parquet table: its schema's folder, set explicitly. A later session knows the table by
that path, forgets it when it is dropped, and then finds its files where the next one is to be
written; the setting lets Spark write over them.
-#}
{% macro spark__location_clause() -%}
    {%- if execute and config.get('file_format') == 'parquet' -%}
        {%- do run_query('set spark.sql.legacy.allowNonEmptyLocationInCTAS = true') -%}
        {%- set found = [] -%}
        {%- for row in run_query('describe schema ' ~ model.schema).rows if row[0] == 'Location' -%}
            {%- do found.append(row[1]) -%}
        {%- endfor -%}
        location {{ sql_text(found[0] ~ '/' ~ model.alias) }}
    {%- endif -%}
{%- endmacro %}
