# The two commands to know: `make demo` and `make test`.
.PHONY: demo test lint rust-test examples doc bench reproduce reproduce-quick deny clean

CARGO ?= cargo

## Builds the program and runs the whole pipeline on data that is inside it.
demo:
	$(CARGO) run --release --quiet --package consilience-cli -- demo

## Everything that continuous integration checks.
test: lint rust-test examples doc

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --quiet -- -D warnings

rust-test:
	$(CARGO) test --workspace

## Every example is a short program a user would write; each must run.
examples:
	@for example in crates/consilience/examples/*.rs; do \
	    name=$$(basename $$example .rs); \
	    echo "example $$name"; \
	    $(CARGO) run --quiet --package consilience --example $$name > /dev/null || exit 1; \
	done

## The library's documentation, with warnings as errors.
doc:
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --quiet

## Ratios against straightforward versions.
bench:
	$(CARGO) bench --workspace

## The papers' experiments, all of them (hours); DATA is the folder with their data sets.
DATA ?= data
reproduce:
	$(CARGO) run --release --quiet --package consilience-cli -- reproduce --data $(DATA) -o reproduced

## A part of them, in minutes.
reproduce-quick:
	$(CARGO) run --release --quiet --package consilience-cli -- reproduce 000-t02 000-t03 001-f1 002-t1 003-f \
	    --data $(DATA) --runs 5 -o reproduced-quick

## Licences and sources of all dependencies (needs cargo-deny).
deny:
	$(CARGO) deny check

clean:
	$(CARGO) clean
