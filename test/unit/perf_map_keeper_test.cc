// SPDX-License-Identifier: MIT
// Copies of perf maps in the profile: whole ones or none. Context: tests.
#include "viewer/record/perf_map_keeper.h"

#include <criterion/criterion.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "test/unit/scratch.h"

using namespace varve;
using varve::test::Scratch;

namespace {

/// As a JIT of this process would write it.
class OwnMap {
 public:
  explicit OwnMap(size_t bytes) : path_(fmt::format("/tmp/perf-{}.map", getpid())) {
    std::ofstream(path_) << std::string(bytes, 'x');
  }
  ~OwnMap() { std::filesystem::remove(path_); }

 private:
  std::string path_;
};

}  // namespace

/// Where a part was kept it would be read in place of the one in /tmp.
Test(perf_map_keeper, what_has_no_room_is_not_kept) {
  Scratch scratch;
  const OwnMap map(8192);
  const std::string name = fmt::format("host-{}", getpid());
  scratch.write(name + "-0.agent", "agent");
  record::PerfMapKeeper keeper(scratch.descriptor, {});
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit;
  cr_assert_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit small{4096, limit.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  cr_expect_eq(keeper.collect(), 0);
  cr_expect(!std::filesystem::exists(scratch.path + "/" + name + ".perfmap"));
  setrlimit(RLIMIT_FSIZE, &limit);
  cr_expect_eq(keeper.collect(), 1);
  cr_expect_eq(std::filesystem::file_size(scratch.path + "/" + name + ".perfmap"), 8192);
}
