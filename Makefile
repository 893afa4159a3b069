# newsportal: the commands of the README. `make help` lists them.
# Everything is set up by need: the virtual environment in .venv from the locked requirements, system tools for the tests by apt where we may.

# The system's Python first: Debian's is compiled with profiles and takes a tenth less processor time than one that pyenv compiles
PYTHON ?= $(shell for needed in ensurepip sys; do for p in /usr/bin/python3 python3.13 python3.12 python3.11 python3; do \
	command -v $$p >/dev/null 2>&1 && $$p -c "import sys, $$needed; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))" 2>/dev/null && echo $$p && exit; done; done)
VENV := .venv
BIN := $(VENV)/bin
BUILD_READY := $(VENV)/.ready-build
RUN_READY := $(VENV)/.ready-run
TOOLS_READY := $(VENV)/.ready-tools
TEST_READY := $(VENV)/.ready-test
COMPILED := $(VENV)/.compiled
# Python compiles what is imported; to compile all that is installed takes a third of the time
# The locked files name every dependency: nothing is left to resolve
INSTALL := $(BIN)/python -m pip --disable-pip-version-check --quiet install --no-compile --no-deps --no-build-isolation
unexport PYTHONDONTWRITEBYTECODE  # else each process compiles what it imports
HOST ?= 127.0.0.1
JOBS ?= $(shell cores=$$(nproc 2>/dev/null || echo 2); echo $$((cores < 4 ? 2 * cores : 8)))
IN_PARALLEL := -n $(JOBS) --dist loadfile --no-loadscope-reorder # many tests wait: more processes than cores; a file's tests share what they crawled

.PHONY: help run demo screens reference release test all-tests test-fast test-faults fuzz check lock clean tools servers

help:  ## list the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

run: $(RUN_READY)  ## set up, crawl what sources.yaml says, and serve the portal
	@$(BIN)/newsportal up --host $(HOST) $(if $(PORT),--port $(PORT))

demo: $(RUN_READY)  ## the same on a made-up Web, without any network
	@$(BIN)/python tests/site/demo.py --host $(HOST) $(if $(PORT),--port $(PORT))

screens: $(TEST_READY)  ## take the pictures of docs/screens anew, from the demo
	$(BIN)/python scripts/screens

reference: $(TEST_READY)  ## write docs/commands.md from the commands' help
	$(BIN)/python scripts/reference

release: $(RUN_READY)  ## build wheel, source archive and SBOM into dist/
	@rm -rf build dist
	@$(BIN)/python scripts/release

test: $(VENV)/bin/python  ## set up and run all checks and tests
	@$(MAKE) --no-print-directory --jobs=2 $(TEST_READY) tools
	@$(MAKE) --no-print-directory --jobs=2 check all-tests

all-tests: $(COMPILED)
	$(BIN)/python -m pytest -q $(IN_PARALLEL)

test-fast: $(TEST_READY)  ## the unit tests, in less than two minutes
	$(BIN)/python -m pytest -q -m "not slow and not browser" $(IN_PARALLEL)

test-faults: $(TEST_READY) tools  ## kill 200 workers over 5,000 pages, on disk and with Redis; a month of troubles (long)
	$(BIN)/python tests/faults/long_run.py
	$(BIN)/python tests/soak/month.py

fuzz: $(TEST_READY)  ## throw changed pages, feeds and files at all that reads them: MINUTES=30 [SEED=1]
	$(BIN)/python tests/fuzz/long_run.py $(or $(MINUTES),5) $(SEED)

check: $(TEST_READY)  ## style, types, layers, size
	$(BIN)/python -m pip --quiet check  # the locked files are complete
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python benchmarks/ratchet.py

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "newsportal needs Python 3.11, 3.12 or 3.13 (install it, e.g. apt install python3 python3-venv, or say PYTHON=...)"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get update -qq && apt-get install -y -qq python3-venv >/dev/null; \
	  else echo "Python's venv module is missing; install it with: sudo apt install python3-venv"; exit 1; fi; }
	@$(PYTHON) -m venv $(VENV)

$(BUILD_READY): requirements/build.txt | $(VENV)/bin/python
	@echo "Installing (once, about a minute) ..."
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip >/dev/null  # a set-up that was interrupted
	@$(INSTALL) --require-hashes -r requirements/build.txt
	@touch $@

$(RUN_READY): requirements/run.txt pyproject.toml $(BUILD_READY)
	@$(INSTALL) --require-hashes -r requirements/run.txt
	@$(INSTALL) -e .
	@touch $@

$(TOOLS_READY): requirements/test.txt requirements/run.txt $(BUILD_READY)  # what is not in run.txt, so both can be installed at once
	@awk '/^[a-z0-9]/ {locked = $$1 in run; if (NR == FNR) run[$$1]} NR > FNR && !locked' requirements/run.txt requirements/test.txt >$(VENV)/tools.txt
	@$(INSTALL) --require-hashes -r $(VENV)/tools.txt
	@touch $@

$(TEST_READY): $(RUN_READY) $(TOOLS_READY)
	@touch $@

$(COMPILED): $(TEST_READY)
	-@$(BIN)/python -m pytest -q --collect-only >/dev/null  # once: else every process of the tests compiles all that they import
	@touch $@

tools:  ## the system's tools for the tests (servers, Chromium, Java), where we may install them
	@$(PYTHON) scripts/servers install
	@command -v chromium-headless-shell >/dev/null 2>&1 || if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "Installing Chromium for the browser tests ..."; \
	  apt-get update -qq; for browser in chromium-headless-shell chromium; do \
	    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$browser fonts-noto-cjk >/dev/null 2>&1 && break; \
	  done; { command -v chromium-headless-shell || command -v chromium; } >/dev/null 2>&1 || echo "Chromium could not be installed; the browser tests will be skipped"; \
	  else command -v chromium >/dev/null 2>&1 || echo "no Chromium: the browser tests will be skipped (install it with: sudo apt install chromium)"; fi
	@command -v java >/dev/null 2>&1 || if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "Installing Java for the tests of Spark ..."; \
	  apt-get update -qq; for version in 21 17; do \
	    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends openjdk-$$version-jre-headless >/dev/null 2>&1 && break; \
	  done; command -v java >/dev/null 2>&1 || echo "Java could not be installed; the tests of Spark will be skipped"; \
	  else echo "no Java: the tests of Spark will be skipped (install it with: sudo apt install default-jre-headless)"; fi

servers:  ## start Redis, PostgreSQL, MariaDB, MongoDB and Elasticsearch for trying out, and say where they are
	@$(PYTHON) scripts/servers install >/dev/null
	@$(PYTHON) scripts/servers start; echo "Stop them with: scripts/servers stop"

lock: $(TEST_READY)  ## renew the locked requirements (needs uv)
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header requirements/build.in -o requirements/build.txt
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header pyproject.toml -o requirements/run.txt
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --extra dev -c requirements/run.txt pyproject.toml -o requirements/test.txt

clean:  ## remove what was set up (not your data)
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
