# Thin: each target sets up what it needs (tools/setup.sh) and calls the presets of CMakePresets.json.
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.PHONY: help build demo test bench install format clean

help: ## list the targets
	@grep -E '^[a-z]+:.*## ' Makefile | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/' | expand -t 18

build: ## build the library and the tool, build/release/shunt
	@tools/setup.sh build
	@cmake --preset release -DSHUNT_TESTS=OFF -DSHUNT_BENCH=OFF
	@cmake --build --preset release -j $(JOBS)

demo: build ## train on the pictures of Fashion-MNIST and print the test accuracy
	@tools/setup.sh demo
	@tools/demo.sh

test: ## check the sources, build, and run all tests (release, and with sanitizers)
	@JOBS=$(JOBS) tools/test.sh

bench: ## build and run the benchmarks
	@tools/setup.sh build
	@cmake --preset release -DSHUNT_TESTS=OFF -DSHUNT_BENCH=ON
	@cmake --build --preset release -j $(JOBS)
	@for source in $(filter-out bench/convolutions_of.cpp,$(wildcard bench/*.cpp)); do program=$$(basename $$source .cpp); echo "--- $$program"; build/release/bench/$$program || exit 1; done
	@echo "--- shunt bench conv"; build/release/shunt bench conv
	@echo "--- shunt bench offload"; if build/release/shunt devices --doctor >/dev/null; then build/release/shunt bench offload; \
		else echo "No card works here; build/release/shunt devices --doctor says why."; fi

install: build ## install to PREFIX (/usr/local), below DESTDIR if given
	@DESTDIR="$(DESTDIR)" cmake --install build/release --prefix "$(PREFIX)"

format: ## lay out all C++ files as .clang-format says
	@tools/setup.sh test
	@git ls-files -co --exclude-standard '*.cpp' '*.hpp' | xargs clang-format-14 -i

clean: ## delete everything that was built
	@rm -rf build
