#!/bin/bash
# SPDX-License-Identifier: MIT
# Maps of just-in-time compilers are kept in the profile: of the run's own processes and user, also from another /tmp.
. "$(dirname "$0")/common.inc"

record -q -o p bash -c 'echo "1000 10 jitted" >/tmp/perf-$$.map; echo $$ >pid'
pid=$(cat pid)
expect_eq "the copy" "$(cat p/*-"$pid".perfmap)" "1000 10 jitted"
expect_eq "its mode" "$(stat -c %a p/*.perfmap)" 600
rm -f "/tmp/perf-$pid.map"

# Not a link, not an old file, not another user's.
record -q -o link bash -c 'ln -s /etc/passwd /tmp/perf-$$.map; echo $$ >pid'
rm -f "/tmp/perf-$(cat pid).map"
record -q -o old bash -c 'echo "1000 10 old" >/tmp/perf-$$.map; touch -d yesterday /tmp/perf-$$.map; echo $$ >pid'
rm -f "/tmp/perf-$(cat pid).map"
if [ "$(id -u)" = 0 ]; then
  record -q -o foreign bash -c 'echo "1000 10 foreign" >/tmp/perf-$$.map; chown 65534 /tmp/perf-$$.map; echo $$ >pid'
  rm -f "/tmp/perf-$(cat pid).map"
else
  echo "SKIPPED: a map of another user; this needs root"
fi
[ -z "$(ls link/*.perfmap old/*.perfmap foreign/*.perfmap 2>/dev/null)" ] || fail "took a map that is not to be trusted"

# A mount namespace with a /tmp of its own, and a pid namespace: both are gone when the run is over.
unshare --user --map-root-user --mount --pid --fork true 2>/dev/null || { echo "SKIPPED: namespaces of its own; not allowed here"; exit 0; }
unshare --user --map-root-user --mount --pid --fork mount -t tmpfs none /tmp 2>err || { echo "SKIPPED: a /tmp of its own: $(cat err)"; exit 0; }
cat >inside <<'S'
#!/bin/bash
mount -t tmpfs none /tmp || exit 1
exec bash -c 'echo "2000 20 contained" >/tmp/perf-$$.map; sleep 0.3; :'
S
chmod +x inside
# Neither profile nor varve may lie in the /tmp that the namespace hides.
outside=$(mktemp -d /var/tmp/varve-perf-map.XXXXXX)
trap 'rm -rf "$outside"; leave' EXIT
cp inside "$VARVE" "$BUILD/libvarve.so" "$outside"
run "$outside/varve" record -q -o "$outside/c" unshare --user --map-root-user --mount --pid --fork "$outside/inside"
expect_eq "exit code of a command in namespaces" $code 0
expect_eq "the copy from the namespace" "$(cat "$outside"/c/*.perfmap)" "2000 20 contained"
