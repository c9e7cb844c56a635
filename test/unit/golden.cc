// SPDX-License-Identifier: MIT
// See golden.h.
// Context: tests.
#include "test/unit/golden.h"

#include <criterion/criterion.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace varve::test {

void compare_golden(const std::string& name, const std::string& text) {
  const std::string path = "test/golden/" + name;
  if (std::getenv("VARVE_ACCEPT") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  cr_assert(file.good(), "%s cannot be read; the tests run in the project's folder", path.c_str());
  const std::string wanted{std::istreambuf_iterator<char>(file), {}};
  const auto at = std::mismatch(text.begin(), text.end(), wanted.begin(), wanted.end());
  const size_t position = size_t(at.first - text.begin());
  const size_t line = size_t(std::count(text.begin(), at.first, '\n')) + 1;
  cr_expect(text == wanted, "%s differs in line %zu at byte %zu; if that is right: test/golden/accept.sh",
            path.c_str(), line, position);
}

}  // namespace varve::test
