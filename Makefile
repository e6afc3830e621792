# The two commands to know: `make demo` and `make test`.
.PHONY: demo test needs lint rust-test python-test harden-test platforms-test wheel r-test r-package r-tarball r-check r-docs r-peers examples doc web browser-test bench bench-kernels harden harden-ensembles harden-limits harden-endurance fuzz mutants accuracy labels site site-test site-update reproduce reproduce-quick deny dist release-check clean

CARGO ?= cargo
PYTHON ?= python3
TARGET := $(abspath $(or $(CARGO_TARGET_DIR),target))
R ?= R
# What builds the bindings to R looks at it: told here as R itself tells it, so that nothing is built twice.
export R_INCLUDE_DIR = $(shell command -v $(R) > /dev/null && $(R) CMD printenv R_INCLUDE_DIR)

# Python loads the native module, it is not linked with it: no library of Python is needed to build (maturin says the same).
export PYO3_BUILD_EXTENSION_MODULE = 1

## Builds the program and runs the whole pipeline on data that is inside it.
demo:
	@CARGO="$(CARGO)" scripts/needs demo
	$(CARGO) run --release --quiet --package consilience-cli -- demo

## Everything that continuous integration checks.
test: needs lint rust-test examples python-test r-test site-test harden-test platforms-test doc browser-test

## What the tests need besides Rust: looked for first, installed where possible, otherwise listed.
needs:
	@CARGO="$(CARGO)" PYTHON="$(PYTHON)" R="$(R)" scripts/needs

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --quiet $(if $(R_INCLUDE_DIR),--features consilience-r/r) -- -D warnings

rust-test:
	$(CARGO) test --workspace

# The Python package: a wheel of the profile that the tests above were built in, so that only the
# package itself is compiled anew; its tests in an environment that is kept as long as the list of
# what they need is the same; and a fresh environment with nothing but the wheel and numpy.
PYTHON_CRATE := crates/consilience-python
PYTHON_HOME := $(TARGET)/python
PYTHON_VENV := $(PYTHON_HOME)/venv/bin

$(PYTHON_HOME)/ready: $(PYTHON_CRATE)/requirements-test.txt
	$(PYTHON) -m venv --clear $(PYTHON_HOME)/venv
	$(PYTHON_VENV)/pip install --quiet --requirement $<
	touch $@

