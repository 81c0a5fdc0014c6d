{#-
A unit test asks its query once. dbt asks for an empty table first, to learn the columns, and then for the rows: Spark analyses
the query three times. Here it is a temporary view, of which builds keep the plan.
-#}
{% materialization unit, adapter='spark' -%}
    {%- set tested = make_temp_relation(this.incorporate(type='view')) -%}
    {%- do run_query(get_create_table_as_sql(True, tested, sql)) -%}
    {%- set types = types_of(tested) -%}
    {%- set rows = config.get('expected_rows') -%}
    {%- set names = (rows[0] if rows else types) | map('lower') | list -%}
    {%- for row in rows if row | list | sort != rows[0] | list | sort -%}
        {%- do exceptions.raise_compiler_error('unit test ' ~ model.name ~ ': the expected rows have different columns') -%}
    {%- endfor -%}
    {%- set wanted = [] -%}
    {%- for name in names -%}
        {%- do wanted.append(adapter.quote(name)) -%}
    {%- endfor -%}
    {%- set expected = config.get('expected_sql') or fixture_query(rows, types, names) -%}
    {%- call statement('main', fetch_result=True) -%}
        {{ get_unit_test_sql('select * from ' ~ tested, expected, wanted) }}
    {%- endcall -%}
    {%- do adapter.drop_relation(tested) -%}
    {{ return({'relations': []}) }}
{%- endmaterialization %}


{#- Rows that a unit test gives. dbt makes a query of each and unites them, of which Spark makes a task for each row. -#}
{% macro get_fixture_sql(rows, column_name_to_data_types) -%}
    {%- set types = column_name_to_data_types or types_of(this) -%}
    {%- if not types -%}
        {%- do exceptions.raise_compiler_error('unit test ' ~ model.name ~ ': ' ~ this ~ ' has not been built, so its columns are not known') -%}
    {%- endif -%}
    {{ fixture_query(rows, types, types) }}
{%- endmacro %}


{#- The columns of a relation and their types. -#}
{% macro types_of(relation) -%}
    {%- set types = {} -%}
    {%- for column in adapter.get_columns_in_relation(relation) -%}
        {%- do types.update({column.name | lower: column.data_type}) -%}
    {%- endfor -%}
    {{ return(types) }}
{%- endmacro %}


{#- A query of some columns of rows, as `values`; what a row does not name is null. -#}
{% macro fixture_query(rows, types, names) -%}
    select * from values
        {%- for row in rows or [{}] %}
        {%- set given = format_row(row, types) %}
        (
            {%- for name in names -%}
                {{ (given[name] if name in given else 'cast(null as ' ~ types[name] ~ ')') | trim }}{{ ', ' if not loop.last }}
            {%- endfor -%}
        ){{ ',' if not loop.last }}
        {%- endfor %}
        as fixture ({% for name in names %}{{ adapter.quote(name) }}{{ ', ' if not loop.last }}{% endfor %})
    {{- '' if rows else ' where false' }}
{%- endmacro %}
