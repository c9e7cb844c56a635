// SPDX-License-Identifier: MIT
// See damaged_file.h.
// Context: tests.
#include "test/unit/damaged_file.h"

#include <fstream>
#include <iterator>
#include <random>

namespace varve::test {

void damage_file(const std::string& path, uint64_t seed, const std::function<void()>& check, size_t rounds) {
  std::ifstream in(path, std::ios::binary);
  const std::string good{std::istreambuf_iterator<char>(in), {}};
  const auto write = [&path](const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; };
  std::mt19937_64 random(seed);
  for (size_t i = 0; i < rounds; ++i) {
    std::string bad = good;
    if (i % 3 == 0)
      bad.resize(random() % bad.size());
    else
      bad[random() % bad.size()] ^= char(1 << random() % 8);
    write(bad);
    check();
  }
  write(good);
}

}  // namespace varve::test
