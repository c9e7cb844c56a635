#!/bin/bash
# SPDX-License-Identifier: MIT
# The man pages are good mdoc, name every option of their command, and nothing in them is left to be replaced.
. "$(dirname "$0")/common.inc"
export LC_ALL=C

command -v mandoc >/dev/null || fail "mandoc is not installed"
lint() {
  # Pages that are not installed cannot be referred to, and nobody runs makewhatis for a test.
  mandoc -T lint "$1" 2>&1 | grep -vE 'referenced manual not found|outdated mandoc.db'
}
pages=0
for template in man/*.in man/*.5; do
  name=$(basename "$template" .in)
  command=${name#varve-}
  command=${command%.*}
  page=$work/$name
  case $template in
    *.5) cp "$template" "$page" ;;
    *.7.in) cp "$BUILD/man/$name" "$page" || fail "$template was not built" ;;
    man/varve.1.in) "$BUILD/varve" help --man "$template" >"$page" || fail "$template" ;;
    *) "$BUILD/varve" help --man "$template" "$command" >"$page" || fail "$template" ;;
  esac
  complaints=$(lint "$page")
  [ -z "$complaints" ] || fail "$complaints"
  ! grep -n '@[A-Z]*@' "$page" || fail "$name has a mark that was not replaced"
  pages=$((pages + 1))
  case $name in varve-*.1) ;; *) continue ;; esac
  mandoc -T ascii "$page" | col -b >"$work/text"
  options=$("$BUILD/varve" "$command" --help | grep -oE -- '^ +(-[a-z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+')
  [ -n "$options" ] || fail "varve $command --help names no option"
  for option in $options; do
    grep -qF -- "$option" "$work/text" || fail "$name does not mention $option"
  done
done
[ $pages -ge 5 ] || fail "only $pages pages"

# The page of what the agent does names every function that it interposes; the header's own are no hooks.
for hook in $(grep -oE '[[:alnum:]_]+;' agent/exports.list | tr -d ';' | grep -v '^varve_'); do
  grep -qE "^\.Fn $hook [,.]$" "$work/varve-safety.7" || fail "varve-safety.7 does not name $hook"
done
