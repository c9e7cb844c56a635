// SPDX-License-Identifier: MIT
// storm LIBRARY MS: eight threads that load and unload a library, throw through it and allocate, all at once,
// each until it has used MS of CPU time. Prints how often. Context: test 56 and its stress form.
#include <dlfcn.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "work.h"

namespace {

std::atomic<uint64_t> loads{0}, throws{0}, wrong{0};

[[gnu::noinline]] void throw_deep(int depth) {
  std::vector<std::string> held(3, std::string(size_t(40 + depth), 'x'));
  if (!depth) throw std::runtime_error(held[0]);
  throw_deep(depth - 1);
}

[[gnu::noinline]] void load_and_call(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  auto call = library ? reinterpret_cast<int (*)(int)>(dlsym(library, "call_and_throw")) : nullptr;
  if (!call) return void(++wrong);
  try {
    call(20);
    ++wrong;
  } catch (const int&) {
    ++loads;
  }
  dlclose(library);
}

void worker(const char* path, uint64_t limit_ns) {
  while (thread_ns() < limit_ns) {
    load_and_call(path);
    for (int i = 0; i < 20; ++i) {
      try {
        throw_deep(i);
      } catch (const std::runtime_error& error) {
        ++throws;
        std::unique_ptr<char[]> memory(new char[1 + throws % 100'000]);
        memory[0] = error.what()[0];
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back(worker, argv[1], strtoull(argv[2], nullptr, 10) * 1'000'000);
  for (std::thread& thread : threads) thread.join();
  printf("{\"wrong\": %lu, \"worked\": %d}\n", wrong.load(), loads > 10 && throws > 100);
}
