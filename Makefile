# One verb each; CI runs `make test`. Variables: LOGS and CLUSTER of `make run`, CHRONICLE_JARS, CHRONICLE_PYTHON, JAVA_HOME.

DEFAULT_LOGS ?= examples/orders
LOGS ?= $(DEFAULT_LOGS)
CLUSTER ?=
BIN := .venv/bin
LAB := .cache/lab

.PHONY: packages setup run check check-tables check-lines style measures test test-lab test-facts test-serve test-wheel test-python test-lines test-tables test-spark test-cluster test-databricks lint fuzz rotations partial holes hostile limits bench bench-serve superset superset-look docs lint-deploy pictures clean

# Set-up steps run once: a stamp holds the hash of the lock file and other inputs. If it is current, no network is needed.
setup: packages
	@sh .ci/setup

# Only the packages that are needed to read and check the code.
packages:
	@sh .ci/setup packages

run: setup
	@$(BIN)/chronicle run $(LOGS) $(if $(CLUSTER),--cluster $(CLUSTER))

# The checks to run before each commit, in a minute and without Spark: style, types, catalogue, and the pure tests except for the long ones;
# one of them checks that dbt can read the project.
check: setup
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target check-tables check-lines style

# The tests of tests/python that read the dbt project or write tables, and the others.
TABLES := $(wildcard $(patsubst %,tests/python/test_%.py,project dbt_docs dashboards report equal questions alerts keys measures names))
NOT_TABLES := $(patsubst %,--ignore=%,$(TABLES)) tests/python
check-tables: setup
	$(BIN)/python -m pytest -m 'not long' $(TABLES)

check-lines: setup
	$(BIN)/python -m pytest -m 'not long' $(NOT_TABLES)

style: packages
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/chronicle catalogue check

lint: style
	$(BIN)/sqlfluff lint --disable-progress-bar models analyses tests/data tests/alerts macros

# Writes the columns of daily reports, from macros/daily_measures.sql.
measures: setup
	$(BIN)/python -m tests.measures

# Two targets at a time, the longest first; while the lab is built, which leaves half a core, what needs no lab.
test: packages
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=line test-lab lint test-tables test-facts test-serve test-spark test-lines

# The tables that the other tests query: the clusters of tests/fixtures and the incidents, built with dbt's data and unit tests.
test-lab: setup
	$(BIN)/python -m tests.lab $(LAB)

test-facts: test-lab
	CHRONICLE_LAB=$(LAB) $(BIN)/python -m pytest tests/flow tests/incidents

test-serve: test-lab
	CHRONICLE_LAB=$(LAB) $(BIN)/python -m pytest tests/serve

# `chronicle run` from an installed wheel: 200 s of CPU, nearly all of them an ordinary build, so it is not part of `make test`.
test-wheel: setup
	$(BIN)/python -m pytest tests/installed

# These need no tables, but wait because the lab takes all of the machine.
test-spark: test-lab
	$(BIN)/python -m pytest tests/spark

# Without Spark.
test-tables: setup
	$(BIN)/python -m pytest $(TABLES)

# In four parts of about a minute, by the first letter of their files (the last part has all others), so that the last targets of `test` end together.
LINES := a-i j-o p-s !a-s
test-lines: $(LINES:%=test-lines-%)

test-lines-%: test-lab
	$(BIN)/python -m pytest $(filter-out $(TABLES),$(wildcard tests/python/test_[$*]*.py))

test-python: test-lines test-tables

# Coverage-guided, over all code that reads foreign bytes; test-python runs the same targets with hypothesis.
FUZZ_SECONDS ?= 600
fuzz: setup
	@$(BIN)/python -c 'import atheris' 2>/dev/null || $(BIN)/python -m pip install --quiet --require-hashes -r tests/fuzz/requirements.lock
	$(BIN)/python -m tests.fuzz.run --seconds $(FUZZ_SECONDS)

# With real services: a Spark of a master and two workers, a server of Spark Connect, a bucket, a Kafka broker, and Prometheus if it is installed
# (`apt-get install prometheus`) and Azure's storage if Azurite and adlfs are (`npm install --global azurite`, `pip install adlfs`). Some are killed.
test-cluster: setup
	$(BIN)/python -m pytest tests/cluster

