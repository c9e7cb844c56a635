#!/bin/bash
# SPDX-License-Identifier: MIT
# Scripts: the program that will run is the interpreter, found as the kernel and env find it.
. "$(dirname "$0")/common.inc"

script() { printf '%b' "$2" >"$1" && chmod +x "$1"; }
runs() {
  check "./$1"
  expect_eq "exit code of varve check $1" $code 0
  expect_match out "$2"
  record -q -o "p-$1" "./$1"
  expect_eq "exit code of $1" $code 7
}
script plain '#!/bin/sh\nexit 7\n'
runs plain 'plain is a script for /bin/sh'
script spaced '#! \t/bin/bash   -e  \nexit 7\n'
runs spaced '/bin/bash'
script through-env '#!/usr/bin/env bash\nexit 7\n'
runs through-env '/usr/bin/env, then .*/bash'
script split-env '#!/usr/bin/env -S A=1 bash -e\nexit 7\n'
runs split-env '/usr/bin/env, then .*/bash'
script bare 'exit 7\n'
runs bare 'script for /bin/sh'
script chained "#!$work/plain\n"
runs chained 'plain, then /bin/sh'
expect_eq "agent files of env and bash" "$(ls p-through-env/*.agent | wc -l)" 2

refused() {
  check "./$1"
  expect_eq "exit code of varve check $1" $code 1
  expect_match out "$2"
  record "./$1"
  expect_eq "exit code of varve record $1" $code 126
}
script no-interpreter '#!/no/such/interpreter\n'
refused no-interpreter "interpreter of './no-interpreter' cannot be run"
script no-name '#!/usr/bin/env no-such-program\n'
refused no-name 'not found in PATH'
script dos '#!/bin/sh\r\nexit 0\r\n'
refused dos 'CR LF'
script endless "#!$work/endless\n"
refused endless 'script of a script'
gcc -static -x c - -o static <<<'int main(void) { return 0; }'
script static-interpreter "#!$work/static\n"
refused static-interpreter 'statically linked'

# A name is looked up as a shell does it.
mkdir bin && script bin/tool '#!/bin/sh\nexit 7\n'
PATH=$work/bin:$PATH record -q -o tool tool
expect_eq "exit code of a script in PATH" $code 7
chmod -x bin/tool
PATH=$work/bin:$PATH record tool
expect_eq "exit code of a file in PATH that is not executable" $code 126
