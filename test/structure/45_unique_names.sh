#!/bin/bash
# SPDX-License-Identifier: MIT
# Names of anonymous namespaces are unique in a folder of the viewer, in the handler's as tests have it, and among unit tests, whose
# files are compiled several at a time: of two constants the compiler would say so, but only where they meet, and of two functions
# one may be taken for the other. No constexpr of a function has the name of another file's constant either, which clang refuses.
. "$(dirname "$0")/common.inc"

python3 - viewer common agent/signal test/unit <<'P' || fail "give one of them another name, or have one for all"
import collections, glob, os, re, sys

FUNCTION = re.compile(r"^(?!using|struct|class|enum|template|static_assert|return|[}/#\s])[^=(]*?[\s&*](\w+)\(")
TYPE = re.compile(r"^(?:struct|class|enum class|enum|union) (\w+)(?!.*;$)")
ALIAS = re.compile(r"^using (\w+) =")
RAW_STRING = re.compile(r'R"\(.*?\)"', re.DOTALL)
CONSTANT = re.compile(r"\b(k[A-Z]\w*)(?:\[[^\]]*\])*(?: =|\{)")
LOCAL = re.compile(r"^\s+constexpr .*", re.MULTILINE)


def names_of(line):
    """What a line at the left edge of an anonymous namespace declares."""
    for pattern in (TYPE, ALIAS, FUNCTION):
        if found := pattern.match(line):
            return {found[1]}
    return set(CONSTANT.findall(line)) if re.match(r"(inline |static )*(constexpr|const)\b", line) else set()


def anonymous_names(path):
    inside = False
    for line in RAW_STRING.sub("", open(path).read()).splitlines(True):
        if line.startswith("namespace {"):
            inside = True
        elif line.startswith("}  // namespace"):
            inside = False
        elif inside:
            yield from names_of(line)


places = collections.defaultdict(set)
for root in sys.argv[1:]:
    for path in glob.glob(root + "/**/*.cc", recursive=True):
        for name in anonymous_names(path):
            places[os.path.dirname(path), name].add(path)
if len(places) < 500:
    sys.exit(f"only {len(places)} names are found")
declared = set(places)
for root in sys.argv[1:]:
    for path in glob.glob(root + "/**/*.cc", recursive=True):
        for name in CONSTANT.findall("\n".join(LOCAL.findall(open(path).read()))):
            if (os.path.dirname(path), name) in declared:
                places[os.path.dirname(path), name].add(path)
twice = {key: sorted(paths) for key, paths in places.items() if len(paths) > 1}
for (_, name), paths in sorted(twice.items()):
    print(f"{name}: {' '.join(paths)}", file=sys.stderr)
sys.exit(bool(twice))
P
