// SPDX-License-Identifier: MIT
// Scratch: a directory that is held open, as the recorder holds a profile's. Context: tests.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace varve::test {

/// A directory that goes away with the test.
struct Scratch {
  std::string path;
  int descriptor = -1;

  Scratch() {
    char name[] = "/tmp/varve-unit.XXXXXX";
    path = mkdtemp(name);
    descriptor = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  }
  ~Scratch() {
    close(descriptor);
    std::filesystem::remove_all(path);
  }
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(path + "/" + name).parent_path());
    std::ofstream(path + "/" + name) << text;
  }
};

}  // namespace varve::test
