# The menu. Everything it needs is installed into .venv and target/, without root. Stamp files make the second time quick.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

PYTHON ?= python3
# .ci/run sets --locked; at home Cargo.lock may follow Cargo.toml.
CARGO_FLAGS ?=
FUZZ_SECONDS ?= 90
BED_CASES ?= m_memory a_seqwrite c_read
# .ci/run sets --from, so that its seeds are those of the tree.
FUZZ_FLAGS ?=

VENV := .venv
BIN := $(VENV)/bin
CORE := python/pagecast/_core.abi3.so
RUST_SOURCES := Cargo.toml $(wildcard Cargo.lock) $(shell find crates -name '*.rs' -o -name Cargo.toml)

export PATH := $(PATH):$(HOME)/.cargo/bin
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_QUIET := 1
export VIRTUAL_ENV := $(CURDIR)/$(VENV)
# One interpreter for every cargo call: another one would build PyO3 anew each time.
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python

.PHONY: help
help: ## show this menu
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: build ## forecast the four experiments of the WRENCH-cache paper; ends with a link to the report in out/demo
	@$(BIN)/pagecast reproduce wrench-cache --brief --out out/demo

.PHONY: build
build: $(CORE) ## the program .venv/bin/pagecast, with the release core

$(VENV)/.packages: constraints.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("pagecast needs Python 3.11 or later; try make PYTHON=python3.12")'
	@command -v cargo >/dev/null || { echo 'pagecast needs Rust (cargo) 1.90 or later; see https://rustup.rs' >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --upgrade pip
	$(BIN)/python -m pip install --group dev
	@touch $@

$(CORE): $(VENV)/.packages $(RUST_SOURCES)
	@echo 'compiling the core; the first time it takes some minutes'
	$(BIN)/maturin develop --release --quiet $(CARGO_FLAGS)
	@touch $@

.PHONY: test
test: build ## every Rust and Python test, and the SimGrid plug-in where SimGrid is; random ones draw the same examples every time
	PROPTEST_RNG_SEED=1 cargo test --workspace $(CARGO_FLAGS)
	$(BIN)/pytest -n auto --dist loadfile --no-loadscope-reorder

.PHONY: install
install: ## the C library and its header into PREFIX; the SimGrid plug-in, too, where SimGrid is installed
	@test -n '$(PREFIX)' || { echo 'say where: make install PREFIX=/usr/local' >&2; exit 2; }
	PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' CARGO_FLAGS='$(CARGO_FLAGS)' bash plugins/install.sh

.PHONY: lint
lint: build ## format and lint both languages, check types and the stubs of the core
	cargo fmt --all --check
	cargo clippy --workspace --all-targets $(CARGO_FLAGS) -- -D warnings
	RUSTDOCFLAGS='-D warnings' cargo doc --quiet --no-deps -p pagecast-core -p pagecast-petri -p pagecast-probe -p pagecast-capi $(CARGO_FLAGS)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/stubtest pagecast._core

.PHONY: docs
docs: build ## the site, in docs/_build/html; a warning is an error
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going -b html docs docs/_build/html
	@echo 'open docs/_build/html/index.html'

.PHONY: validate
validate: build ## check every claim; rewrite the tables of README.md and docs/validation/claims.md
	$(BIN)/python validation/claims.py --write

.PHONY: bench
bench: build ## speed and memory of the simulate call, beside SimGrid, WRENCH=FOLDER and the oracle; tables in out/bench; cost of a flow, an extent, a call and an object
	$(BIN)/python benches/simulate.py --out out/bench
	$(BIN)/python benches/objects.py --out out/bench
	$(BIN)/python -m benches.sweep
	$(BIN)/python -m benches.studio
	$(BIN)/python benches/petri.py --out out/bench $(if $(PETRI_PEERS),--peers '$(PETRI_PEERS)')
	cargo bench --package pagecast-core $(CARGO_FLAGS) --bench flows -- --quiet
	cargo bench --package pagecast-core $(CARGO_FLAGS) --bench extents
	cargo bench --package pagecast-core $(CARGO_FLAGS) --bench calls

.PHONY: bench-cache
bench-cache: build ## speed of pagecast cache on real files, beside vmtouch; writes 8 GB into out and removes them
	$(BIN)/python benches/cache.py --out out/bench

.PHONY: bed
bed: build ## record BED_CASES in a guest in virtual time and judge the forecasts; downloads 180 MB into out/bed (docs/guides/test-bed.md)
	$(BIN)/python -m bed guest out/bed $(BED_CASES)
	recorded=$$(echo out/bed/recordings/guest*-zram-2g) \
	    && $(BIN)/pagecast reproduce live-kernel --data "$$recorded" --machine "$$recorded/machine.toml" --out out/bed/report
	$(BIN)/python -m bed judge out/bed/report

.PHONY: bench-run
bench-run: build ## the cost of sampling a real run, at several rates; writes and reads 512 MB files in out
	$(BIN)/python benches/run.py --out out/bench

.PHONY: fuzz
fuzz: build ## random whole scenarios against laws, operations against the oracle, bytes for the readers and nets, for FUZZ_SECONDS (90)
	$(BIN)/python fuzz/run.py --seconds $(FUZZ_SECONDS) $(FUZZ_FLAGS)

.PHONY: mutants
mutants: build ## does a test notice each small change of policy and engine? (hours; installs cargo-mutants; tests/mutants.md)
	command -v cargo-mutants >/dev/null || cargo install --locked --quiet cargo-mutants --root target/tools
	PATH="$$PATH:$(CURDIR)/target/tools/bin" cargo mutants --package pagecast-core

.PHONY: golden
golden: build ## rewrite the expected outputs; read the diff before you commit it
	INSTA_UPDATE=always cargo test --workspace $(CARGO_FLAGS)
	UPDATE_GOLDEN=1 $(BIN)/pytest tests/golden tests/cli tests/examples

.PHONY: net
net: build ## does a golden timeline notice each change of tests/golden/changes.toml? CHANGES="NAME ..." tries some; takes 20 minutes
	$(BIN)/python tests/golden/net.py $(CHANGES)

.PHONY: reference
reference: ## rewrite the tables of machine keys and of fio options in docs/reference
	UPDATE_REFERENCE=1 cargo test -p pagecast-core --lib $(CARGO_FLAGS) reference::the_reference_is_current

.PHONY: constraints
constraints: ## resolve all Python packages anew into constraints.txt
	rm -rf out/resolve && $(PYTHON) -m venv out/resolve
	unset PIP_CONSTRAINT && out/resolve/bin/python -m pip install --upgrade pip \
	    && out/resolve/bin/python -m pip install --group dev
	{ sed -n '/^#/p' constraints.txt; out/resolve/bin/python -m pip freeze --all --exclude setuptools; } > out/constraints
	mv out/constraints constraints.txt && rm -rf out/resolve

.PHONY: clean
clean: ## remove everything that make has made
	rm -rf $(VENV) target out dist docs/_build docs/_generated $(CORE) mutants.out* .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
