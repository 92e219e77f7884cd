# `make` alone lists the targets.
.DEFAULT_GOAL := help
SHELL := /bin/sh

# The race detector is on; RACE= turns it off where there is no C compiler.
RACE ?= -race
PACKAGES ?= ./...
BENCH ?= .
FUZZTIME ?= 20s
RUNS ?= 200
SEED ?= 1

.PHONY: help build demo test test-versions lint bench fuzz faults conformance clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build bin/pghaul, static, and links to it by the names of the stock programs
	@mkdir -p bin
	CGO_ENABLED=0 go build -trimpath -o bin/pghaul ./cmd/pghaul
	@for name in pg_dump pg_restore pg_dumpall; do ln -sf pghaul bin/$$name; done

demo: build ## dump, drill and spoil a small database, on a server started and removed for it
	@scripts/demo.sh

test: ## run all tests on every PostgreSQL version found (PGHAUL_PG_BINDIRS, PGHAUL_TEST_SERVERS); installs what it needs
	@scripts/setup.sh server $(if $(RACE),race)
	go test $(RACE) -timeout 20m $(PACKAGES)

test-versions: ## compare the text of dumps of servers 10, 12, 14 and 16, whose programs npm fetches (VERSIONS=...)
	@scripts/test-versions.sh $(VERSIONS)

lint: ## gofmt, go vet and staticcheck
	@scripts/lint.sh

bench: ## run the benchmarks (BENCH=regexp, PACKAGES=./...)
	@scripts/setup.sh server
	go test -run '^$$' -bench '$(BENCH)' -benchmem $(PACKAGES)

fuzz: ## fuzz every decoder for a while (FUZZTIME=20s)
	@scripts/fuzz.sh $(FUZZTIME)

faults: ## kill and break backups, restores and drills, their servers and stores, at random (RUNS=200, SEED=1: the first of their seeds)
	@scripts/setup.sh server s3
	PGHAUL_FAULT_RUNS=$(RUNS) PGHAUL_FAULT_SEED=$(SEED) go test -run '^TestFaults$$' -count=1 -v -timeout 6h ./e2e

conformance: build ## run PostgreSQL's own tests of pg_dump and pg_restore (CONFORMANCE=folder with the programs tap and regress)
	@test -n "$(CONFORMANCE)" || { echo "name the folder of the harness: make conformance CONFORMANCE=..." >&2; exit 2; }
	$(CONFORMANCE)/tap $(CURDIR)/bin
	$(CONFORMANCE)/regress $(CURDIR)/bin

clean: ## remove what was built
	rm -rf bin
