# For hands that type make: everything is in out/build.ninja, by tools/build.py.
# Each target first installs what it needs and is missing (.ci/deps).
TIME ?= 60
# Nothing, or the end: said before anything is built.
seconds = $(if $(shell echo '$(TIME)' | grep -x '[0-9]*'),,$(error \
    TIME is a whole number of seconds, not '$(TIME)'))
# Other names of build.ninja in place of the whole: make check PART=out/gcc/check
PART =
.PHONY: all prof explore record run check long test pictures audit-live mutants coverage fuzz cluster bench \
    bench-peers bench-programs bench-gate check-peers check-pages check-programs check-hangs check-hangs-peers \
    install uninstall fresh clean
# BUILD_ONLY=1: install what a target needs, build its programs, and run none.
built = $(if $(BUILD_ONLY),$$(.ci/programs $(1)),$(1))
run = $(if $(BUILD_ONLY),: not run:)
all: ; @.ci/deps build && tools/ninja
# One product, with its own packages only.
prof explore record: ; @.ci/deps $@ && tools/ninja $@
run: all
	@$(run) echo "100,000 random worlds, then recordings of real programs:"
	$(run) out/profsim check --seeds 1..100000
	$(run) out/profsim check fixtures/recordings/*.rec
# Two more at a time than processors: some tests wait.
check long:
	@.ci/deps build test
	@tools/ninja -k 0 -j $$(($$(nproc) + 2)) $(call built,$(or $(PART),$@)); status=$$?; \
	    $(run) .ci/count $(or $(PART),$@) && exit $$status
# One test, by its name: make test T=test_prof
test: ; @.ci/deps build test && .ci/test '$(T)'
pictures: all
	@.ci/deps pages
	@for page in failure run campaign; do docs/pictures/pages.sh out/profsim $$page docs/pictures/$$page.png; done
# What editors and clang tools read.
compile_commands.json:
	@.ci/deps build test && tools/ninja -t compdb cc | python3 -c "import json, sys; \
	    json.dump([e for e in json.load(sys.stdin) if \
	    e['output'].startswith('out/gcc/')], sys.stdout, indent=1)" > $@
check-peers: ; @.ci/deps build test peers && tools/ninja $(call built,$@)
check-hangs: ; @.ci/deps build test && tools/ninja $(call built,$@)
check-hangs-peers: ; @.ci/deps build test hangs-peers && tools/ninja $(call built,$@)
check-pages: ; @.ci/deps build test pages && tools/ninja $(call built,$@)
check-programs: ; @.ci/deps build test programs && tools/ninja $(call built,$@)
fuzz:
	@$(seconds).ci/deps build test
	@tools/ninja $(or $(PART),fuzz) $(if $(CORPUS),out/profsim)
	@$(run) props/fuzz/fuzz.sh $(TIME) $(if $(CORPUS),--corpus '$(CORPUS)')
# Patches that must be caught; MUTATE=FOLDER samples changes of one operator.
mutants:
	@.ci/deps build test mutants
	@$(if $(BUILD_ONLY),tools/ninja out/clang/profsim,tools/mutants.py $(if $(MUTATE),sample $(MUTATE),patches))
coverage:
	@.ci/deps build test coverage
	@$(if $(BUILD_ONLY),tools/ninja $(call built,$(or $(PART),out/cov/check)),props/coverage/measure.sh)
# Campaigns in shards, by the schedulers that can be installed here.
cluster: ; @.ci/deps build test $@ && tools/ninja $(call built,$@)
bench: ; @.ci/deps build && tools/ninja $(call built,bench-run)
bench-programs: ; @.ci/deps build test $@ && tools/ninja $(call built,$@)
audit-live: ; @.ci/deps build test $@ && tools/ninja $(call built,$@)
# Without some of its packages it builds the others; those that were missing the
# last time left empty files.
bench-peers:
	@.ci/deps build
	@.ci/deps bench-peers || true
	@[ ! -d out/bench/peers ] || find out/bench/peers -type f -empty -delete
	@[ -d out/bench/boost/usr ] || rm -f out/bench/boost/done
	@tools/ninja $@
bench-gate: ; @.ci/deps build gate && tools/ninja $(call built,$@)
# Builds nothing: run make first, then this, as root if PREFIX needs it.
export PREFIX DESTDIR LIBDIR
install:
	@tools/ninja -n | grep -q 'no work to do' || { \
	    echo "make install: out/ is not up to date; run make first" >&2; \
	    exit 1; }
	@install/install.sh install
uninstall: ; @install/install.sh uninstall
# Every target on a machine that has nothing: in a new Debian root.
fresh: ; @.ci/deps fresh && .ci/fresh $(PART:%=--%)
clean: ; rm -rf out
