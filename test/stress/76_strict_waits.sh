#!/bin/bash
# SPDX-License-Identifier: MIT
# Fifty calls that wait, 300 times each, so that some thousand timers expire on the way into them.
# alone
STRICT_TIMES=300 exec bash "$(dirname "$0")/../e2e/52_strict_waits.sh"
