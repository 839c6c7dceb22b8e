# `make` lists what can be done. Each target does the set-up that it needs, also as the first command in a new clone.
# ARGS reaches the program behind a target:  make test ARGS="-k landing -n 0"

ARGS ?=
AGENTS ?=
VENV := .venv
PYTHON_IN_VENV := $(VENV)/bin/python

MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DEFAULT_GOAL := help

# With it set, every start of `ww` would compile the whole program again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' Makefile

.PHONY: setup
setup: $(VENV)/.ready ## make .venv ready, installing what is missing

.PHONY: demo
demo: $(VENV)/.ready ## see Woodwind at work, with rehearsal agents in a throw-away repository
	@$(VENV)/bin/ww demo $(ARGS)

# Two at a time for each core: they wait for terminals as much as they compute.
PYTEST_IN_PARALLEL = PYTEST_XDIST_AUTO_NUM_WORKERS=$$((2 * $$(getconf _NPROCESSORS_ONLN))) TMPDIR=$$(scripts/scratch) \
	$(PYTHON_IN_VENV) -m pytest -n auto

.PHONY: test
test: $(VENV)/.ready ## run all tests in parallel (the fault tests in their short form)
	$(PYTEST_IN_PARALLEL) $(ARGS)

# The agents must not be in memory: Codex's own sandbox hides /dev/shm from what it runs.
.PHONY: test-agents
test-agents: $(VENV)/.ready ## run the real agents against a scripted model (AGENTS=all for more of them)
	$(PYTHON_IN_VENV) -m woodwind.testing.agent_programs $(AGENTS)
	WOODWIND_TEST_AGENTS="$(or $(AGENTS),claude codex pi)" $(PYTHON_IN_VENV) -m woodwind.testing.offline \
		$(PYTHON_IN_VENV) -m pytest tests/agents $(ARGS)

.PHONY: lint
lint: $(VENV)/.ready ## check style, formatting, types and the direction of imports
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(PYTHON_IN_VENV) -m mypy
	$(VENV)/bin/lint-imports --no-logo

.PHONY: format
format: $(VENV)/.ready ## format the code and mend what can be mended safely
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

.PHONY: bench
bench: $(VENV)/.ready ## measure speed against bare git and tmux
	$(PYTHON_IN_VENV) -m benchmarks $(ARGS)

.PHONY: faults
faults: $(VENV)/.ready ## run the fault tests in their long form
	WOODWIND_FAULTS=long $(PYTEST_IN_PARALLEL) tests/faults $(ARGS)

.PHONY: soak
soak: $(VENV)/.ready ## watch 200 agents under random events for 10 minutes; ARGS="--workers 20 --minutes 1" for less
	TMPDIR=$$(scripts/scratch) $(PYTHON_IN_VENV) -m benchmarks.soak $(ARGS)

.PHONY: docs
docs: $(VENV)/.ready ## write the generated parts of docs/ again
	$(PYTHON_IN_VENV) -m woodwind.cli.reference docs

# Asks only for an interpreter, not for a finished .venv: a lock that cannot be installed can thus be replaced.
.PHONY: lock
lock: | $(PYTHON_IN_VENV) ## write requirements/dev.txt again (newest versions: ARGS=--upgrade)
	@$(PYTHON_IN_VENV) -m uv --version >/dev/null 2>&1 || \
		$(PYTHON_IN_VENV) -m pip install --quiet --disable-pip-version-check 'uv>=0.13,<0.14'
	$(PYTHON_IN_VENV) -m uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--no-header --no-emit-index-url --no-emit-find-links $(ARGS) \
		--output-file requirements/dev.txt pyproject.toml requirements/dev.in

.PHONY: clean
clean: ## remove .venv, caches and built packages
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find src $(wildcard tests benchmarks) -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamp names the folder it was made in. A .venv without an interpreter, or moved here, is made again.
ifneq ($(shell test -x $(PYTHON_IN_VENV) && sed -n 1p $(VENV)/.ready 2>/dev/null),$(CURDIR))
.PHONY: $(VENV)/.ready
endif
$(VENV)/.ready: requirements/dev.txt pyproject.toml scripts/bootstrap
	@scripts/bootstrap

$(PYTHON_IN_VENV):
	@scripts/bootstrap
