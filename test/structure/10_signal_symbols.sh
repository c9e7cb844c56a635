#!/bin/bash
# SPDX-License-Identifier: MIT
# The handler may call nothing but what agent/signal/ALLOWED names: no lock, no allocation, no guard of a static.
. "$(dirname "$0")/common.inc"

objects=("$BUILD"/agent-obj/agent/signal/*.o "$BUILD"/agent-obj/common/*.o)
[ -f "${objects[0]}" ] || fail "the agent is not built"
ld -r -o "$work/signal.o" "${objects[@]}" || fail "the objects do not link"
nm -u "$work/signal.o" | awk '{print $2}' | sort -u >"$work/used"
sed 's/#.*//; s/[[:space:]]*$//; /^$/d' agent/signal/ALLOWED | sort -u >"$work/allowed"
comm -23 "$work/used" "$work/allowed" >"$work/forbidden"
[ ! -s "$work/forbidden" ] || fail "the handler uses what ALLOWED does not have: $(tr '\n' ' ' <"$work/forbidden")"
awk '!/^#/ && NF && !/#/ {print $1}' agent/signal/ALLOWED >"$work/unexplained"
[ ! -s "$work/unexplained" ] || fail "allowed without a reason: $(tr '\n' ' ' <"$work/unexplained")"
[ -s "$work/allowed" ] && [ -s "$work/used" ] || fail "nothing was compared"

# The check itself must notice a lock.
cat >"$work/lock.cc" <<'C'
#include <mutex>
std::mutex lock;
void f() { std::lock_guard guard(lock); }
C
${CXX:-g++} -std=c++20 -O2 -fPIC -c "$work/lock.cc" -o "$work/lock.o"
nm -u "$work/lock.o" | awk '{print $2}' | sort -u | comm -23 - "$work/allowed" | grep -q mutex || fail "a mutex would not be noticed"
