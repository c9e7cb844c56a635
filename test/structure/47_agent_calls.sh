#!/bin/bash
# SPDX-License-Identifier: MIT
# What the agent asks of the kernel by its own calls is what filters of system calls are tried with (common/agent_calls.h): one that is
# not in there ends a program whose filter knows it no better. Left out is what only a start asks, which such a filter ends anyway, and
# the end of the process.
. "$(dirname "$0")/common.inc"

made=$(grep -rhoE 'raw_syscall\(\s*__NR_[a-z0-9_]+' agent | grep -oE '__NR_.*' | sort -u)
[ "$(wc -l <<<"$made")" -ge 30 ] || fail "only these calls were found: $made"
for call in $made; do
  case $call in
    __NR_getcwd | __NR_lseek | __NR_exit_group) continue ;;
  esac
  grep -qw "$call" common/agent_calls.h || fail "$call is not in common/agent_calls.h"
done
