#!/bin/bash
# SPDX-License-Identifier: MIT
# Fifty calls that wait, 100 times each, so that some hundred timers expire on the way into them.
# alone
STRICT_TIMES=100 exec bash "$(dirname "$0")/../e2e/52_strict_waits.sh"
