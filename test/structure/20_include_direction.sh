#!/bin/bash
# SPDX-License-Identifier: MIT
# Who may include whom: agent -> common <- viewer; within the viewer, a layer only what lies below it.
. "$(dirname "$0")/common.inc"

# folder: prefixes of quoted includes that it may use
rules='
common: common/
agent: common/ agent/
viewer/load: common/ viewer/load/
viewer/symbol: common/ viewer/load/ viewer/symbol/
viewer/analyze: common/ viewer/load/ viewer/symbol/ viewer/analyze/
viewer/view: common/ viewer/load/ viewer/symbol/ viewer/analyze/ viewer/view/
viewer/render: common/ viewer/view/ viewer/render/
viewer/tui: common/ viewer/load/ viewer/symbol/ viewer/analyze/ viewer/view/ viewer/render/ viewer/tui/
viewer/record: common/ viewer/load/ viewer/symbol/ viewer/record/
'
bad=0
while IFS=: read -r folder allowed; do
  [ -n "$folder" ] && [ -d "$folder" ] || continue
  pattern=$(echo $allowed | sed 's/ /|/g')
  while IFS= read -r line; do
    echo "$line" >&2
    bad=1
  done < <(find "$folder" -name '*.cc' -o -name '*.h' | sort | xargs -r grep -nE '^#include "' |
    grep -vE "#include \"($pattern|tl/)")
done <<<"$rules"
# Code of the handler sees nothing of the rest of the agent.
while IFS= read -r line; do
  echo "$line" >&2
  bad=1
done < <(grep -nE '^#include "agent/' agent/signal/*.cc agent/signal/*.h | grep -v '#include "agent/signal/')
[ $bad = 0 ] || fail "includes against the direction"
[ "$(grep -rlE '^#include "' viewer common agent | wc -l)" -gt 10 ] || fail "nothing was looked at"
