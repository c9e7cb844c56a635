#!/bin/bash
# SPDX-License-Identifier: MIT
# libvarve.so as a guest: it exports the interposed functions, those of varve.h and no other name, needs only the C library, is bound before
# the first tick, has no path of its own, no mark for shadow stacks and no thread-local storage but one pointer.
. "$(dirname "$0")/common.inc"

# The library for --waits off has the hooks but those of waits, and is the same otherwise: the objects are.
names_of() { nm -D --defined-only "$1" | awk '$2 != "A" {print $3}' | sed 's/@.*//' | sort -u; }
[ -f "$BUILD/no-waits/libvarve.so" ] || fail "$BUILD/no-waits/libvarve.so is not built"
names_of "$BUILD/no-waits/libvarve.so" >"$work/few"
for name in pthread_create sigaction epoll_pwait syscall; do grep -qx $name "$work/few" || fail "without waits there is no hook of $name"; done
for name in pthread_mutex_lock read longjmp sleep; do ! grep -qx $name "$work/few" || fail "without waits there is a hook of $name"; done

library=$BUILD/libvarve.so
[ -f "$library" ] || fail "$library is not built"
names_of "$library" >"$work/exported"
grep -v '^[#[]' agent/exports.list | tr ';' '\n' | tr -d ' \t' | sed '/^$/d' | sort -u >"$work/listed"
diff "$work/listed" "$work/exported" >"$work/difference" || fail "exported names differ from agent/exports.list: $(cat "$work/difference")"

readelf -dW "$library" >"$work/dynamic"
sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' "$work/dynamic" | sort >"$work/needed"
sed 's/#.*//; s/[[:space:]]*$//; /^$/d' test/structure/NEEDED | sort >"$work/allowed"
comm -23 "$work/needed" "$work/allowed" >"$work/more"
[ ! -s "$work/more" ] || fail "the agent needs $(tr '\n' ' ' <"$work/more")"
grep -qE 'BIND_NOW|FLAGS_1.*NOW' "$work/dynamic" || fail "not bound at load (-z now)"
grep -q NODELETE "$work/dynamic" || fail "may be unloaded (-z nodelete)"
! grep -qE 'RPATH|RUNPATH' "$work/dynamic" || fail "has a search path of its own"
! readelf -nW "$library" | grep -q SHSTK || fail "is marked as fit for shadow stacks (-fcf-protection=none)"
! grep -q TEXTREL "$work/dynamic" || fail "has text relocations"
tls=$(($(readelf -lW "$library" | awk '$1 == "TLS" {print $6}'))) # hexadecimal; none: 0
[ "$tls" -le 8 ] || fail "has $tls bytes of thread-local storage, more than one pointer"
! readelf -rW "$library" | grep -qE 'TLSDESC|DTPMOD|DTPOFF' || fail "reaches thread-local storage by a call"
! readelf -lW "$library" | grep -qE 'GNU_STACK.*RWE' || fail "wants an executable stack"
