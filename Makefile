# varve's only Makefile. Not recursive; dependencies come from the compiler; objects live in build/VARIANT.
# VARIANT: release (default), debug, asan. Tests and tools of one variant never mix with those of another.

VERSION := 0.1.0
VARIANT ?= release
BUILD ?= build/$(VARIANT)
PREFIX ?= /usr/local
DESTDIR ?=
CXX ?= g++
CLANGXX ?= clang++
CLANG_FORMAT ?= clang-format

bindir = $(DESTDIR)$(PREFIX)/bin
libdir = $(DESTDIR)$(PREFIX)/lib/varve
mandir = $(DESTDIR)$(PREFIX)/share/man

# --- flags -----------------------------------------------------------------------------------------------------
OPT_release := -O2 -g
OPT_debug := -O0 -g
OPT_asan := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
WARNINGS := -Wall -Wextra -Wshadow -Wpedantic -Wnon-virtual-dtor -Wundef -Werror
COMMON_FLAGS := -std=c++20 -I. $(WARNINGS) -MMD -MP -DVARVE_VERSION='"$(VERSION)"' -DVARVE_LIBDIR='"$(PREFIX)/lib/varve"'
VIEWER_FLAGS = $(COMMON_FLAGS) $(OPT_$(VARIANT))
# Third-party headers are system headers: their warnings are not ours.
VIEWER_LIBS := -lfmt -lre2 -ldw -lelf -llzma -lxxhash -lz -ldl -lpthread

# The agent is the same in every variant: a sanitizer's runtime has no place in a stranger's process.
AGENT_FLAGS := $(COMMON_FLAGS) -O2 -g -fPIC -fvisibility=hidden -fvisibility-inlines-hidden -fno-exceptions -fno-rtti \
  -fno-threadsafe-statics -ftls-model=initial-exec -fno-stack-protector -fno-plt -mgeneral-regs-only-off
AGENT_FLAGS := $(filter-out -mgeneral-regs-only-off,$(AGENT_FLAGS))
AGENT_LINK := -shared -nostartfiles -static-libgcc -static-libstdc++ -Wl,-z,now -Wl,-z,relro -Wl,-z,nodelete -Wl,-z,defs \
  -Wl,--exclude-libs,ALL -Wl,--no-undefined -Wl,-soname,libvarve.so -Wl,--version-script=agent/exports.map
AGENT_LINK := $(filter-out -nostartfiles,$(AGENT_LINK))

# --- sources ---------------------------------------------------------------------------------------------------
COMMON_SRC := $(wildcard common/*.cc)
SIGNAL_SRC := $(wildcard agent/signal/*.cc)
AGENT_SRC := $(wildcard agent/*.cc) $(SIGNAL_SRC)
VIEWER_SRC := $(wildcard viewer/*.cc viewer/*/*.cc)
UNIT_SRC := $(wildcard test/unit/*.cc)
PROGRAM_SRC := $(wildcard test/programs/*.c test/programs/*.cc)

obj = $(patsubst %.cc,$(BUILD)/$(1)/%.o,$(2))
AGENT_OBJ := $(call obj,agent-obj,$(AGENT_SRC) $(COMMON_SRC))
SIGNAL_OBJ := $(call obj,agent-obj,$(SIGNAL_SRC))
VIEWER_OBJ := $(call obj,obj,$(VIEWER_SRC) $(COMMON_SRC))
VIEWER_LIB_OBJ := $(filter-out $(BUILD)/obj/viewer/main.o,$(VIEWER_OBJ))
UNIT_OBJ := $(call obj,obj,$(UNIT_SRC)) $(call obj,obj,$(SIGNAL_SRC))
PROGRAMS := $(patsubst test/programs/%.c,$(BUILD)/programs/%,$(patsubst test/programs/%.cc,$(BUILD)/programs/%,$(PROGRAM_SRC)))

.PHONY: all demo check unit e2e asan stress fuzz bench format install uninstall dist clean deps
.DELETE_ON_ERROR:
.SECONDARY:

all: $(BUILD)/varve $(BUILD)/libvarve.so $(BUILD)/varve-demo

$(BUILD)/agent-obj/%.o: %.cc Makefile
	@mkdir -p $(@D)
	$(CXX) $(AGENT_FLAGS) -c $< -o $@

$(BUILD)/obj/%.o: %.cc Makefile
	@mkdir -p $(@D)
	$(CXX) $(VIEWER_FLAGS) -c $< -o $@

$(BUILD)/libvarve.so: $(AGENT_OBJ) agent/exports.map
	$(CXX) $(AGENT_LINK) $(AGENT_OBJ) -o $@

$(BUILD)/varve: $(VIEWER_OBJ)
	$(CXX) $(OPT_$(VARIANT)) $(VIEWER_OBJ) -o $@ $(VIEWER_LIBS)

$(BUILD)/unit-tests: $(UNIT_OBJ) $(VIEWER_LIB_OBJ)
	$(CXX) $(OPT_$(VARIANT)) $^ -o $@ -lcriterion -lunwind -lunwind-x86_64 $(VIEWER_LIBS)

# Extra flags of one test program stand in its first lines: "// flags: -O0 -fno-omit-frame-pointer".
program_flags = $(shell sed -n 's,^// flags: ,,p' $(1))
$(BUILD)/programs/%: test/programs/%.cc
	@mkdir -p $(@D)
	$(CXX) -std=c++20 -O2 -g $< -o $@ -lpthread -ldl $(call program_flags,$<)
$(BUILD)/programs/%: test/programs/%.c
	@mkdir -p $(@D)
	gcc -O2 -g $< -o $@ -lpthread -ldl $(call program_flags,$<)

clean:
	rm -rf build

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
