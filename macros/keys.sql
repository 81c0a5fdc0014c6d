{#-
The surrogate keys of what a row is about, as the dimensions have them; each is built here alone. `of`: the CTE that has
the columns, where a query joins several. A key is null where what it names is null, and that of a node also
where it is -1, nobody.
-#}
{% macro cluster_key(of=none) -%}
    {{ row_key(_of(['cluster_id', 'cluster_incarnation'], of)) }}
{%- endmacro %}


{#- `node`: the column that names the node. -#}
{% macro node_key(node='node_id', of=none) -%}
    case
        when {{ _of([node], of)[0] }} <> -1
            then {{ row_key(_of(['cluster_id', node], of)) }}
    end
{%- endmacro %}


{#-
A run is known by its start: the minute, because another of its files may have an earlier line, and the number among the starts of that
minute, for a process that is restarted over and over. A number of the run would count what was loaded. Of runs whose start is not in
the logs a node has one, the first.
-#}
{% macro node_run_key() -%}
    {{ row_key(['cluster_id', 'node_id', "date_trunc('minute', started_at)", 'start_number']) }}
{%- endmacro %}


{% macro topic_key(of=none) -%}
    case
        when {{ _of(['topic_name'], of)[0] }} is not null
            then {{ row_key(_of(['cluster_id', 'cluster_incarnation', 'topic_name', 'topic_incarnation'], of)) }}
    end
{%- endmacro %}


{% macro partition_key(of=none) -%}
    case
        when {{ _of(['topic_name'], of)[0] }} is not null and {{ _of(['partition_id'], of)[0] }} is not null
            then
                {{
                    row_key(_of(
                        ['cluster_id', 'cluster_incarnation', 'topic_name', 'topic_incarnation', 'partition_id'], of
                    ))
                }}
    end
{%- endmacro %}


{% macro group_key(of=none) -%}
    case
        when {{ _of(['group_id'], of)[0] }} is not null
            then {{ row_key(_of(['cluster_id', 'cluster_incarnation', 'group_id'], of)) }}
    end
{%- endmacro %}


{#- Columns with the name of their CTE. -#}
{% macro _of(columns, of) -%}
    {%- set named = [] -%}
    {%- for column in columns -%}
        {%- do named.append(of ~ '.' ~ column if of else column) -%}
    {%- endfor -%}
    {{ return(named) }}
{%- endmacro %}


{#-
Placed rows with the incarnation of their topic at the time of the row; a row without a time belongs to
the first, and one without a topic to none. All are names of CTEs; `at` is the column with the time.
-#}
{% macro with_topic_incarnation(rows, at='logged_at', lives='lives') -%}
    select
        {{ rows }}.*,
        if({{ rows }}.topic_name is null, null, coalesce({{ lives }}.life_number, 1)) as topic_incarnation
    from {{ rows }}
    left join {{ lives }} on {{ placed_in_life(rows, at, lives) }}
{%- endmacro %}


{#-
The condition that joins rows of a day to the incarnation that their cluster had when the day ended; a row
without a day joins the first. Both are names of CTEs.
-#}
{% macro at_end_of_day(rows, day='event_date', incarnations='incarnations') -%}
    {{ rows }}.cluster_id = {{ incarnations }}.cluster_id
    and {{ incarnations }}.valid_from < cast(date_add(coalesce({{ rows }}.{{ day }}, date '1970-01-01'), 1) as timestamp)
    and {{ incarnations }}.valid_to >= cast(date_add(coalesce({{ rows }}.{{ day }}, date '1970-01-01'), 1) as timestamp)
{%- endmacro %}


{#-
The members of a dimension that facts name, each once: a dimension has a row for whatever a fact is about, also
where nothing else is known of it. `columns`: by relation, the columns of the fact that identify the member, in the order of `names`; the first is
never null.
-#}