# Databricks' adapter of dbt reads and compiles the project, without a connection. Its packages have an environment of their own.
test-databricks: setup
	@test -x .cache/databricks/bin/dbt || python3 -m venv .cache/databricks
	@.cache/databricks/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r tests/databricks/requirements.lock
	$(BIN)/python -m pytest tests/databricks

# A log of 2 MB/s, rotated in every way and ingested each second.
ROTATION_SECONDS ?= 600
rotations: setup
	$(BIN)/python -m tests.rotations --seconds $(ROTATION_SECONDS)

# Clusters whose logs arrive in pieces and are built after each round, compared with one full build; ONLY=case-017 runs one alone,
# ENGINE=plain builds the pieces by dbt.
CASES ?= 200
SEED ?= 1
ENGINE ?= local
partial: setup
	$(BIN)/python -m tests.partial --cases $(CASES) --seed $(SEED) --engine $(ENGINE) $(if $(ONLY),--only $(ONLY))

# Histories of weeks, whole and with holes: what remains of the facts is of the whole, or has a warning; CASES, SEED and ONLY as above.
holes: setup
	$(BIN)/python -m tests.holes --cases $(CASES) --seed $(SEED) $(if $(ONLY),--only $(ONLY))

# The worst time per MB of every pattern for foreign text; PATTERNS=captures takes those with that in their name.
PATTERNS ?=
hostile: setup
	PYTHONPATH=. $(BIN)/python -m tests.hostile_times $(PATTERNS)

# Statements that nobody would write, against the endpoint.
MINUTES ?= 20
fuzz-endpoint: setup
	PYTHONPATH=. $(BIN)/python -m tests.fuzz_statements --minutes $(MINUTES) --seed $(or $(SEED),1)

# Time and memory for long files, many files, endless brackets, a long listing of objects. The log has LIMIT_MB.
LIMIT_MB ?= 1024
LIMIT_FILES ?= 100000
LIMIT_BRACKETS ?= 1000000
LIMIT_LINE_MB ?= 64
LIMIT_OBJECTS ?= 1000000
limits: setup
	PYTHONPATH=. $(BIN)/python -m tests.limits --megabytes $(LIMIT_MB) --files $(LIMIT_FILES) --brackets $(LIMIT_BRACKETS) --line $(LIMIT_LINE_MB) --objects $(LIMIT_OBJECTS)

# BENCH=quick takes minutes, BENCH=full hours; ONLY=NAME,… runs some. The figures go to docs/benchmarks.md, beside those of other sizes; logs and warehouses lie in BENCH_FOLDER.
BENCH ?= full
ONLY ?=
BENCH_FOLDER ?= .cache/bench
bench: setup
	PYTHONPATH=. $(BIN)/python -m bench.run $(BENCH) --folder $(BENCH_FOLDER) $(if $(ONLY),--only $(ONLY))

# The queries of all dashboards at `chronicle serve`, on a year of 200 clusters made from WAREHOUSE, by default from the lab's clusters.
bench-serve: setup
	PYTHONPATH=. $(BIN)/python tests/bench_serve.py $(WAREHOUSE)

# Superset with the dashboards, which needs a running `chronicle serve`; dashboards/serve lists its variables.
superset:
	@sh dashboards/serve

# Pictures of every dashboard of that Superset, for all clusters and for each, in .cache/superset/pictures; fails on errors.
superset-look:
	@PYTHONPATH=. .venv-superset/bin/python -m dashboards.look

# The site of docs/, in .cache/site; broken links fail. Its packages have an environment of their own.
docs:
	@test -x .cache/docs/bin/mkdocs || python3 -m venv .cache/docs
	@.cache/docs/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r docs/requirements.lock
	NO_MKDOCS_2_WARNING=1 .cache/docs/bin/mkdocs build --quiet

# Checks the files of deploy/, each kind with its own tool.
lint-deploy: setup
	@test -x .cache/deploy/bin/hadolint || python3 -m venv .cache/deploy
	@.cache/deploy/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r deploy/requirements.lock
	@sh deploy/lint

# The pictures of README and docs, from the warehouse of `make run` and from a running Superset on the same.
pictures: setup
	PYTHONPATH=. $(BIN)/python -m docs.pictures.make $(or $(WAREHOUSE),warehouse)

clean:
	rm -rf .venv .venv-superset .cache build dist .pytest_cache .ruff_cache *.egg-info
