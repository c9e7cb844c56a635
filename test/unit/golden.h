// SPDX-License-Identifier: MIT
// Texts that are compared letter by letter with files below test/golden; test/golden/accept.sh writes them
// anew, to be looked at before they are committed. Context: tests.
#pragma once

#include <string>

namespace varve::test {

/// `name`: the file below test/golden. Fails the test where `text` differs.
void compare_golden(const std::string& name, const std::string& text);

}  // namespace varve::test
