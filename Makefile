# The front door: thin recipes over Meson, Ninja and the scripts in tools/. `make help` lists them.

BUILD := build
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 3600
EXPLORE_STATES ?= 100000000
MUTANTS ?= 150
SEEDS ?= 1..100000
SOAK := soak-run
KILLS ?= 250
QUICKSTART := scenarios/quickstart.yaml
RESULTS := run-quickstart

export JOBS

.PHONY: all setup run test bench bench-peers fuzz explore mutants soak faults ranks \
    ranks-test slurm-test install clean help
.DEFAULT_GOAL := all

all: $(BUILD)/xoff

# Ninja knows what is up to date; on a terminal it also shows how far it is. Its target `command` is
# xoff and, with MPI, the module for ranks.
.PHONY: $(BUILD)/xoff
$(BUILD)/xoff: $(BUILD)/build.ninja
	@if [ -t 1 ]; then ninja -C $(BUILD) -j $(JOBS) command; \
	else ninja -C $(BUILD) -j $(JOBS) --quiet command; fi

$(BUILD)/build.ninja: | setup
	@echo "configuring $(BUILD)/ (release)"
	@mkdir -p $(BUILD)
	@meson setup $(BUILD) --buildtype=release --prefix=$(PREFIX) >$(BUILD)/setup.log 2>&1 || \
	    { cat $(BUILD)/setup.log; exit 1; }

setup:
	@tools/setup run

run: all
	@$(BUILD)/xoff run $(QUICKSTART) -o $(RESULTS)
	@echo "the scenario is $(QUICKSTART); open $(RESULTS)/report.html in a browser"

test:
	@tools/setup test
	@tools/test-matrix

bench: ranks
	@$(BUILD)/xoff bench -o $(BUILD)/bench.json
	@bench/instructions --json $(BUILD)/bench.json $(BUILD)/xoff
	@bench/scaling $(BUILD)/bench.json
	@echo "figures as JSON: $(BUILD)/bench.json"

# The command with all that `make bench` measures and `make ranks-test` tests.
ranks:
	@tools/ranks $(BUILD)
	@$(MAKE) --no-print-directory all

bench-peers: all
	@tools/setup peers
	@bench/peers/run

fuzz:
	@tools/setup test
	@tools/fuzz $(FUZZ_SECONDS)

# Its tables have some GB and are read at random, so it asks for large pages.
explore: $(BUILD)/build.ninja
	@tools/setup test
	@ninja -C $(BUILD) -j $(JOBS) --quiet explore_test
	@GLIBC_TUNABLES=glibc.malloc.hugetlb=1 XOFF_STATES=$(EXPLORE_STATES) $(BUILD)/explore_test

mutants: $(BUILD)/build.ninja
	@tools/setup test
	@tools/mutants --count $(MUTANTS) --jobs $(JOBS)

# One seed in twenty is also run by clang's program.
soak: $(BUILD)/build.ninja
	@tools/setup test
	@test -f build-clang/build.ninja || CC=clang meson setup build-clang --buildtype=release >/dev/null
	@ninja -C $(BUILD) -j $(JOBS) --quiet soak
	@ninja -C build-clang -j $(JOBS) --quiet soak
	@$(BUILD)/soak --seeds $(SEEDS) --jobs $(JOBS) --second build-clang/soak --folder $(SOAK)

faults: $(BUILD)/build.ninja
	@tools/setup test
	@ninja -C $(BUILD) -j $(JOBS) --quiet xoff libfault.so
	@XOFF_FAULTS=all XOFF_KILLS=$(KILLS) \
	    tests/fault/fault_test.py $(BUILD)/xoff $(BUILD)/libfault.so

ranks-test: ranks
	@tools/setup test
	@tests/scenario/ranks_test.py $(BUILD)/xoff --all

install: all
	@meson configure $(BUILD) -Dprefix=$(PREFIX)
	@DESTDIR="$(DESTDIR)" meson install -C $(BUILD)

slurm-test: all
	@tools/setup slurm
	@tests/slurm/slurm_test.py $(BUILD)/xoff

clean:
	@rm -rf build build-* run-* sweep-* soak-run reproduce web/dist

help:
	@echo "make              build $(BUILD)/xoff"
	@echo "make run          build, run $(QUICKSTART), say where the results are"
	@echo "make test         the whole test matrix (tools/test-matrix STEP for a part of it)"
	@echo "make bench        speed, instructions, memory: printed and in $(BUILD)/bench.json"
	@echo "make bench-peers  the same traffic on ns-3 and here"
	@echo "make fuzz         libFuzzer, FUZZ_SECONDS=$(FUZZ_SECONDS) per target"
	@echo "make explore      small worlds of flow control, EXPLORE_STATES=$(EXPLORE_STATES) of each"
	@echo "make mutants      changes that a test must notice, MUTANTS=$(MUTANTS) of each layer"
	@echo "make soak         random networks, SEEDS=$(SEEDS); goes on with what $(SOAK)/ has"
	@echo "make faults       every allocation and file call fails once; KILLS=$(KILLS) kills of each"
	@echo "make ranks-test   every scenario over 1 to 4 ranks (mpirun), compared with one process"
	@echo "make install      library, headers, command, man page, completion (PREFIX, DESTDIR)"
	@echo "make slurm-test   examples/slurm with Debian's Slurm on this machine, as root"
	@echo "make clean        remove builds, run-* and sweep-* folders and reproduce/"
	@echo
	@echo "JOBS=$(JOBS) processes. What is missing is installed from Debian's packages first."
