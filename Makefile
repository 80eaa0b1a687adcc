# The commands of README.md and .ci/run. CMake does the work (CMakePresets.json holds the configurations); this file only
# names what people do most, and sets the machine up first.

PREFIX ?= /usr/local
PYTHON ?= python3
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 5
INSTALLED = omniphi omniphi_api omniphi_manual
SOURCES = find src include tests bench examples -name '*.cc' -o -name '*.h'

.DEFAULT_GOAL := build
.PHONY: help setup setup-dev configure build test demo numbers check format sanitize fuzz check-install install bench reference clean

help: ## show this list
	@awk -F '[:#]+' '/^[a-z-]+:.*## / {printf "  make %-14s%s\n", $$1, $$NF}' Makefile

setup: ## install the packages that building and testing need (apt; as root)
	@tools/setup.sh build

setup-dev: ## install the tools of `make check` and `make sanitize` too
	@tools/setup.sh build dev

configure: setup
	@cmake --preset release

build: configure ## set up and build build/omniphi (the default)
	@cmake --build --preset release --target omniphi -j $(JOBS)

test: configure ## build everything and run every test
	@cmake --build --preset release -j $(JOBS)
	@ctest --test-dir build --no-tests=error --output-on-failure -j $(JOBS)

demo: build ## ask the shipped model about shipped media
	@build/omniphi demo

numbers: build ## compare stages with the reference's on the tiny checkpoint, and plan a prompt
	@tools/show_numbers.sh build/omniphi

check: setup-dev ## formatting, layers, the tree's own rules, clang-tidy
	@tools/check_format.sh
	@$(PYTHON) tools/check_layers.py
	@$(PYTHON) tools/check_tree.py
	@cmake --preset release > build-configure.log || { cat build-configure.log; exit 1; }
	@rm -f build-configure.log
	@tools/check_tidy.sh build $(JOBS)

format: setup-dev ## rewrite the sources as .clang-format says
	@$(SOURCES) | xargs clang-format-14 -i

sanitize: setup-dev ## unit tests under AddressSanitizer and UndefinedBehaviorSanitizer, then the fuzz targets
	@tools/run_sanitized.sh $(JOBS)
	@tools/run_fuzzers.sh build-asan $(FUZZ_SECONDS) $(JOBS)

fuzz: setup-dev ## run each fuzz target for FUZZ_SECONDS (default 5)
	@cmake --preset asan
	@cmake --build --preset asan --target fuzzers -j $(JOBS)
	@tools/run_fuzzers.sh build-asan $(FUZZ_SECONDS) $(JOBS)

check-install: configure ## install into a scratch folder and build examples/cpp against it
	@cmake --build --preset release --target $(INSTALLED) -j $(JOBS)
	@tools/check_install.sh build

install: configure ## install under PREFIX (default /usr/local), honouring DESTDIR
	@cmake --build --preset release --target $(INSTALLED) -j $(JOBS)
	@cmake --install build --prefix $(PREFIX)

bench: ## build and run the benchmarks (developers only, never in CI)
	@tools/setup.sh build bench
	@tools/run_bench.sh $(JOBS)

reference: ## a Python environment in .venv with the reference libraries (developers only, never in CI)
	@tools/setup.sh reference
	@tools/make_reference_env.sh

clean: ## remove every build folder
	rm -rf build build-*
