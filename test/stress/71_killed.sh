#!/bin/bash
# SPDX-License-Identifier: MIT
# 100 kills at random moments.
# alone
RUNS=100 exec bash "$(dirname "$0")/../e2e/53_killed.sh"