python-test: $(PYTHON_HOME)/ready
	$(CARGO) test --workspace --quiet --no-run --test cli
	rm -rf $(PYTHON_HOME)/dist
	$(PYTHON_VENV)/maturin build --quiet --manifest-path $(PYTHON_CRATE)/Cargo.toml --profile dev \
	    --compatibility linux --out $(PYTHON_HOME)/dist
	$(PYTHON_VENV)/pip install --quiet --force-reinstall --no-deps $(PYTHON_HOME)/dist/*.whl
	$(PYTHON) -m venv --clear $(PYTHON_HOME)/bare
	$(PYTHON_HOME)/bare/bin/pip install --quiet $(PYTHON_HOME)/dist/*.whl
	$(PYTHON_HOME)/bare/bin/python $(PYTHON_CRATE)/tests/bare.py
	cd $(PYTHON_CRATE) && CONSILIENCE_PROGRAM=$(TARGET)/debug/consilience \
	    $(PYTHON_VENV)/python -m pytest tests
	cd $(PYTHON_HOME) && $(PYTHON_VENV)/python -m pytest -q --doctest-modules --pyargs consilience
	cd $(PYTHON_HOME) && $(PYTHON_VENV)/python -m mypy.stubtest consilience \
	    --allowlist $(abspath $(PYTHON_CRATE))/tests/stubtest.txt \
	    --mypy-config-file $(abspath $(PYTHON_CRATE))/pyproject.toml
	cd $(PYTHON_CRATE) && $(PYTHON_VENV)/python -m mypy python/consilience examples

## The wheel that users install: the release profile, any Linux of the last years.
wheel: $(PYTHON_HOME)/ready
	$(PYTHON_VENV)/maturin build --release --manifest-path $(PYTHON_CRATE)/Cargo.toml \
	    --out $(PYTHON_HOME)/wheels
	ls -l $(PYTHON_HOME)/wheels

# The R package, in the profile of the tests above: installed into a library of its own, its documentation
# compared with the code, its examples and tests run. Skipped where there is no R.
R_CRATE := crates/consilience-r
R_HOME_ := $(TARGET)/r
r-test:
	@if ! command -v $(R) > /dev/null; then \
	    echo "r-test: skipped, R is not on this machine (Debian: r-base-core, r-cran-testthat)"; \
	else \
	    set -ex; \
	    $(CARGO) build --workspace --quiet; \
	    rm -rf $(R_HOME_)/library $(R_HOME_)/work; \
	    mkdir -p $(R_HOME_)/library $(R_HOME_)/work; \
	    CONSILIENCE_R_PROFILE=dev CARGO_TARGET_DIR=$(TARGET) $(R) CMD INSTALL --preclean --clean \
	        --no-test-load --library=$(R_HOME_)/library $(R_CRATE)/package; \
	    cd $(R_HOME_)/work; \
	    NOT_CRAN=true R_LIBS=$(R_HOME_)/library CONSILIENCE_PROGRAM=$(TARGET)/debug/consilience \
	        $(R) --vanilla --no-echo -f $(abspath $(R_CRATE))/check.R --args $(abspath $(R_CRATE))/package; \
	fi

## The R package, built for this machine and installed into R's library.
r-package:
	mkdir -p $(R_HOME_)/built
	cd $(R_HOME_)/built && CARGO_TARGET_DIR=$(TARGET) $(R) CMD INSTALL --preclean --clean --strip --build \
	    $(abspath $(R_CRATE))/package
	ls -l $(R_HOME_)/built

## The source package of R, with all that it is built from inside: no network is needed to install it.
r-tarball:
	scripts/r-tarball $(R_HOME_)/stage
	# Its vignette is run with the library that the tests are run with.
	$(CARGO) build --workspace --lib --features consilience-r/r
	cd $(R_HOME_) && CONSILIENCE_R_LIBRARY=$(TARGET)/debug/libconsilience_r.a $(R) CMD build stage/consilience
	ls -l $(R_HOME_)/consilience_*.tar.gz

## What CRAN checks, on the source package; everything in it is compiled anew.
r-check: r-tarball
	cd $(R_HOME_) && $(R) CMD check --as-cran consilience_*.tar.gz

## The help pages and NAMESPACE from the comments in the R sources (needs roxygen2).
r-docs:
	cd $(R_CRATE)/package && $(R) --vanilla --no-echo -f ../docs.R

## Ours beside the R packages that are installed: time and agreement, in one run.
r-peers:
	$(R) --vanilla --no-echo -f benches/r_peers.R

## Every example is a short program a user would write; each must run.
examples:
	$(CARGO) build --workspace --examples --quiet
	@for example in crates/consilience/examples/*.rs; do \
	    name=$$(basename $$example .rs); \
	    echo "example $$name"; \
	    $(TARGET)/debug/examples/$$name > /dev/null || exit 1; \
	done

## The library's documentation, with warnings as errors.
doc:
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --quiet

## The page that computes: one HTML file, offline, nothing to install (needs Python 3 besides Rust).
# Registers of 128 bits, which all browsers have, and a stack like that of other programs.
WASM := wasm32-unknown-unknown
web: export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS = -C target-feature=+simd128 -C link-arg=-zstack-size=8388608
web:
	@CARGO="$(CARGO)" scripts/needs web
	$(CARGO) rustc --quiet --package consilience-wasm --lib --crate-type cdylib --profile web --target $(WASM)
	scripts/web-page $(TARGET)/$(WASM)/web/consilience_wasm.wasm $(TARGET)/web/consilience.html

## The report page and the page that computes in a real browser (needs Node.js and Chromium). The latter is skipped
## where the standard library of Rust for it cannot be had.
browser-test:
	$(CARGO) test --workspace --quiet --no-run --test cli
	@rm -f $(TARGET)/web/consilience.html
	@if CARGO="$(CARGO)" scripts/needs web; then \
	    $(MAKE) --no-print-directory web; \
	else \
	    echo "browser-test: the page that computes is skipped"; \
	fi
	cd tests/browser && npm ci --no-audit --no-fund --loglevel=error
	cd tests/browser && CHROMIUM="$$(../../scripts/needs browser)" CONSILIENCE="$(TARGET)/debug/consilience" \
	    WEB_PAGE="$(TARGET)/web/consilience.html" node --test $$(node --test-timeout=1 --version > /dev/null 2>&1 && echo --test-timeout=900000)

# The commands on the pages of the site are run, and must print what the pages say.
SITE_CHECK = site/build/check.py --program $(TARGET)/debug/consilience --python $(PYTHON_VENV)/python --r-library $(R_HOME_)/library
site-test: python-test r-test
	$(PYTHON_VENV)/python site/tests/test_check.py
	$(PYTHON_VENV)/python $(SITE_CHECK)

## Rewrites what the pages of the site say is printed: look at the difference before you commit it.
site-update: python-test r-test
	$(PYTHON_VENV)/python $(SITE_CHECK) --update

## The site: target/site/index.html. SITE_PROGRAM and SITE_WHEEL name a program and a wheel that are built already.
SITE_HOME := $(TARGET)/site-build
SITE_VENV := $(SITE_HOME)/venv/bin
SITE_PROGRAM ?=
SITE_WHEEL ?=
$(SITE_HOME)/ready: site/requirements.txt
	$(PYTHON) -m venv --clear $(SITE_HOME)/venv
	$(SITE_VENV)/pip install --quiet --requirement $<
	touch $@

site: $(SITE_HOME)/ready
	$(if $(SITE_PROGRAM),,$(CARGO) build --release --package consilience-cli)
	$(if $(SITE_WHEEL),,$(MAKE) wheel)
	$(SITE_VENV)/pip install --quiet --force-reinstall $(or $(SITE_WHEEL),$(PYTHON_HOME)/wheels/*.whl)
	cd site/build && $(SITE_VENV)/mypy --strict --explicit-package-bases --cache-dir $(SITE_HOME)/mypy *.py
	$(SITE_VENV)/python site/build --program $(or $(SITE_PROGRAM),$(TARGET)/release/consilience) --python $(SITE_VENV)/python \
	    --r-library $(R_HOME_)/library --target $(TARGET) --out $(TARGET)/site

## Faults at every step, damaged files, and the same question asked in several ways: docs/hardening.md. In 15
## minutes; `make test` takes 3.
HARDEN_MINUTES ?= 15
harden:
	$(CARGO) build --release --package consilience-cli
	$(MAKE) wheel
	test -d $(TARGET)/harden/venv || $(PYTHON) -m venv $(TARGET)/harden/venv
	$(TARGET)/harden/venv/bin/pip install --quiet numpy pyarrow
	$(TARGET)/harden/venv/bin/pip install --quiet --force-reinstall --no-deps $(PYTHON_HOME)/wheels/*.whl
	tests/harden/all $(TARGET)/release/consilience $(TARGET)/harden/venv/bin/python $(HARDEN_MINUTES)

## The same question asked in several ways of so many random ensembles, in one process (100,000: hours).
ENSEMBLES ?= 100000
harden-ensembles:
	CONSILIENCE_ENSEMBLES=$(ENSEMBLES) $(CARGO) test --workspace --test conformance -- --nocapture one_question_has_one_answer

## Tables at the edge of what can be held: time, memory, and how each command ended. Needs 5 GB of disk.
harden-limits:
	tests/harden/limits.py $(TARGET)/release/consilience

## 200 processes at once, 24 threads in one Python process, and 20 minutes of calls; after `make harden`, which builds what it needs.
harden-endurance:
	$(TARGET)/harden/venv/bin/python tests/harden/endurance.py $(TARGET)/release/consilience

## Coverage-guided fuzzing of all readers, arguments and methods: MINUTES=10, TARGETS="csv parquet" for some of them.
MINUTES ?= 10
TARGETS ?=
fuzz:
	CARGO="$(CARGO)" FUZZ_HOME=$(TARGET)/fuzz scripts/fuzz $(MINUTES) $(TARGETS)

harden-test: python-test
	tests/harden/all $(TARGET)/debug/consilience $(PYTHON_VENV)/python 3

## Which changes to the code the unit tests notice: ROOMS of the library, SHARE of their mutants.
ROOMS ?= metrics
SHARE ?= 1
mutants:
	$(PYTHON) tests/mutants/run.py $(ROOMS) --share $(SHARE) --target $(TARGET)/mutants

## Ours against the peers that package indexes have: time, memory, quality. BENCH=NAME... for some.
BENCH ?=
BENCH_HOME := $(TARGET)/bench
bench: wheel
	$(CARGO) build --release --package consilience-drivers
	test -d $(BENCH_HOME)/venv || $(PYTHON) -m venv $(BENCH_HOME)/venv
	$(BENCH_HOME)/venv/bin/pip install --quiet --requirement benches/peers/requirements.txt
	# The versions that it asks for are too old to stand beside the others.
	$(BENCH_HOME)/venv/bin/pip install --quiet --no-deps ensembleclustering
	$(BENCH_HOME)/venv/bin/pip install --quiet --force-reinstall --no-deps $(PYTHON_HOME)/wheels/*.whl
	KMEANS_TIME=$(TARGET)/release/kmeans_time TREES_TIME=$(TARGET)/release/trees_time \
	    $(BENCH_HOME)/venv/bin/python benches/peers/run.py $(BENCH) --output $(BENCH_HOME)/bench.json

## Ratios of our own kernels against straightforward versions and against each other.
bench-kernels:
	$(CARGO) bench --workspace

## How good the default is beside the peers, on sets with known clusters; QUICK=1 for a short one. DATA is the
## folder with the labelled sets; what it does not have is left out.
ACCURACY_HOME := $(TARGET)/accuracy
accuracy: wheel
	test -d $(ACCURACY_HOME)/venv || $(PYTHON) -m venv $(ACCURACY_HOME)/venv
	$(ACCURACY_HOME)/venv/bin/pip install --quiet --requirement benches/accuracy/requirements.txt
	$(ACCURACY_HOME)/venv/bin/pip install --quiet --force-reinstall --no-deps $(PYTHON_HOME)/wheels/*.whl
	$(ACCURACY_HOME)/venv/bin/python benches/accuracy/run.py $(if $(QUICK),--quick) --again ours --data $(DATA) \
	    --output $(ACCURACY_HOME)/accuracy.json

## All methods beside `auto` on labels alone, members of the labelled sets in DATA; METHODS="NAME ..." for some.
METHODS ?=
labels:
	$(CARGO) build --release --package consilience-cli
	test -d $(ACCURACY_HOME)/venv || $(PYTHON) -m venv $(ACCURACY_HOME)/venv
	$(ACCURACY_HOME)/venv/bin/pip install --quiet --requirement benches/accuracy/requirements.txt
	$(ACCURACY_HOME)/venv/bin/python benches/accuracy/labels.py $(METHODS) --program $(TARGET)/release/consilience \
	    --data $(DATA) --output $(ACCURACY_HOME)/labels.json

## The papers' experiments, all of them (hours); DATA is the folder with their data sets.
DATA ?= data
reproduce:
	$(CARGO) run --release --quiet --package consilience-cli -- reproduce --data $(DATA) -o reproduced

## Their rows on small data sets, in minutes.
SMALL := iris,wine,glass,ionosphere,jaffe,wbc,image_train,opt_first100,ptrain_first100,ptest_first100,synth_3rings,$\
    synth_cigar,synth_half_rings,synth_gauss2_1000_d7,synth_gauss2_200_d10
reproduce-quick:
	$(CARGO) run --release --quiet --package consilience-cli -- reproduce --data $(DATA) --sets $(SMALL) \
	    --runs 5 -o reproduced-quick

## Licences and sources of all dependencies (needs cargo-deny).
deny:
	$(CARGO) deny check

## Binaries and wheels for all platforms in target/dist/release, run where an emulator is at hand and compared with
## those for this machine, and the page that computes: docs/platforms.md. DIST="--only TARGET --no-compare --no-sdist
## --no-web" for less.
DIST ?=
dist:
	scripts/dist $(DIST)

# What the comparison of platforms does where an emulator dies.
platforms-test:
	$(PYTHON) tests/platforms/test_compare.py

## Whether the tree is ready to be released: docs/releasing.md.
release-check:
	scripts/release-check

clean:
	$(CARGO) clean
