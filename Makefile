# Every recipe is one line; the work is done in scripts/. Options: make bench-all SUITE=smoke VARIANTS=jpa,rabbitmq-jpa
# `scripts/wp <target> --help` lists them. Works from anywhere: make -C <checkout> <target>.
.DEFAULT_GOAL := help
SHELL := /bin/bash
ROOT := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
WRITEPATH := "$(ROOT)/scripts/wp"

# OPTIONS: exactly the variables on make's command line, quoted for the shell; the environment is never passed.
define NEWLINE


endef
one_line = $(if $(findstring $(NEWLINE),$2),$(error $1: a value of several lines; write it on one line),$2)
quoted = '$(subst ','\'',$1)'
given = $(filter-out CMD,$(foreach name,$(.VARIABLES),$(if $(filter command,$(firstword $(origin $(name)))),$(name))))
OPTIONS = $(foreach name,$(given),$(call quoted,$(name)=$(call one_line,$(name),$(value $(name)))))

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' "$(ROOT)/Makefile"

.PHONY: doctor
doctor: ## check what this machine has and what is missing
	@$(WRITEPATH) doctor $(OPTIONS)

.PHONY: setup
setup: ## download and build everything a run needs [RUNTIME=auto|native|docker]
	@$(WRITEPATH) setup $(OPTIONS)

.PHONY: test
test: ## run all checks: linters, Java tests, Python tests [RUNTIME=auto|native|docker]
	@$(WRITEPATH) test $(OPTIONS)

.PHONY: contract-test
contract-test: ## test the HTTP contract of every variant [RUNTIME=auto|native|docker VARIANTS=a,b]
	@$(WRITEPATH) contract-test $(OPTIONS)

.PHONY: java-test
java-test: ## test the services against real stores [RUNTIME=auto|native|docker]
	@$(WRITEPATH) java-test $(OPTIONS)

.PHONY: with-services
with-services: ## run a command while real stores are up: CMD='mvn -f services/pom.xml verify' [RUNTIME=auto|native|docker]
	@$(WRITEPATH) with-services $(OPTIONS) -- $(CMD)

.PHONY: lint
lint: ## check format, types and the rules of STYLE.md
	@"$(ROOT)/scripts/lint.sh"

.PHONY: fmt
fmt: ## format Java and Python code
	@"$(ROOT)/scripts/fmt.sh"

.PHONY: bench-all
bench-all: ## run a suite, or a series of suites as SUITE=tuning [SUITE=default VARIANTS=a,b REPS=n RESUME=1 ...; all options: docs/usage.md]
	@$(WRITEPATH) bench-all $(OPTIONS)

.PHONY: bench
bench: ## run one variant of a suite: VARIANT=jpa [SUITE=default REPS=n ...; all options: docs/usage.md]
	@$(WRITEPATH) bench $(OPTIONS)

.PHONY: bench-faults
bench-faults: ## inject faults under load and count lost writes [FAULT=a,b|kill-each|help VARIANTS=a,b TRIALS=n JOBS=n RESUME=1 ...]
	@$(WRITEPATH) bench-faults $(OPTIONS)

.PHONY: pair
pair: ## measure two variants in turns, so that a drifting host changes no ratio: A=jpa B=rabbitmq-jpa [ROUNDS=n REPS=n SLO_MS=n ...]
	@$(WRITEPATH) pair $(OPTIONS)

.PHONY: settings
settings: ## list the settings that bench-all, bench, bench-faults and up take as NAME=value
	@$(WRITEPATH) settings $(OPTIONS)

.PHONY: up
up: ## start one variant and keep it running until Ctrl-C: VARIANT=jpa [RUNTIME=auto OBSERVE=1 INSTANCES=n ...]
	@$(WRITEPATH) up $(OPTIONS)

.PHONY: down
down: ## stop a running `up`; clean up after a killed command
	@$(WRITEPATH) down $(OPTIONS)

.PHONY: audit
audit: ## recompute the audit of a run or suite run from its raw files [RUN=results/latest]
	@$(WRITEPATH) audit $(OPTIONS)

.PHONY: bench-harness
bench-harness: ## self-check: speed, memory and correctness of audit, recorder, report and comparison [ONLY=audit,report]
	@$(WRITEPATH) bench-harness $(OPTIONS)

.PHONY: report
report: ## write the tables and plots of a suite run [RUN=results/latest]
	@$(WRITEPATH) report $(OPTIONS)

.PHONY: publish
publish: ## publish a finished suite run [RUN=results/latest ADD=1]
	@$(WRITEPATH) publish $(OPTIONS)

.PHONY: campaign
campaign: ## measure, publish and commit everything that is published; continues where it was stopped
	@$(WRITEPATH) campaign $(OPTIONS)

.PHONY: site
site: ## write the results site: one folder that needs no server [results/site]
	@$(WRITEPATH) site $(OPTIONS)

.PHONY: verify
verify: ## recompute every published figure from its raw data; RUN= also checks a raw run [RUN=results/latest]
	@$(WRITEPATH) verify $(OPTIONS)

.PHONY: compare
compare: ## compare suite runs: A=results/... B=results/... [C= to F=, or RUNS=a,b,c; LABELS=x,y]
	@$(WRITEPATH) compare $(OPTIONS)

.PHONY: clean
clean: ## stop what was started and delete .writepath; results/ is kept
	@if [ -d "$(ROOT)/.writepath" ]; then $(WRITEPATH) clean $(OPTIONS); fi
