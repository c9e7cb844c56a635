#!/bin/bash
# SPDX-License-Identifier: MIT
# D-32 and the end of issue 6's list: programs of many processes and threads do the same work bare and under varve: a parallel
# make, git, tar with xz, python3's pools, node's workers, java, redis-server, two writers of one sqlite database.
# long
. "$(dirname "$0")/guest.inc"
export LC_ALL=C GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1

# trial NAME SCRIPT: SCRIPT runs in the empty folder "here", once bare and once recorded.
record_options=(--interval 2ms)
trial() {
  printf '%s\n' "cd here || exit 1" "$2" >script-$1
  same "$1" bash "script-$1"
  ledger "$1" 2 60
  holds "samples of $1" "$(summary samples "$1") >= 3"
  nothing_of_ours "$1"
}

# A project in C: the objects are the same bytes, and so is the program.
mkdir project
for ((i = 0; i < 12; ++i)); do
  printf 'int table_%d[] = {%s};\nint function_%d(int x) { for (int i = 0; i < 40; ++i) x = x * %d + table_%d[(unsigned)(x + i) %% 200]; return x; }\n' \
    $i "$(seq -s, $i $((i + 199)))" $i $((2 * i + 3)) $i >project/part$i.c
done
{
  for ((i = 0; i < 12; ++i)); do echo "int function_$i(int);"; done
  echo '#include <stdio.h>'
  echo 'int main(void) { int x = 1;'
  for ((i = 0; i < 12; ++i)); do echo "x = function_$i(x);"; done
  echo 'printf("%d\n", x); return x & 7; }'
} >project/main.c
cat >project/Makefile <<'M'
objects = $(patsubst %.c,%.o,$(sort $(wildcard *.c)))
all: program
	./program || echo its code is $$?
program: $(objects)
	@gcc -o $@ $^
%.o: %.c
	@gcc -O2 -c $< -o $@
broken: all
	@false
M
have make gcc && trial make '
cp -r ../project . && cd project
make -s -j2 || echo failed
make -s -j2 broken 2>/dev/null; echo "make says $?"
for file in *.o program; do cksum $file; done'

