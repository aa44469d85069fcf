# A thin façade: every recipe is one line, the work is in scripts/. Variables: make bench-all SUITE=smoke VARIANTS=jpa,rabbitmq-jpa
# Works from anywhere: make -C <checkout> <target>.
.DEFAULT_GOAL := help
SHELL := /bin/bash
ROOT := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
WRITEPATH := "$(ROOT)/scripts/wp"

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' "$(ROOT)/Makefile"

.PHONY: doctor
doctor: ## what this machine has, and what is missing
	@$(WRITEPATH) doctor

.PHONY: setup
setup: ## fetch and build everything a run needs [RUNTIME=auto|native|docker]
	@$(WRITEPATH) setup

.PHONY: test
test: ## every check: lint, Java, Python [RUNTIME=auto|native|docker]
	@"$(ROOT)/scripts/test.sh"

.PHONY: contract-test
contract-test: ## the HTTP contract on every variant [RUNTIME=auto|native|docker VARIANTS=a,b]
	@"$(ROOT)/scripts/contract-test.sh"

.PHONY: java-test
java-test: ## the services' own tests on real stores [RUNTIME=auto|native|docker]
	@"$(ROOT)/scripts/java-test.sh"

.PHONY: with-services
with-services: ## run a command beside real stores: CMD='mvn -f services/pom.xml verify'
	@$(WRITEPATH) with-services -- $(CMD)

.PHONY: lint
lint: ## format, types, house rules
	@"$(ROOT)/scripts/lint.sh"

.PHONY: fmt
fmt: ## rewrite Java and Python in the house format
	@"$(ROOT)/scripts/fmt.sh"

.PHONY: bench-all
bench-all: ## run a suite [SUITE=default VARIANTS=a,b REPS=n SEED=n RUNTIME=auto DATASET=path RESUME=1 RERUNS=n INSTANCES=n SLO_MS=n HOLD_SECONDS=n DOCS=n ROUNDS=n ...]
	@$(WRITEPATH) bench-all

.PHONY: bench
bench: ## run one variant: VARIANT=jpa [SUITE=default REPS=n ...]
	@$(WRITEPATH) bench

.PHONY: bench-faults
bench-faults: ## kill, freeze, cut and fill under load, then count what was lost [FAULT=a,b|kill-each|help VARIANTS=a,b TRIALS=n JOBS=n SEED=n RUNTIME=auto RESUME=1]
	@$(WRITEPATH) bench-faults

.PHONY: up
up: ## start one variant and stay until Ctrl-C: VARIANT=jpa [RUNTIME=auto INSTANCES=n ...]
	@$(WRITEPATH) up

.PHONY: down
down: ## end a running `up` and whatever a killed command left behind
	@$(WRITEPATH) down

.PHONY: audit
audit: ## make the audit of a run or a suite run again from its raw files [RUN=results/latest]
	@$(WRITEPATH) audit

.PHONY: bench-harness
bench-harness: ## measure the harness itself: speed, memory, truth [ONLY=audit,report]
	@$(WRITEPATH) bench-harness

.PHONY: report
report: ## tables and plots of a suite run [RUN=results/latest]
	@$(WRITEPATH) report

.PHONY: publish
publish: ## publish a finished suite run [RUN=results/latest ADD=1]
	@$(WRITEPATH) publish

.PHONY: verify
verify: ## derive every published number again from its raw data, and those of a raw run [RUN=results/latest]
	@$(WRITEPATH) verify

.PHONY: compare
compare: ## suite runs side by side: A=results/... B=results/... [C= ... F=, or RUNS=a,b,c; LABELS=x,y]
	@$(WRITEPATH) compare

.PHONY: clean
clean: ## stop what was started, remove the cache folder; results/ is kept
	@if [ -d "$(ROOT)/.writepath" ]; then $(WRITEPATH) clean; fi
