#!/bin/bash
# SPDX-License-Identifier: MIT
# structure/40 for every header, and every unit test.
ALL=yes exec bash "$(dirname "$0")/../structure/40_headers_alone.sh"
