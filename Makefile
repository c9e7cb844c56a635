# varve's only Makefile. Not recursive; dependencies come from the compiler; objects live in build/VARIANT.
# VARIANT: release (default), debug, asan, soak, faults (an agent whose system calls fail on demand). Tests and tools of one variant never mix with those of another.

VERSION := 0.1.0
VARIANT ?= release
BUILD ?= build/$(VARIANT)
PREFIX ?= /usr/local
DESTDIR ?=
CXX ?= g++
CC ?= gcc
CLANGXX ?= clang++
CLANG_FORMAT ?= clang-format
# Seconds for each fuzz target of `make fuzz`: ten of them, ten minutes each.
FUZZ_SECONDS ?= 600

bindir = $(DESTDIR)$(PREFIX)/bin
libdir = $(DESTDIR)$(PREFIX)/lib/varve
includedir = $(DESTDIR)$(PREFIX)/include
mandir = $(DESTDIR)$(PREFIX)/share/man

# --- flags -----------------------------------------------------------------------------------------------------
OPT_release := -O2 -g1
OPT_debug := -O0 -g
# The vptr check asks through a pipe whether memory is there, and takes a pipe that tests refuse for memory that is not.
SANITIZED := -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize=vptr -fno-sanitize-recover=undefined
OPT_asan := -O0 $(SANITIZED)
OPT_soak := -O1 $(SANITIZED)
OPT_faults := $(OPT_release)
WARNINGS := -Wall -Wextra -Wshadow -Wpedantic -Wnon-virtual-dtor -Wundef -Werror
COMMON_FLAGS := -std=c++20 -I. $(WARNINGS) -MMD -MP -DVARVE_VERSION='"$(VERSION)"' -DVARVE_LIBDIR='"$(PREFIX)/lib/varve"'
VIEWER_FLAGS = $(COMMON_FLAGS) $(OPT_$(VARIANT))
# Sanitized code takes clang half of g++'s time; g++ does where clang or its runtime is missing.
VIEWER_CXX := $(CXX)
ifneq ($(filter asan soak,$(VARIANT)),)
VIEWER_CXX := $(if $(wildcard $(shell $(CLANGXX) -print-file-name=libclang_rt.asan-$(shell uname -m).a 2>/dev/null)),$(CLANGXX),$(CXX))
endif
# The C++ demangler that can be stopped is in libstdc++'s archive only, not in the shared library: that one object is linked.
VIEWER_LIBS := -lstdc++ -Wl,-u,__gcclibcxx_demangle_callback -l:libstdc++.a -lfmt -lre2 -ldw -lelf -llzma -lxxhash -ldeflate -ldl -lpthread -lboost_stacktrace_backtrace -lncursesw -ltinfo

# The agent is the same in every variant but faults: a sanitizer's runtime has no place in a stranger's process.
# Intel's processors since Skylake keep no decoded jump that crosses 32 bytes: it doubled the cost of a mutex pair.
WHOLE_JUMPS := $(if $(findstring clang,$(CXX)),,-Wa,)-mbranches-within-32B-boundaries
# No mark for shadow stacks, which are then off where it is loaded: a handler that is entered by a jump returns past them.
AGENT_FLAGS := $(COMMON_FLAGS) -fcf-protection=none -O2 -g -fPIC -fvisibility=hidden -fvisibility-inlines-hidden -fno-exceptions -fno-rtti \
  -fno-threadsafe-statics -fdata-sections -ftls-model=initial-exec -fno-stack-protector -fno-plt $(WHOLE_JUMPS)
ifeq ($(VARIANT),faults)
AGENT_FLAGS += -DVARVE_FAULTS
endif
AGENT_LINK := -shared -static-libgcc -static-libstdc++ -Wl,-z,now -Wl,-z,relro -Wl,-z,nodelete -Wl,-z,defs \
  -Wl,--sort-section=alignment -Wl,--exclude-libs,ALL -Wl,--no-undefined -Wl,-soname,libvarve.so

