#!/bin/bash
# SPDX-License-Identifier: MIT
# 200 kills at random moments.
RUNS=200 exec bash "$(dirname "$0")/../e2e/53_killed.sh"
