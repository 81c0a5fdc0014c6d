{#-
What a build by dbt is of. When it begins, the numbers of the newest batches in bronze are compared with those that the last complete build has
noted, and the clusters of later batches are written into `touched_clusters`. Large tables replace the rows of just these (`build_in_place`); all
others are built whole. When all models were built, the batches are noted. All of it is SQL: any Spark can do it.

Compared by batch, because batches are numbered consecutively; the time of an arrival comes from a clock, which may be set back.
-#}
{% macro begin_build() -%}
    {%- do register_bronze() -%}
    {%- if execute and is_a_build() -%}
        {%- do run_query('create schema if not exists ' ~ build_table('touched_clusters').schema) -%}
        {%- set newest = newest_batches() -%}
        {%- do run_query(
            'create or replace table ' ~ build_table('batches_at_start') ~ ' using delta as select * from values ' ~ newest ~ ' as newest (table_name, batch_id, made_by)'
        ) -%}
        {%- do run_query('create or replace table ' ~ build_table('touched_clusters') ~ ' using delta as ' ~ touched_query(batches_built())) -%}
    {%- endif -%}
{%- endmacro %}


{#- Notes the batches that were there when the build began, if all models were built: the next build is of later ones. -#}
{% macro end_build(results) -%}
    {%- if execute and is_a_build() -%}
        {%- set made = [] -%}
        {%- for result in results if result.status == 'success' -%}
            {%- do made.append(result.node.unique_id) -%}
        {%- endfor -%}
        {%- set missing = [] -%}
        {%- for node in graph.nodes.values() if node.resource_type == 'model' and node.unique_id not in made -%}
            {%- do missing.append(node.unique_id) -%}
        {%- endfor -%}
        {%- if not missing -%}
            {%- do publish_versions() -%}
            {%- do run_query(
                'create or replace table ' ~ build_table('batches_built') ~ ' using delta as select * from ' ~ build_table('batches_at_start')
            ) -%}
        {%- endif -%}
    {%- endif -%}
{%- endmacro %}


{#- Whether the command builds models, and not those of `chronicle build`'s local engine, which only compiles. -#}
{% macro is_a_build() -%}
    {{ return(flags.WHICH in ('build', 'run', 'retry') and not var('compiled', false)) }}
{%- endmacro %}


{#- A table of these notes. -#}
{% macro build_table(name) -%}
    {{ return(api.Relation.create(schema=generate_schema_name('intermediate', none), identifier=name)) }}
{%- endmacro %}


{#- The newest batch of each table of bronze, as rows for `values`, and what makes the tables. -#}
{% macro newest_batches() -%}
    {%- set rows = [] -%}
    {%- for source in graph.sources.values() -%}
        {%- set newest = run_query('select max(batch_id) from ' ~ source.relation_name).rows[0][0] -%}
        {%- do rows.append('(' ~ sql_text(source.identifier) ~ ', ' ~ (-1 if newest is none else newest | int) ~ ', ' ~ sql_text(made_by()) ~ ')') -%}
    {%- endfor -%}
    {{ return(rows | join(', ')) }}
{%- endmacro %}


{#- What makes the tables, as a hash of models, seeds and dbt's versions; what `chronicle build` knows besides is in CHRONICLE_MADE_BY. dbt does not say which text its macros have. -#}
{% macro made_by() -%}
    {%- set parts = [dbt_version, target.schema, env_var('CHRONICLE_MADE_BY', '')] -%}
    {%- for node in graph.nodes.values() | sort(attribute='unique_id') if node.resource_type in ('model', 'seed') -%}
        {%- do parts.append(node.unique_id ~ ' ' ~ node.checksum.checksum) -%}
    {%- endfor -%}
    {{ return(local_md5(parts | join('\n'))) }}
{%- endmacro %}


{#- By table of bronze, the newest batch that the last complete build has seen; none if there was none, or something else made its tables. -#}
{% macro batches_built() -%}
    {%- set table = build_table('batches_built') -%}
    {%- set known = run_query('show tables in ' ~ table.schema ~ ' like ' ~ sql_text(table.identifier)).rows -%}
    {%- if not known or flags.FULL_REFRESH -%}
        {{ return(none) }}
    {%- endif -%}
    {%- set built = {} -%}
    {%- for row in run_query('select table_name, batch_id, made_by from ' ~ table).rows if row[2] == made_by() -%}
        {%- do built.update({row[0]: row[1] | int}) -%}
    {%- endfor -%}
    {{ return(built or none) }}
{%- endmacro %}


{#- A query of the clusters of later batches; one row of null stands for all clusters. -#}
{% macro touched_query(built) -%}
    {%- set arrived = [] -%}
    {%- for source in graph.sources.values() if built is not none -%}
        {#- With a literal Delta skips the older files. -#}
        {%- do arrived.append('select cluster_id from ' ~ source.relation_name ~ ' where batch_id > ' ~ built.get(source.identifier, -1)) -%}
    {%- endfor -%}
    {%- if arrived -%}
        {{ return('select distinct cluster_id from (' ~ arrived | join(' union all ') ~ ') as arrived') }}
    {%- endif -%}
    {{ return('select cast(null as string) as cluster_id') }}
{%- endmacro %}


{#- The clusters of this build, as literals; none if it is of all. -#}
{% macro touched_clusters() -%}
    {%- set found = [] -%}
    {%- for row in run_query('select cluster_id from ' ~ build_table('touched_clusters') ~ ' order by cluster_id').rows -%}
        {%- do found.append(row[0]) -%}
    {%- endfor -%}
    {%- if none in found -%}
        {{ return(none) }}
    {%- endif -%}
    {%- set literals = [] -%}
    {%- for cluster in found -%}
        {%- do literals.append(sql_text(cluster)) -%}
    {%- endfor -%}
    {{ return(literals) }}
{%- endmacro %}


{#-
Readers see the tables of one build: views in the schema `published`, each of the version that this build has made. Tables of production are
published by `chronicle build`, in a record beside them.
-#}
{% macro publish_versions() -%}
    {%- if not is_production() -%}
        {%- set schema = generate_schema_name('published', none) -%}
        {%- do run_query('create schema if not exists ' ~ schema) -%}
        {%- for node in graph.nodes.values() if node.resource_type == 'model' and node.access == 'public' and node.config.materialized != 'view' -%}
            {%- set version = run_query('describe history ' ~ node.relation_name ~ ' limit 1').rows[0][0] -%}
            {%- do run_query(
                'create or replace view ' ~ schema ~ '.' ~ adapter.quote(node.alias) ~ ' as select * from ' ~ node.relation_name ~ ' version as of ' ~ version
            ) -%}
        {%- endfor -%}
    {%- endif -%}
{%- endmacro %}
