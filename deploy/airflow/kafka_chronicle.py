"""Kafka Chronicle as a DAG of Airflow: ingest what is new, build what it feeds, ask the saved questions.

Variables of Airflow: `chronicle_logs` (folders or URIs, separated by blanks), `chronicle_warehouse`, `chronicle_options` (such as --layout '{cluster}/{node}/**').
The workers have the wheel; `chronicle` is on their PATH.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG

with DAG(
    dag_id="kafka_chronicle",
    description="The history of a Kafka fleet, in SQL",
    schedule=timedelta(minutes=15),
    start_date=datetime(2026, 1, 1),
    catchup=False,
    # Two writers would only wait for each other.
    max_active_runs=1,
    default_args={"retries": 2, "retry_delay": timedelta(minutes=1), "execution_timeout": timedelta(hours=2), "append_env": True},
) as dag:
    ingest = BashOperator(
        task_id="ingest",
        bash_command="chronicle ingest {{ var.value.chronicle_logs }} {{ var.value.get('chronicle_options', '') }}",
        env={"CHRONICLE_WAREHOUSE": "{{ var.value.chronicle_warehouse }}"},
    )
    build = BashOperator(
        task_id="build",
        bash_command="chronicle build",
        env={"CHRONICLE_WAREHOUSE": "{{ var.value.chronicle_warehouse }}"},
    )
    # Exits with 3, and so fails, if an alert has found something.
    check = BashOperator(
        task_id="check",
        bash_command="chronicle check --since 30m",
        env={"CHRONICLE_WAREHOUSE": "{{ var.value.chronicle_warehouse }}"},
        retries=0,
    )
    ingest >> build >> check
