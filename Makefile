# Every target sets up what it needs in .venv the first time, and again when pyproject.toml changes.

PYTHON ?= python3
# Versions to test with, such as `make test NUMPY=2.0 SCIPY=1.16`, in an environment of its own.
NUMPY  ?=
SCIPY  ?=
VENV   := .venv$(if $(NUMPY),-numpy$(NUMPY))$(if $(SCIPY),-scipy$(SCIPY))
BIN    := $(VENV)/bin
JOBS   ?= 2
# Extras to install beside the target's own, such as `make test WITH="torch tensorboard"`.
WITH   ?=
# More arguments for pytest, such as `make test ARGS="-x -k hypot"` or `make test ARGS=tests/core`.
ARGS   ?=

# One stamp for each extra of pyproject.toml that has been installed.
has = $(addprefix $(VENV)/.has-,$(1) $(WITH))

# Two installations into one environment must not run side by side.
.NOTPARALLEL:
.PHONY: help demo examples test lint types stubs docs bench compat .compat-run notebooks array-api release clean

help:
	@echo "make demo | examples | test | lint | types | stubs | docs | bench | compat | notebooks | array-api SUITE=path | release | clean"

$(VENV)/.created:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "funcgrad needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.has-%: pyproject.toml $(VENV)/.created
	$(BIN)/python -m pip install --quiet --editable '.[$*]' $(if $(NUMPY),'numpy==$(NUMPY).*') $(if $(SCIPY),'scipy==$(SCIPY).*')
	@touch $@

demo: $(call has,demo)
	$(BIN)/python examples/demo.py

# The trainings of examples/, in full (some ten minutes).
TRAININGS := accumulation digits_cnn functional_digits_cnn characters adding_problem reversing cartpole gan maml functional_maml

examples: $(call has,examples tensorboard)
	for name in $(TRAININGS); do echo "--- examples/$$name.py"; $(BIN)/python examples/$$name.py || exit 1; done

# Each worker of pytest has a core to itself; threads in BLAS would fight over it.
# What is compiled is kept, also where the shell says otherwise: each worker and each subprocess would begin anew.
test notebooks bench: export PYTHONDONTWRITEBYTECODE :=
test notebooks bench: export OMP_NUM_THREADS := 1
test notebooks bench: export OPENBLAS_NUM_THREADS := 1
test notebooks bench: export MKL_NUM_THREADS := 1

test: $(call has,test)
	$(BIN)/python -m pytest -q -n $(JOBS) --doctest-modules $(ARGS)

lint: $(call has,dev)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(call has,dev test)
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/pyright -p tests/types --pythonpath $(BIN)/python
	cd tests/types && "$(CURDIR)/$(BIN)/python" -m mypy --strict --cache-dir ../../.mypy_cache .

# What editors see of funcgrad.torch, whose methods are attached as it is loaded.
stubs: $(call has,dev)
	$(BIN)/python -m funcgrad.torch.stubs

docs: $(call has,docs)
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

bench: $(call has,bench)
	$(BIN)/python -m benchmarks

# Packages written for autograd, with the original and with funcgrad; in an environment of its own.
compat:
	$(MAKE) .compat-run VENV=.venv-compat

.compat-run: $(call has,compat)
	$(BIN)/python -m benchmarks.packages

notebooks: $(call has,notebooks)
	$(BIN)/python -m pytest -q -n $(JOBS) --nbmake notebooks $(ARGS)

array-api: $(call has,test)
	@test -d "$(SUITE)/array_api_tests" || { echo "make array-api SUITE=path: path must be a checkout of data-apis/array-api-tests, with its submodules; found '$(SUITE)'" >&2; exit 2; }
	$(BIN)/python -m pip install --quiet --requirement "$(SUITE)/requirements.txt"
	cd "$(SUITE)" && ARRAY_API_TESTS_MODULE=funcgrad.numpy "$(CURDIR)/$(BIN)/python" -m pytest -q array_api_tests --xfails-file "$(CURDIR)/tests/array_api/xfails.txt" $(ARGS)

# Builds wheel and sdist, and tries the wheel with NumPy alone, the oldest and the newest that are allowed. It uploads nothing.
release: $(call has,release)
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python .ci/release.py dist

clean:
	rm -rf .venv .venv-numpy* .venv-scipy* dist docs/_build .pytest_cache .ruff_cache .mypy_cache .hypothesis
