#!/bin/bash
# SPDX-License-Identifier: MIT
# Stacks through what HotSpot's compilers and interpreter made are whole, although compiled code keeps no frame pointer;
# and they are right: eight methods, of which each calls the next, are so in the call tree.
. "$(dirname "$0")/agent.inc"

java=$(readlink -f "$(command -v java)")
[ -x "$java" ] || { echo "SKIPPED: java is not installed"; exit 0; }
"$java" --list-modules 2>/dev/null | grep -q '^jdk.compiler' || { echo "SKIPPED: java has no compiler module"; exit 0; }

mkdir classes
cat >classes/Chain.java <<'J'
public class Chain {
  static volatile long sink;
  static volatile int salt = 3;
  static final int[] data = new int[256];
  static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
  static long f8(long x, int n) { long s = x; for (int i = 0; i < n; i++) s = s * 31 + data[(int) (s & 255)] + i; return s; }
  static long f7(long x, int n) { long a = x ^ 7, b = x + salt; return f8(a, n) + a * b; }
  static long f6(long x, int n) { long a = x ^ 6, b = x + salt, c = a * b, d = c ^ salt; return f7(a, n) + a * b + c - d; }
  static long f5(long x, int n) { return f6(x + 1, n) + 1; }
  static long f4(long x, int n) { byte[] g = new byte[n + (int) (x & 7)]; return f5(x + g.length, n) + g[0]; }
  static long f3(long x, int n) { double d = x * 1.5, e = d / 3; return (long) (f4((long) d, n) * e); }
  static long f2(long x, int n) { return Math.max(f3(x, n), f3(x + 1, n)); }
  static long f1(long x, int n) { return f2(x, n) ^ x; }
  static void loop(long until) {
    long s = 1;
    for (int k = 0; System.nanoTime() < until; k++) s += f1(s, 200 + (k & 15)) + fib(k & 15);
    sink = s;
  }
  public static void main(String[] a) throws Exception {
    long until = System.nanoTime() + Long.parseLong(a[0]) * 1_000_000;
    Thread other = new Thread(() -> loop(until));
    other.start();
    loop(until);
    other.join();
  }
}
J
# Once, not by each run for itself.
"$java" -m jdk.compiler/com.sun.tools.javac.Main -d classes classes/Chain.java 2>compiler || fail "cannot compile: $(cat compiler)"

# whole NAME OPTIONS...: enough samples, and at least 95 of 100 stacks whole
whole() {
  local name=$1
  shift
  rm -rf $name
  record -q --interval 4ms -o $name -- "$java" "$@" -cp classes Chain ${length:-700}
  expect_eq "exit code of java $*" $code 0
  holds "samples of $name" "$(summary samples $name) >= 50"
  holds "whole stacks of $name: $(summary whole_stack_share $name)" "$(summary whole_stack_share $name) >= 0.95"
}
whole compiled -XX:-PreserveFramePointer
whole first_compiler -XX:-PreserveFramePointer -XX:TieredStopAtLevel=1
whole interpreted -Xint

# Names come from the perf map, which JDK 17 and later write at their end.
names=(-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit)
"$java" "${names[@]}" -version >/dev/null 2>&1 &
wait $!
has_maps=$?
rm -f "/tmp/perf-$!.map"
[ $has_maps = 0 ] || { echo "SKIPPED: this java writes no perf map"; exit 0; }
length=2000  # ms, against what passes before the methods are compiled
# LONG=yes has both compilers, as in stress/79.
compilers_tried=(-XX:-TieredCompilation)
[ "${LONG:-}" != yes ] || compilers_tried+=(-XX:TieredStopAtLevel=1)
for compilers in "${compilers_tried[@]}"; do
  whole named $compilers "${names[@]}" -XX:CompileCommand=quiet '-XX:CompileCommand=dontinline,Chain::f*'
  for map in named/*.perfmap; do map=${map##*-}; rm -f "/tmp/perf-${map%.perfmap}.map"; done
  for inner in 8 7 6 5 4 3 2; do
    "$VARVE" report callers --format csv "Chain.f$inner" named >callers.csv 2>callers.err || fail "callers of f$inner: $(cat callers.err)"
    share=$(python3 -c '
import csv, sys
rows = list(csv.DictReader(open("callers.csv")))
own = sum(int(r["total_ns"]) for r in rows if r["relation"] == "function")
called = sum(int(r["total_ns"]) for r in rows if r["relation"] == "caller" and sys.argv[1] in r["function"])
print(called / own if own else 0)' "Chain.f$((inner - 1))(")
    # The rest is from before the methods were compiled: the frames of the interpreter have no names.
    holds "f$inner is called by the method before it ($compilers)" "$share >= 0.9"
  done
done