have git && trial git '
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
export GIT_AUTHOR_DATE="1700000000 +0000" GIT_COMMITTER_DATE="1700000000 +0000"
git init -q -b main . && cp ../project/*.c . && git add . && git commit -q -m first
for i in 1 2 3 4 5; do seq $((i * 40000)) >numbers; git add numbers; git commit -q -m "number $i"; done
git checkout -q -b side HEAD~2 && seq 7 >side && git add side && git commit -q -m side
git merge -q -m merged main && git log --oneline --graph --stat
git gc -q && git fsck --full && git count-objects && git rev-parse HEAD
git clone -q . ../here/copy && git -C copy log -1 --format=%H
git diff HEAD~1 --stat; git no-such-command 2>/dev/null; echo "git says $?"'

have tar xz && trial tar '
seq 300000 >numbers; cp ../project/*.c .
tar --sort=name --mtime=@0 --owner=0 --group=0 -cf - *.c numbers | xz -T2 -2 --block-size=256KiB >all.tar.xz
cksum <all.tar.xz; xz -dc -T2 all.tar.xz | tar -tvf - | cksum
mkdir out && tar -C out -xf all.tar.xz && cmp numbers out/numbers && ls out | wc -l
xz -t <numbers 2>/dev/null; echo "xz says $?"'

cat >pools.py <<'P'
import concurrent.futures, multiprocessing, os, queue, subprocess, sys, threading
def work(n):
    return sum(i * i % 7 for i in range(n))
def into(results, n):
    results.put((n, work(n)))
if __name__ == "__main__":
    for method in ("fork", "spawn", "forkserver"):
        context = multiprocessing.get_context(method)
        with context.Pool(2) as pool:
            print(method, pool.map(work, [20000 + i for i in range(8)]))
        results = context.Queue()
        processes = [context.Process(target=into, args=(results, 1000 * i)) for i in range(3)]
        for p in processes: p.start()
        print(sorted(results.get() for p in processes))
        for p in processes: p.join()
        print([p.exitcode for p in processes])
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        print(list(pool.map(work, range(5000, 5010))))
    print(subprocess.run(["sh", "-c", "cat; echo end >&2; exit 5"], input=b"text", capture_output=True))
    print(subprocess.run([sys.executable, "-c", "import os; print(sorted(int(f) for f in os.listdir('/proc/self/fd'))[:3])"],
                         capture_output=True, close_fds=True).stdout)
    try:
        subprocess.run(["sleep", "20"], timeout=0.2)
    except subprocess.TimeoutExpired as e:
        print(type(e))
    try:
        subprocess.run(["./no-such-program"])
    except FileNotFoundError as e:
        print(type(e))
    child = subprocess.Popen(["sleep", "20"], start_new_session=True)
    child.terminate()
    print(child.wait())
    read, write = os.pipe()
    if os.fork() == 0:
        os.write(write, b"child"); os._exit(3)
    print(os.read(read, 9), os.waitstatus_to_exitcode(os.wait()[1]))
    print(threading.active_count(), len(os.listdir("/proc/self/task")))
P
# The system's own: what stands first in PATH may be a script that finds one.
python=/usr/bin/python3
have $python && trial python "$python ../pools.py"

cat >workers.js <<'J'
const {Worker, isMainThread, workerData, parentPort} = require('worker_threads');
const {execFileSync, spawn} = require('child_process');
const crypto = require('crypto'), zlib = require('zlib');
if (!isMainThread) {
  let x = workerData;
  for (let i = 0; i < 3e6; ++i) x = (x * 1103515245 + 12345) % 2147483648;
  parentPort.postMessage(x);
} else {
  const work = n => new Promise((good, bad) => new Worker(__filename, {workerData: n}).on('message', good).on('error', bad));
  const derive = n => new Promise(good => crypto.pbkdf2('p' + n, 's', 2000, 16, 'sha256', (e, key) => good(key.toString('hex'))));
  (async () => {
    console.log(await Promise.all([1, 2, 3, 4].map(work)));
    console.log(await Promise.all([1, 2, 3, 4, 5, 6].map(derive)));
    console.log(zlib.gzipSync(Buffer.alloc(300000, 'abc')).length);
    console.log(execFileSync('sh', ['-c', 'echo child']).toString());
    spawn('sh', ['-c', 'exit 6']).on('exit', code => {
      console.log(code);
      process.exitCode = 9;
    });
  })();
}
J
have node && trial node 'node ../workers.js; echo "node says $?"'

mkdir classes
cat >Threads.java <<'J'
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.locks.*;
public class Threads {
  static long work(int n) { long x = n; for (int i = 0; i < 2000000; ++i) x = x * 6364136223846793005L + 1442695040888963407L; return x; }
  public static void main(String[] a) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(4);
    List<Future<Long>> all = new ArrayList<>();
    for (int i = 0; i < 12; ++i) { final int n = i; all.add(pool.submit(() -> work(n))); }
    for (Future<Long> f : all) System.out.println(f.get());
    pool.shutdown();
    System.out.println(pool.awaitTermination(9, TimeUnit.SECONDS));
    ReentrantLock lock = new ReentrantLock();
    long[] sum = {0};
    Thread[] threads = new Thread[6];
    for (int i = 0; i < threads.length; ++i) {
      threads[i] = new Thread(() -> { for (int k = 0; k < 20000; ++k) { lock.lock(); try { ++sum[0]; } finally { lock.unlock(); } } });
      threads[i].start();
    }
    for (Thread t : threads) t.join();
    System.out.println(sum[0]);
    Object monitor = new Object();
    synchronized (monitor) { monitor.wait(20); }
    try { deep(0); } catch (StackOverflowError e) { System.out.println("overflow"); }
    try { Object none = null; none.hashCode(); } catch (NullPointerException e) { System.out.println("null"); }
    Process child = new ProcessBuilder("sh", "-c", "exit 4").start();
    System.out.println(child.waitFor());
    Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("hook")));
    System.gc();
    System.exit(7);
  }
  static int deep(int n) { return deep(n + 1) + 1; }
}
J
if have java javac; then
  javac -d classes Threads.java || fail "javac fails"
  trial java 'java -Xmx256m -cp ../classes Threads; echo "java says $?"'
fi

# The server is the recorded program; it answers a client that is not, and is ended by it. The numbers of requests are the
# same, their rates are not printed.
cat >serve <<'R'
port=$1
"${@:2}" redis-server --port $port --bind 127.0.0.1 --save '' --appendonly no --io-threads 2 --daemonize no --logfile log --dir . &
server=$!
for ((i = 0; i < 100; ++i)); do redis-cli -p $port ping 2>/dev/null | grep -q PONG && break; sleep 0.1; done
redis-benchmark -p $port -n 2000 -c 8 -q -t set,get,incr,lpush,lpop,sadd,hset,mset | tr '\r' '\n' | sed -n 's/: [0-9.]* requests per second.*//p'
for ((i = 0; i < 200; ++i)); do echo "rpush list $i"; done | redis-cli -p $port | cksum
redis-cli -p $port eval "local s = 0 for i = 1, 300000 do s = s + i % 7 end return s" 0
redis-cli -p $port lrange list 190 -1
redis-cli -p $port get counter:__rand_int__
redis-cli -p $port sort list by nosort limit 0 3
redis-cli -p $port dbsize
redis-cli -p $port save
redis-cli -p $port bgsave >/dev/null
redis-cli -p $port object encoding list
redis-cli -p $port shutdown nosave 2>&1
wait $server
echo "redis says $?"
R
if have redis-server redis-benchmark redis-cli; then
  mkdir bare-redis recorded-redis
  while
    port=$((10000 + RANDOM % 20000))  # below those that the kernel gives away
    timeout 5 redis-cli -p $port ping >other 2>&1 || ! grep -q 'Could not connect' other
  do continue; done
  (cd bare-redis && timeout 60 bash ../serve $port) >bare 2>&1 </dev/null || fail "redis fails without varve: $(cat bare)"
  (cd recorded-redis && timeout 60 bash ../serve $port "$VARVE" record -q -o ../redis --) >out 2>&1 </dev/null || fail "redis fails$(show)"
  diff bare out >difference || fail "redis answers otherwise: $(cat difference)"
  expect_match out 'redis says 0'
  ledger redis 2 60
  nothing_of_ours redis
fi

# Two processes write to one database, and wait for each other's locks.
have sqlite3 && trial sqlite '
sqlite3 data "create table t(a, b); create index i on t(b);"
writer() { for ((i = 0; i < 60; ++i)); do echo ".timeout 20000
begin immediate; insert into t select $1, value from generate_series(1, 300); update t set b = b + 1 where a = $1 and b % 9 = 0; commit;"; done | sqlite3 data; echo "writer $1 says $?" >said-$1; }
writer 1 & writer 2 & wait
cat said-1 said-2
sqlite3 data "select a, count(*), sum(b) from t group by a; pragma integrity_check; select sum(b) from t where b > 10;"
sqlite3 data "select no_such_column from t" 2>/dev/null; echo "sqlite3 says $?"'
true
