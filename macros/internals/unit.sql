{#-
A unit test asks its query once. dbt asks for an empty table first, to learn the columns, and then for the rows: Spark analyses
the query three times. Here it is a temporary view, of which builds keep the plan.
-#}
{% materialization unit, adapter='spark' -%}
    {%- set tested = make_temp_relation(this.incorporate(type='view')) -%}
    {%- do run_query(get_create_table_as_sql(True, tested, sql)) -%}
    {%- set types, names = {}, {} -%}
    {%- for column in adapter.get_columns_in_relation(tested) -%}
        {%- do types.update({column.name | lower: column.data_type}) -%}
        {%- do names.update({column.name | lower: column.quoted}) -%}
    {%- endfor -%}
    {%- set rows = config.get('expected_rows') -%}
    {%- set wanted = [] -%}
    {%- for name in (rows[0] if rows else names) -%}
        {%- do wanted.append(names[name | lower]) -%}
    {%- endfor -%}
    {%- set expected = config.get('expected_sql') or get_expected_sql(rows, types, names) -%}
    {%- call statement('main', fetch_result=True) -%}
        {{ get_unit_test_sql('select * from ' ~ tested, expected, wanted) }}
    {%- endcall -%}
    {%- do adapter.drop_relation(tested) -%}
    {{ return({'relations': []}) }}
{%- endmaterialization %}


{#- Rows that a unit test gives. dbt makes a query of each and unites them, of which Spark makes a task for each row. -#}
{% macro get_fixture_sql(rows, column_name_to_data_types) -%}
    {%- set types = column_name_to_data_types or {} -%}
    {%- if not types -%}
        {%- for column in adapter.get_columns_in_relation(this) -%}
            {%- do types.update({column.name | lower: column.data_type}) -%}
        {%- endfor -%}
    {%- endif -%}
    {%- if not types -%}
        {%- do exceptions.raise_compiler_error('unit test ' ~ model.name ~ ': ' ~ this ~ ' has not been built, so its columns are not known') -%}
    {%- endif -%}
    {{ fixture_query(rows, types) }}
{%- endmacro %}


{#- Rows that a unit test expects, of the columns that it names. -#}
{% macro get_expected_sql(rows, column_name_to_data_types, column_name_to_quoted) -%}
    {%- if not rows -%}
        {{ fixture_query(rows, column_name_to_data_types) }}
    {%- else -%}
        {%- set types = {} -%}
        {%- for name in format_row(rows[0], column_name_to_data_types) -%}
            {%- do types.update({name: column_name_to_data_types[name]}) -%}
        {%- endfor -%}
        {%- for row in rows if row | list | sort != rows[0] | list | sort -%}
            {%- do exceptions.raise_compiler_error('unit test ' ~ model.name ~ ': the expected rows have different columns') -%}
        {%- endfor -%}
        {{ fixture_query(rows, types) }}
    {%- endif -%}
{%- endmacro %}


{#- A query of rows as `values`; what a row does not name is null. -#}
{% macro fixture_query(rows, types) -%}
    select * from values
        {%- for row in rows or [{}] %}
        {%- set given = format_row(row, types) %}
        (
            {%- for name, type in types.items() -%}
                {{ (given[name] if name in given else 'cast(null as ' ~ type ~ ')') | trim }}{{ ', ' if not loop.last }}
            {%- endfor -%}
        ){{ ',' if not loop.last }}
        {%- endfor %}
        as fixture ({% for name in types %}{{ adapter.quote(name) }}{{ ', ' if not loop.last }}{% endfor %})
    {{- '' if rows else ' where false' }}
{%- endmacro %}
