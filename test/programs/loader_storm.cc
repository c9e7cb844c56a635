// SPDX-License-Identifier: MIT
// loader_storm LIBRARY... ROUNDS: each thread takes one of the libraries and loads it, looks symbols up,
// works in it, has it throw, and unloads it, again and again, now and then into a namespace of its own
// (dlmopen); others walk the list of libraries, throw and allocate. Prints what the libraries said, which is
// always the same. Context: test 33 and its stress form.
#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "work.h"

namespace {

std::atomic<uint64_t> loads{0}, namespaces{0}, caught{0}, wrong{0}, symbols{0};
std::atomic<bool> over{false};
std::mutex one_namespace;  // the loader has room for few at once

using Function = uint64_t(uint64_t);

/// What a library must answer: it counts its calls in a thread_local variable, new with each load.
void use(void* library, bool throws) {
  auto* run = library ? reinterpret_cast<Function*>(dlsym(library, "library_run")) : nullptr;
  auto* fail = library ? reinterpret_cast<Function*>(dlsym(library, "library_throw")) : nullptr;
  Dl_info info;
  if (!run || !fail || dlsym(library, "no_such_symbol") || !dladdr(reinterpret_cast<void*>(run), &info)) {
    ++wrong;
    return;
  }
  dlerror();
  symbols += std::string(info.dli_sname) == "library_run";
  wrong += run(1) != 1;
  wrong += run(2) != 2;
  if (!throws) return;
  try {
    fail(12);
    ++wrong;
  } catch (const std::runtime_error& error) {
    caught += std::string(error.what()) == "from the library";
  }
}
void load(const char* path, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    const bool apart = i % (rounds / 2) == 7;  // the loader never gives back all that a namespace takes
    std::unique_lock<std::mutex> alone(one_namespace, std::defer_lock);
    if (apart) alone.lock();
    void* library = apart ? dlmopen(LM_ID_NEWLM, path, RTLD_NOW) : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    use(library, !apart);  // in its own namespace it has a C++ library of its own
    if (library && dlclose(library) == 0) ++(apart ? namespaces : loads);
  }
}
void walk() {
  while (!over) {
    int count = 0;
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* found) {
          *static_cast<int*>(found) += info->dlpi_phnum > 0;
          return 0;
        },
        &count);
    wrong += count < 3;
    try {
      throw std::string(size_t(count), 'x');
    } catch (const std::string& text) {
      wrong += int(text.size()) != count;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int rounds = atoi(argv[argc - 1]);
  std::vector<std::thread> loading, walking;
  for (int i = 1; i + 1 < argc; ++i) loading.emplace_back(load, argv[i], rounds);
  for (int i = 0; i < 2; ++i) walking.emplace_back(walk);
  for (std::thread& thread : loading) thread.join();
  over = true;
  for (std::thread& thread : walking) thread.join();
  printf("loads %lu, namespaces %lu, caught %lu, symbols %lu, wrong %lu\n", loads.load(), namespaces.load(),
         caught.load(), symbols.load(), wrong.load());
}
