# One target for each thing a person does. Needs only make and Python 3.11 or newer: the first target called makes
# .venv and installs what constraints.txt pins.

PYTHON ?= python3
VENV   ?= .venv
# Arguments for pytest, as in: make test PYTEST_ARGS="-x tests/test_layering.py"
PYTEST_ARGS ?= -n 2
# The backend of: make conformance
BACKEND ?= torch
# More options for both of its runs, as in: make conformance CONFORMANCE_ARGS="--workers 2"
CONFORMANCE_ARGS ?=

PY  := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check install -c constraints.txt
# By exact version, because pip then takes the build without CUDA where one is offered for it.
TORCH := $(shell sed -n 's/^\(torch==[^ ;]*\).*/\1/p' constraints.txt)

INSTALLED := $(VENV)/.installed
DOCS_INSTALLED := $(VENV)/.installed-docs
BENCH_INSTALLED := $(VENV)/.installed-bench
# The compiled core, in place: every target that runs the package has it made anew where its sources have changed.
CORE := $(VENV)/.core
CORE_SOURCES := hatch_build.py $(shell find arraydispatch -name '*.py' -o -name '*.pxd' -o -name '*.[ch]')

# Most of TensorFlow's start-up notices on stderr.
export TF_CPP_MIN_LOG_LEVEL ?= 3
# The tests start hundreds of interpreters; each would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-all test-kernels lint type bench conformance docs clean
.DELETE_ON_ERROR:

demo: $(CORE)  ## three NumPy scripts on every backend, one table
	$(PY) docs/demo.py

test: $(CORE)  ## the test suite
	$(PY) -m pytest $(PYTEST_ARGS)

test-all: $(DOCS_INSTALLED) $(CORE)  ## the long tests too, those of the built documentation, and every row of every table, with another seed each time (hours)
	$(PY) -m pytest $(PYTEST_ARGS) --all

# By these OpenBLAS, MKL, oneDNN and ATen choose what they compute by, as on other processors. PyTorch's compiler keeps code by its cache's
# folder, whatever ATen's choice was.
test-kernels: $(CORE)  ## the test suite with other processors' kernels, once for each choice (half an hour)
	@status=0; for choice in \
		"OPENBLAS_CORETYPE=Haswell MKL_CBWR=COMPATIBLE DNNL_MAX_CPU_ISA=SSE41 ATEN_CPU_CAPABILITY=default" \
		"OPENBLAS_CORETYPE=SkylakeX MKL_CBWR=AVX2 DNNL_MAX_CPU_ISA=AVX2" \
		"OPENBLAS_CORETYPE=Zen MKL_CBWR=AVX"; do \
		echo "$$choice"; cache=$$(mktemp -d); \
		env $$choice TORCHINDUCTOR_CACHE_DIR="$$cache" $(PY) -m pytest $(PYTEST_ARGS) || status=$$?; \
		rm -rf "$$cache"; \
	done; exit $$status

lint: $(INSTALLED)  ## style
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

type: $(INSTALLED)  ## static types
	$(PY) -m mypy

bench: $(BENCH_INSTALLED) $(CORE)  ## overhead of one call, as a ratio to the native call
	$(PY) tests/benchmarks/overhead.py

conformance: $(CORE)  ## NumPy's own and the array-API tests on a backend, as in: make conformance BACKEND=jax
	@status=0; for suite in array-api numpy; do \
		$(PY) -m conformance $$suite --backend $(BACKEND) --keep --html conformance/results/$$suite-$(BACKEND).html \
			$(CONFORMANCE_ARGS) || status=$$?; \
	done; exit $$status

docs: $(DOCS_INSTALLED) $(CORE)  ## the documentation as HTML, warnings as errors
	$(PY) -m sphinx -W --keep-going -q -b html docs docs/_build/html

clean:  ## everything that these targets made
	rm -rf $(VENV) docs/_build .mypy_cache .pytest_cache .ruff_cache .hypothesis
	rm -rf build
	find arraydispatch -name '*.so' -delete
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamp is written last: an installation that failed is done again.
$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "arraydispatch needs Python 3.11 or newer; name one: make PYTHON=python3.12 ...")'
	rm -f $(INSTALLED) $(DOCS_INSTALLED) $(BENCH_INSTALLED)
	$(PYTHON) -m venv $(VENV)
	$(PIP) '$(TORCH)'
	$(PIP) -e '.[all,dev]'
	touch $@

$(DOCS_INSTALLED): $(INSTALLED)
	$(PIP) -e '.[docs]'
	touch $@

$(BENCH_INSTALLED): $(INSTALLED)
	$(PIP) -e '.[bench]'
	touch $@

# Without a C compiler the package runs as it is: that is said, and no failure.
$(CORE): $(INSTALLED) $(CORE_SOURCES)
	-$(PY) hatch_build.py
	touch $@
