// SPDX-License-Identifier: MIT
// See tick_choice.h.
// Context: viewer.
#include "viewer/record/tick_choice.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "common/tick_event.h"
#include "viewer/record/filter_trial.h"
#include "viewer/record/host_facts.h"

namespace varve::record {
namespace {

/// An event of this thread, stopped; or -1 and errno.
int open_event() {
  perf_event_attr event = format::tick_event(uint64_t(kNanosPerSecond.count), 0);
  event.disabled = 1;
  const int descriptor = open_perf_event(event, 0, -1);
  if (descriptor < 0) return -1;
  void* page = mmap(nullptr, format::kTickEventBytes, PROT_READ, MAP_SHARED, descriptor, 0);
  if (page != MAP_FAILED) return munmap(page, format::kTickEventBytes), descriptor;
  const int error = errno;
  close(descriptor);
  return errno = error, -1;
}

bool old_kernel() {
  utsname name{};
  uint32_t major = 0, minor = 0;
  if (uname(&name) || std::sscanf(name.release, "%u.%u", &major, &minor) != 2) return true;
  return std::pair(major, minor) < std::pair(format::kSigtrapMajor, format::kSigtrapMinor);
}

std::string why_refused(int error) {
  if (std::string why = why_filtered(); !why.empty()) return "performance events are not used: " + why;
  std::string level = small_file("/proc/sys/kernel/perf_event_paranoid", 32);
  level = level.substr(0, level.find('\n'));
  if (level.empty()) return "the kernel has no performance events";
  if (error == EACCES || error == EPERM)
    return fmt::format(
        "the kernel refuses performance events of work in the kernel to this user "
        "(kernel.perf_event_paranoid is {}: it must be 1 or less, or the user have CAP_PERFMON)",
        level);
  return fmt::format("the kernel refuses performance events: {}", std::strerror(error));
}

}  // namespace

TickChoice::TickChoice(TickChoice&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      at_once_(other.at_once_),
      in_step_(other.in_step_),
      why_not_(std::move(other.why_not_)) {}

TickChoice& TickChoice::operator=(TickChoice&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(at_once_, other.at_once_);
  std::swap(in_step_, other.in_step_);
  std::swap(why_not_, other.why_not_);
  return *this;
}

TickChoice::~TickChoice() {
  if (descriptor_ >= 0) close(descriptor_);
}

Nanos kernel_tick() {
  timespec tick{};
  clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
  return {uint64_t(tick.tv_sec) * kNanosPerSecond.count + uint64_t(tick.tv_nsec)};
}

tl::expected<TickChoice, std::string> TickChoice::make(Timer wanted, Nanos interval) {
  TickChoice choice;
  choice.at_once_ = wanted == Timer::kPerf;
  choice.in_step_ = wanted == Timer::kAuto && interval >= kernel_tick();
  if (wanted == Timer::kCpu) return choice;
  if (old_kernel())
    choice.why_not_ = "ticks from performance events interrupt system calls before Linux 6.1";
  else if (choice.descriptor_ = open_event(); choice.descriptor_ < 0)
    choice.why_not_ = why_refused(errno);
  if (choice.in_step_) choice.why_not_.clear();
  if (wanted == Timer::kPerf && !choice.why_not_.empty()) return tl::unexpected(choice.why_not_);
  return choice;
}

}  // namespace varve::record
