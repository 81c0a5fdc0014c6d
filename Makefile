# One verb each; CI runs `make test`. Variables: LOGS and CLUSTER of `make run`, CHRONICLE_JARS, CHRONICLE_PYTHON, JAVA_HOME.

DEFAULT_LOGS ?= examples/orders
LOGS ?= $(DEFAULT_LOGS)
CLUSTER ?=
BIN := .venv/bin

.PHONY: setup run test test-parts test-tables lint bench bench-serve superset superset-look clean

# What is done stays done: a stamp bears the hash of the lock file, and of what else went in. No network where it stands.
setup:
	@sh .ci/setup

run: setup
	@$(BIN)/chronicle run $(LOGS) $(if $(CLUSTER),--cluster $(CLUSTER))

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/chronicle catalogue check
	$(BIN)/sqlfluff lint --disable-progress-bar models analyses tests/data tests/alerts macros

# Two things at a time: what needs no tables beside the build of tests/flow, tests/incidents and tests/serve, which runs dbt with its data and
# unit tests. CHRONICLE_KEYS=1 make test also tests the keys of every staging and intermediate view.
test: setup
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=line test-tables test-parts

test-parts: lint
	$(BIN)/python -m pytest tests/python
	$(BIN)/python -m pytest tests/spark

test-tables: setup
	$(BIN)/python -m pytest tests/flow tests/incidents tests/serve

bench: setup
	$(BIN)/python tests/bench.py $(LOGS)

# The queries of all dashboards at `chronicle serve`, on a year of 200 clusters made of WAREHOUSE, or else of the lab's clusters.
bench-serve: setup
	PYTHONPATH=. $(BIN)/python tests/bench_serve.py $(WAREHOUSE)

# Superset with the dashboards, beside a running `chronicle serve`; dashboards/serve says which variables it takes.
superset:
	@sh dashboards/serve

# Pictures of every dashboard of that Superset, for all clusters and for each, in .cache/superset/pictures; fails on errors.
superset-look:
	@PYTHONPATH=. .venv-superset/bin/python -m dashboards.look

clean:
	rm -rf .venv .venv-superset .cache .pytest_cache .ruff_cache *.egg-info
