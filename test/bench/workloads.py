# SPDX-License-Identifier: MIT
"""The programs that are measured: what they need, what they are given to do. Each works for two to four seconds of CPU time.
Nothing here knows of profilers: a workload is given a function that wraps its command into one."""
import contextlib
import hashlib
import os
import random
import shutil
import socket
import subprocess
import time

from spending import Running, output_of, spend

HEAVY_CXX = """
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <regex>
#include <unordered_map>
#include <variant>
int main() {
  std::regex pattern("a+b*(c|d)");
  std::map<std::string, std::function<int(int)>> functions;
  std::unordered_map<int, std::variant<int, std::string>> values;
  std::cout << std::regex_match("abc", pattern) << functions.size() << values.size();
}
"""
PYTHON = """
import json
s = 0
for i in range(60000000): s += i % 7
for i in range(1600): json.loads(json.dumps(list(range(5000))))
"""
NODE = """
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) }
let s = 0; for (let i = 0; i < 40; i++) s += fib(33);
const o = {}; for (let i = 0; i < 1200000; i++) o['k' + i] = JSON.stringify({i});
console.log(s, Object.values(o).sort().length)
"""
SQL = """
create table t(a integer, b text, c integer);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000000)
insert into t select i, 'row ' || (i * 7919 % 2000000), i % 1000 from n;
create index t_b on t(b);
select count(*), sum(x.a) from t x join t y on x.b = y.b where x.c < 700;
select c, count(*), max(b) from t group by c order by 3 limit 5;
select count(*) from t where b like '%99%';
"""
# The distribution's, rather than a script of somebody's that looks for one.
PYTHON3 = "/usr/bin/python3"
C_FILES, C_FUNCTIONS = 12, 50
REDIS_REQUESTS = 400000


def work_id():
    """Names the work that this file gives: results of another file's are not of this one."""
    with open(__file__, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()[:16]


class Workload:
    """A command that ends by itself."""

    def __init__(self, name, needs, prepare):
        self.name = name
        self.needs = needs
        self.prepare = prepare
        self.command = None

    def absent(self):
        """Why it cannot run here, or None."""
        missing = [program for program in self.needs if not shutil.which(program)]
        return f"{', '.join(missing)} not installed" if missing else None

    def ready(self, folder):
        """Makes its input, once."""
        if self.command is None:
            self.command = self.prepare(folder)

    def run(self, wrap, limit):
        """What a run spends, of `limit` seconds at most. `wrap` gives command and environment of a command."""
        command, environment = wrap(self.command)
        return spend(command, environment, limit=limit)


class Redis(Workload):
    """A server on a socket in the folder, and a benchmark that asks it: the CPU time is the server's, the wall time that of the
    requests."""

    def run(self, wrap, limit):
        path = self.command[self.command.index("--unixsocket") + 1]
        command, environment = wrap(self.command)
        server = Running(command, environment, os.path.dirname(path))
        try:
            wait_for_socket(path, server)
            with elsewhere():
                start = time.monotonic()
                text = output_of(["redis-benchmark", "-s", path, "-n", str(REDIS_REQUESTS), "-c", "20", "-t", "set,get", "--csv"])
                wall = time.monotonic() - start
            subprocess.run(["redis-cli", "-s", path, "shutdown", "nosave"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        except OSError:
            text, wall = None, 0
        spent = server.finish(limit)
        if text is None:
            spent.code = spent.code or 1
        else:
            spent.wall, spent.extra = wall, {"requests": 2 * REDIS_REQUESTS / wall}
        return spent


@contextlib.contextmanager
def elsewhere():
    """What the calling thread starts here runs on the processors that it may not use itself, if there are any."""
    mine = os.sched_getaffinity(0)
    os.sched_setaffinity(0, os.sched_getaffinity(os.getpid()) - mine or mine)  # of the first thread, which pins itself nowhere
    try:
        yield
    finally:
        os.sched_setaffinity(0, mine)


def wait_for_socket(path, server):
    while not server.ended(0):
        with socket.socket(socket.AF_UNIX) as client:
            if os.path.exists(path) and client.connect_ex(path) == 0:
                return
        time.sleep(0.02)
        if time.monotonic() - server.start > 30:
            break
    raise OSError("the server does not answer")


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def cc1plus(folder):
    """The compiler proper, on preprocessed text: one process."""
    source = write(folder, "heavy.cc", HEAVY_CXX)
    text = os.path.join(folder, "heavy.ii")
    subprocess.run(["g++", "-std=c++20", "-E", source, "-o", text], check=True)
    compiler = subprocess.run(["g++", "-print-prog-name=cc1plus"], check=True, capture_output=True, text=True).stdout.strip()
    return [compiler, "-quiet", "-fpreprocessed", "-std=c++20", "-O2", text, "-o", os.path.join(folder, "heavy.s")]


def xz(folder):
    """Words in random order: they compress as text does."""
    noise = random.Random(1)
    words = [bytes(noise.choices(range(97, 123), k=noise.randint(3, 9))) for _ in range(4000)]
    path = os.path.join(folder, "data")
    with open(path, "wb") as file:
        for _ in range(350):
            file.write(b" ".join(noise.choices(words, k=10_000)))
    return ["xz", "-T2", "-2", "--block-size=1MiB", "-k", "-c", path]


def sqlite(folder):
    return ["sqlite3", "-init", write(folder, "query.sql", SQL), ":memory:", ""]


def redis(folder):
    return ["redis-server", "--port", "0", "--unixsocket", os.path.join(folder, "redis.sock"), "--save", "", "--appendonly", "no",
            "--daemonize", "no", "--dir", folder]


def make(folder):
    """A project of small C files."""
    folder = os.path.join(folder, "project")
    os.makedirs(folder, exist_ok=True)
    body = "int f{0}_{1}(int *p, int n) {{ int s = {1}; for (int i = 0; i < n; i++) s = s * 31 + p[i] / (i + {1} + 1); return s; }}\n"
    for i in range(C_FILES):
        write(folder, f"part{i}.c", "#include <stdio.h>\n#include <stdlib.h>\n" + "".join(body.format(i, j) for j in range(C_FUNCTIONS)))
    write(folder, "main.c", "int main(void) { return 0; }\n")
    objects = " ".join(f"part{i}.o" for i in range(C_FILES)) + " main.o"
    write(folder, "Makefile", f"whole: {objects}\n\tcc -o $@ $^\n%.o: %.c\n\tcc -O2 -c $< -o $@\n")
    return ["make", "-s", "-B", "-j2", "-C", folder]


def ours(build, name, *arguments):
    """One of test/programs."""
    return lambda folder: [os.path.join(build, "programs", name), *arguments]


def all_workloads(build):
    return [
        Workload("cc1plus", ["g++"], cc1plus),
        Workload("xz -T2", ["xz"], xz),
        Workload("python3", [PYTHON3], lambda folder: [PYTHON3, write(folder, "loop.py", PYTHON)]),
        Workload("sqlite3", ["sqlite3"], sqlite),
        Redis("redis-server", ["redis-server", "redis-benchmark", "redis-cli"], redis),
        Workload("node", ["node"], lambda folder: ["node", write(folder, "loop.js", NODE)]),
        Workload("200 threads, mostly blocked", [], ours(build, "mostly_blocked", "200", "5000")),
        Workload("20,000 short threads", [], ours(build, "thread_churn", "20000", "1", "10")),
        Workload("make -j2", ["make", "cc"], make),
    ]