# --- sources ---------------------------------------------------------------------------------------------------
COMMON_SRC := $(wildcard common/*.cc)
SIGNAL_SRC := $(wildcard agent/signal/*.cc)
AGENT_SRC := $(wildcard agent/*.cc) $(SIGNAL_SRC) $(if $(filter faults,$(VARIANT)),$(wildcard test/faults/*.cc))
VIEWER_SRC := $(wildcard viewer/*.cc viewer/*/*.cc viewer/*/*/*.cc)
UNIT_SRC := $(wildcard test/unit/*.cc)
BENCH_SRC := $(wildcard test/bench/*.cc)
MICRO_SRC := $(wildcard test/micro/*_micro.cc)
FUZZ_SRC := $(wildcard test/fuzz/fuzz_*.cc)
PROGRAM_SRC := $(filter-out test/programs/demo.cc,$(wildcard test/programs/*.c test/programs/*.cc))
FORMATTED := $(wildcard agent/*.cc agent/*.h agent/*/*.cc agent/*/*.h common/*.cc common/*.h viewer/*.cc viewer/*.h \
  viewer/*/*.cc viewer/*/*.h viewer/*/*/*.cc viewer/*/*/*.h test/*/*.cc test/*/*.h)

obj = $(patsubst %.cc,$(BUILD)/$(1)/%.o,$(2))
AGENT_OBJ := $(call obj,agent-obj,$(AGENT_SRC) $(COMMON_SRC))

# The headers of libraries that most files use, compiled once. Files include what they need all the same; `make fuzz` builds them
# without this, and one by one.
PRECOMPILED := $(BUILD)/obj/viewer/precompiled.h
# Code that is not optimized keeps the test framework's inline functions, which replays have no use for.
TEST_PRECOMPILED := $(if $(filter release faults,$(VARIANT)),$(BUILD)/obj/test/unit/precompiled.h,$(PRECOMPILED))

# Most of the time of a small file goes into its headers, so those of a folder are compiled BATCH at a time: the viewer is built in
# half the time, its tests in a third. So names are unique in a folder, those of anonymous namespaces too
# (test/structure/45_unique_names.sh).
# $(call batched,SET,FILES): the objects of a set of files, each named after its first and last file and their number, and so
# another where these are others. Sorted, because wildcards come in the order of the locale.
BATCH := 16
define batch_rule
$(1): $(2) Makefile | $(PRECOMPILED).gch
	@mkdir -p $$(@D)
	printf '#include "%s"\n' $(2) | $$(COMPILE) -x c++ - -MF $$(@:.o=.d) -MT $$@ -o $$@
endef
batch_name = $(1)/$(basename $(firstword $(2)))-$(basename $(notdir $(lastword $(2))))-$(words $(2)).o
batch = $(call batch_name,$(1),$(2))$(eval $(call batch_rule,$(call batch_name,$(1),$(2)),$(2)))
behind_batch = $(wordlist $(words x $(wordlist 1,$(BATCH),$(1))),$(words $(1)),$(1))
split = $(if $(2),$(call batch,$(1),$(wordlist 1,$(BATCH),$(2))) $(call split,$(1),$(call behind_batch,$(2))))
of_folder = $(sort $(foreach file,$(2),$(if $(filter $(1),$(dir $(file))),$(file))))
batched = $(foreach folder,$(sort $(dir $(2))),$(call split,$(BUILD)/batch/$(1),$(call of_folder,$(folder),$(2))))

VIEWER_LIB_OBJ := $(call batched,viewer,$(filter-out viewer/main.cc,$(VIEWER_SRC)) $(COMMON_SRC))
VIEWER_OBJ := $(BUILD)/obj/viewer/main.o $(VIEWER_LIB_OBJ)
# The unwinder and the writers are tested as ordinary functions, so they are built once more with the variant's flags.
TESTED_SIGNAL_OBJ := $(call batched,signal,$(SIGNAL_SRC))
UNIT_OBJ := $(call batched,unit,$(UNIT_SRC)) $(TESTED_SIGNAL_OBJ)
PROGRAMS := $(patsubst test/programs/%.c,$(BUILD)/programs/%,$(patsubst test/programs/%.cc,$(BUILD)/programs/%,$(PROGRAM_SRC)))
BENCHES := $(patsubst test/bench/%.cc,$(BUILD)/bench/%,$(BENCH_SRC)) $(BUILD)/bench/empty_ticks.so
MICROS := $(patsubst test/micro/%.cc,$(BUILD)/micro/%,$(MICRO_SRC)) $(BUILD)/micro/calls_micro
PAGES := $(patsubst man/%.in,$(BUILD)/man/%,$(wildcard man/*.in)) $(patsubst man/%,$(BUILD)/man/%,$(filter-out %.in,$(wildcard man/*.[157])))

# Who types a target and no -j has all processors build all the same.
jobs = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))
SUBMAKE = $(MAKE) --no-print-directory $(jobs)

.DEFAULT_GOAL := all
.PHONY: all demo check test unit programs replays asan stress fuzz bench bench-micro accuracy accept format install uninstall dist clean deps \
  deps-check deps-bench
.DELETE_ON_ERROR:

# The agent, and the same for --waits off, without the hooks that are there for waits alone.
AGENTS := $(BUILD)/libvarve.so $(BUILD)/no-waits/libvarve.so

all: $(BUILD)/varve $(AGENTS) $(BUILD)/varve-demo $(PAGES)

$(BUILD)/agent-obj/%.o: %.cc Makefile
	@mkdir -p $(@D)
	$(CXX) $(AGENT_FLAGS) -c $< -o $@

# gcc forgets that precompiled headers are of the system and warns of its own std::string.
PRECOMPILED_FLAGS = -include $(PRECOMPILED) -Winvalid-pch -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread \
  -Wno-unknown-warning-option
$(addsuffix .gch,$(sort $(PRECOMPILED) $(TEST_PRECOMPILED))): $(BUILD)/obj/%.gch: % viewer/precompiled.h Makefile
	@mkdir -p $(@D)
	cp $< $(@:.gch=)
	$(VIEWER_CXX) $(VIEWER_FLAGS) -x c++-header $(@:.gch=) -MF $@.d -MT $@ -o $@

COMPILE = $(VIEWER_CXX) $(VIEWER_FLAGS) $(PRECOMPILED_FLAGS) -c
$(BUILD)/obj/%.o: %.cc Makefile | $(PRECOMPILED).gch
	@mkdir -p $(@D)
	$(COMPILE) $< -o $@
# Tests run once: to optimize them much takes longer than they do.
$(BUILD)/obj/test/unit/% $(BUILD)/batch/unit/%: private OPT_release := -Og -g1
$(BUILD)/batch/unit/%: private PRECOMPILED := $(TEST_PRECOMPILED)
$(filter $(BUILD)/batch/unit/%,$(UNIT_OBJ)): | $(TEST_PRECOMPILED).gch

$(BUILD)/no-waits/libvarve.so: private WITHOUT := waits
$(AGENTS): $(AGENT_OBJ) agent/exports.list agent/version_script.awk
	@mkdir -p $(@D)
	awk -v without=$(WITHOUT) -f agent/version_script.awk agent/exports.list > $@.map
	$(CXX) $(AGENT_LINK) -Wl,--version-script=$@.map $(AGENT_OBJ) -o $@

$(BUILD)/varve: $(VIEWER_OBJ)
	$(VIEWER_CXX) $(OPT_$(VARIANT)) $(VIEWER_OBJ) -o $@ $(VIEWER_LIBS)

$(BUILD)/unit-tests: $(UNIT_OBJ) $(VIEWER_LIB_OBJ)
	$(VIEWER_CXX) $(OPT_$(VARIANT)) $^ -o $@ -lcriterion -lunwind -lunwind-x86_64 $(VIEWER_LIBS)

$(BUILD)/varve-demo: test/programs/demo.cc Makefile
	@mkdir -p $(@D)
	$(CXX) -std=c++20 -O2 -g $< -o $@ -lpthread

# Man pages: the options come from the command's own table, so that --help and the page cannot disagree.
$(BUILD)/man/varve.1: man/varve.1.in $(BUILD)/varve
	@mkdir -p $(@D)
	$(BUILD)/varve help --man $< > $@
$(BUILD)/man/varve-%.1: man/varve-%.1.in $(BUILD)/varve
	@mkdir -p $(@D)
	$(BUILD)/varve help --man $< $* > $@
# The agent's hooks are those of its list of exports.
$(BUILD)/man/varve-safety.7: man/varve-safety.7.in agent/exports.list
	@mkdir -p $(@D)
	grep -oE '[[:alnum:]_]+;' agent/exports.list | tr -d ';' | grep -v '^varve_' | LC_ALL=C sort | \
	  sed 's/.*/.Fn & ,/; $$s/ ,$$/ ./' > $@.hooks
	sed -e '/^@HOOKS@$$/{r $@.hooks' -e 'd}' $< > $@
	rm $@.hooks
$(BUILD)/man/%: man/%
	@mkdir -p $(@D)
	cp $< $@

# --- tests -----------------------------------------------------------------------------------------------------
# Extra flags of one test program stand in its first lines: "// flags: -O0 -fno-omit-frame-pointer".
program_flags = $(shell sed -n 's,^// flags: ,,p' $(1))
$(BUILD)/programs/%: test/programs/%.cc
	@mkdir -p $(@D)
	$(CXX) -std=c++20 -I. -O2 -g -MMD -MP -MF $@.d $< -o $@ -lpthread -ldl $(call program_flags,$<)
$(BUILD)/programs/%: test/programs/%.c
	@mkdir -p $(@D)
	$(CC) -O2 -g -MMD -MP -MF $@.d $< -o $@ -lpthread -ldl $(call program_flags,$<)
programs: $(PROGRAMS)

unit: $(BUILD)/unit-tests
	$(BUILD)/unit-tests

# A header by itself, or a source: test/stress/75_headers_alone asks for them.
$(BUILD)/alone/%: %
	@mkdir -p $(@D)
	printf '#include "%s"\n' $< | $(CXX) -std=c++20 -I. -DVARVE_VERSION='"0"' -DVARVE_LIBDIR='""' -fsyntax-only -MMD -MP -MF $@.d -MT $@ -x c++ -
	@touch $@

# What fuzzing has found stays found: each fuzz target once more as a plain program, under ASan and UBSan, that runs its
# corpus. `make check` wants these from the asan variant, and of that only what reads and shows profiles.
NOT_REPLAYED := $(addprefix viewer/,cmd_% command.cc crash_report.cc main.cc open_profile.cc view_session.cc record/%)
REPLAY_SRC := $(filter-out $(NOT_REPLAYED),$(VIEWER_SRC)) viewer/record/chunk_writer.cc viewer/record/shell_words.cc $(COMMON_SRC)
# From an archive each takes what it needs: to link all of it takes longer than to compile a file.
REPLAY_LIB := $(BUILD)/replay/objects.a
$(REPLAY_LIB): $(call batched,replay,$(REPLAY_SRC))
	@mkdir -p $(@D)
	rm -f $@
	$(AR) rcsT $@ $^
$(BUILD)/replay/%: test/fuzz/fuzz_%.cc $(REPLAY_LIB)
	@mkdir -p $(@D)
	$(VIEWER_CXX) $(VIEWER_FLAGS) -DREPLAY -MF $@.d $(filter %.cc %.o,$^) $(REPLAY_LIB) -o $@ $(VIEWER_LIBS)
# One presses keys on profiles that the unit tests make.
SCREEN_TESTS := $(patsubst %,test/unit/%.cc,screen_driver random_keys odd_profiles forged_events example_profile random_profile profile_builder observer_builder)
$(BUILD)/replay/screens: $(call batched,screens,$(SCREEN_TESTS))
replays: $(patsubst test/fuzz/fuzz_%.cc,$(BUILD)/replay/%,$(FUZZ_SRC))

# Builds what the tests run, then runs all of them, or those that T names (see test). The corpus wants the sanitizers' build.
CHECKED := all programs $(BUILD)/unit-tests
check: deps-check
	+$(SUBMAKE) test

# The same without looking for packages. One kind or one test: make test T=unit, T=structure, T=e2e, T=13_terminal.
test: $(CHECKED)
	+$(SUBMAKE) VARIANT=faults BUILD=build/faults build/faults/libvarve.so
ifneq ($(if $(T),$(filter e2e,$(T))$(foreach word,$(T),$(findstring $(word),60_fuzz_corpus)),all),)
	+$(SUBMAKE) VARIANT=asan BUILD=build/asan replays
endif
	BUILD=$(BUILD) CXX="$(CXX)" test/run.sh $(T)

# All but the timing of other people's programs, with varve's own code under AddressSanitizer and UBSan.
asan:
	+$(SUBMAKE) VARIANT=asan all programs replays build/asan/unit-tests
	+$(SUBMAKE) VARIANT=faults BUILD=build/faults build/faults/libvarve.so
	BUILD=build/asan ASAN_OPTIONS=detect_leaks=0 test/run.sh unit e2e

stress: all programs
	+$(SUBMAKE) VARIANT=faults BUILD=build/faults build/faults/libvarve.so
	+$(SUBMAKE) VARIANT=soak BUILD=build/soak build/soak/replay/screens
	BUILD=$(BUILD) TEST_LIMIT=1800 test/run.sh stress

# libFuzzer wants clang; its flags go over the viewer's sources once more, into a folder of their own.
FUZZ_BUILD := build/fuzz
FUZZ_FLAGS := -std=c++20 -I. -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -MMD -MP \
  -DVARVE_VERSION='"$(VERSION)"' -DVARVE_LIBDIR='"$(PREFIX)/lib/varve"'
FUZZ_LIB_OBJ := $(patsubst %.cc,$(FUZZ_BUILD)/obj/%.o,$(filter-out viewer/main.cc,$(VIEWER_SRC)) $(COMMON_SRC))
$(FUZZ_BUILD)/obj/%.o: %.cc Makefile
	@mkdir -p $(@D)
	$(CLANGXX) $(FUZZ_FLAGS) -c $< -o $@
$(FUZZ_BUILD)/%: $(FUZZ_BUILD)/obj/test/fuzz/%.o $(FUZZ_LIB_OBJ)
	$(CLANGXX) -fsanitize=fuzzer,address,undefined $^ -o $@ $(VIEWER_LIBS)
$(FUZZ_BUILD)/fuzz_screens: $(patsubst %.cc,$(FUZZ_BUILD)/obj/%.o,$(SCREEN_TESTS))
fuzz: $(patsubst test/fuzz/%.cc,$(FUZZ_BUILD)/%,$(FUZZ_SRC))
	FUZZ_SECONDS=$(FUZZ_SECONDS) test/fuzz/run.sh $^

$(BUILD)/bench/%: $(BUILD)/obj/test/bench/%.o $(TESTED_SIGNAL_OBJ) $(VIEWER_LIB_OBJ)
	@mkdir -p $(@D)
	$(VIEWER_CXX) $(OPT_$(VARIANT)) $^ -o $@ $(VIEWER_LIBS)
$(BUILD)/micro/%: $(BUILD)/obj/test/micro/%.o $(TESTED_SIGNAL_OBJ) $(VIEWER_LIB_OBJ)
	@mkdir -p $(@D)
	$(VIEWER_CXX) $(OPT_$(VARIANT)) $^ -o $@ $(VIEWER_LIBS)
$(BUILD)/micro/calls_micro: test/micro/calls_micro.c test/programs/work.h
	@mkdir -p $(@D)
	$(CC) -O2 -g -I. $< -o $@ -lpthread
$(BUILD)/bench/empty_ticks.so: test/bench/empty_ticks.c
	@mkdir -p $(@D)
	$(CC) -O2 -Wall -Wextra -shared -fPIC $< -o $@
# varve beside other profilers; the tables are test/bench/RESULTS.md. RUNS, WHAT, PROGRAMS, TOOLS, RATES and NEW: test/bench/run.sh.
bench: deps-bench
	+$(SUBMAKE) all programs $(BENCHES)
	BUILD=$(BUILD) test/bench/run.sh
# What profilers say of programs that know the truth; the table is test/accuracy/RESULTS.md. LENGTH: a multiple of the usual length.
accuracy: deps-bench
	+$(SUBMAKE) all $(BUILD)/accuracy/truth
	BUILD=$(BUILD) test/accuracy/run.sh
$(BUILD)/accuracy/truth: test/accuracy/truth.c test/programs/work.h
	@mkdir -p $(@D)
	$(CC) -O2 -g -fno-omit-frame-pointer -I. $< -o $@ -lpthread
bench-micro: all $(MICROS) $(BUILD)/bench/generate_profile
	BUILD=$(BUILD) test/micro/run.sh

# Kept although only a chain of rules asks for them.
.SECONDARY: $(patsubst %.cc,$(FUZZ_BUILD)/obj/%.o,$(FUZZ_SRC)) $(call obj,obj,$(BENCH_SRC) $(MICRO_SRC))

# --- the rest ----------------------------------------------------------------------------------------------------
# Debian packages: says what it installs. NO_DEPS=1 skips it.
deps:
	NO_DEPS=$(NO_DEPS) test/deps.sh build
deps-check:
	NO_DEPS=$(NO_DEPS) test/deps.sh build check
# A peer that cannot be installed is said to be absent.
deps-bench: deps
	NO_DEPS=$(NO_DEPS) test/deps.sh bench || true

demo: deps
	+$(SUBMAKE) all
	BUILD=$(BUILD) test/demo.sh

# Writes the golden texts anew, to be looked at before they are committed.
accept: $(BUILD)/unit-tests
	BUILD=$(BUILD) test/golden/accept.sh

format:
	$(CLANG_FORMAT) -i $(FORMATTED)

install: all
	install -d $(bindir) $(libdir)/no-waits $(includedir) $(mandir)/man1 $(mandir)/man5 $(mandir)/man7
	install -m 755 $(BUILD)/varve $(bindir)/varve
	install -m 755 $(BUILD)/libvarve.so $(libdir)/libvarve.so
	install -m 755 $(BUILD)/no-waits/libvarve.so $(libdir)/no-waits/libvarve.so
	install -m 644 agent/varve.h $(includedir)/varve.h
	for page in $(filter %.1,$(PAGES)); do install -m 644 $$page $(mandir)/man1/ || exit 1; done
	for page in $(filter %.5,$(PAGES)); do install -m 644 $$page $(mandir)/man5/ || exit 1; done
	for page in $(filter %.7,$(PAGES)); do install -m 644 $$page $(mandir)/man7/ || exit 1; done

uninstall:
	rm -f $(bindir)/varve $(libdir)/libvarve.so $(libdir)/no-waits/libvarve.so $(includedir)/varve.h
	rm -f $(addprefix $(mandir)/man1/,$(notdir $(filter %.1,$(PAGES)))) $(addprefix $(mandir)/man5/,$(notdir $(filter %.5,$(PAGES)))) \
	  $(addprefix $(mandir)/man7/,$(notdir $(filter %.7,$(PAGES))))
	rmdir --ignore-fail-on-non-empty $(libdir)/no-waits $(libdir) 2>/dev/null || true

# What git has, as one archive.
dist:
	@mkdir -p build
	git archive --format=tar.gz --prefix=varve-$(VERSION)/ -o build/varve-$(VERSION).tar.gz HEAD
	@echo build/varve-$(VERSION).tar.gz

clean:
	rm -rf build

-include $(shell find $(BUILD) $(FUZZ_BUILD) -name '*.d' 2>/dev/null)
