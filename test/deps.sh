#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs the Debian packages that are missing, saying which: test/deps.sh build [check] [bench].
# Works on Debian and Ubuntu; elsewhere it names them and goes on. NO_DEPS=1: does nothing. Tests start a redis-server of their own;
# that of the package, a service where there is systemd, is not asked for anything.
set -eu
[ -z "${NO_DEPS:-}" ] || exit 0

build="g++ make binutils libfmt-dev libcli11-dev libexpected-dev libre2-dev nlohmann-json3-dev libdw-dev libelf-dev
  libdebuginfod-dev libncurses-dev liblzma-dev libdeflate-dev libxxhash-dev libcapstone-dev
  libboost-stacktrace-dev"
check="libcriterion-dev libunwind-dev clang-format musl-tools libc6-i386 libcap2-bin bsdutils python3 git xz-utils sqlite3
  mandoc bsdextrautils procps tmux ncurses-bin ncurses-base gdb strace libjemalloc2 redis-server redis-tools valgrind
  openssl nodejs default-jdk-headless"
# What make bench compares varve with, and the programs that it runs under them; gprofng is in binutils.
bench="linux-perf google-perftools libgoogle-perftools4 libc6-dbg python3 gcc xz-utils sqlite3 redis-server redis-tools nodejs"

wanted=
for group in "$@"; do
  case $group in
    build) wanted="$wanted $build" ;;
    check) wanted="$wanted $check" ;;
    bench) wanted="$wanted $bench" ;;
    *) echo "$0: no such group: $group" >&2; exit 2 ;;
  esac
done

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "varve: this is no Debian; the build needs what these packages have:" $wanted >&2
  exit 0
fi

missing=
for package in $wanted; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || { echo "varve: as root, run: apt-get install$missing" >&2; exit 1; }
  as_root=sudo
fi
echo "varve: installing Debian packages:$missing"
# Fresh machines are often busy updating themselves, so the lock is waited for.
apt() { $as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 "$@"; }
install() { apt install -y --no-install-recommends $missing; }
# A list that is too old, or none at all, is the usual reason for a first failure.
install || { apt update && install; }
