// SPDX-License-Identifier: MIT
// Changes of the control page. See control_state.h.
// Context: viewer.
#include "viewer/record/control_state.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "viewer/record/clock.h"
#include "viewer/record/profile_directory.h"

namespace varve::record {
namespace {

using format::ControlState;

constexpr size_t kMappedBytes = 2 * format::kPageSize;

/// The control pages of somebody else's session file, mapped to be changed.
class OpenControl {
 public:
  static tl::expected<OpenControl, std::string> open(const std::string& path);
  OpenControl(OpenControl&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}
  OpenControl& operator=(OpenControl&&) = delete;
  ~OpenControl() {
    if (memory_) munmap(memory_, kMappedBytes);
  }

  const format::FileHeader& header() const { return *static_cast<const format::FileHeader*>(memory_); }
  ControlPages pages() const { return {memory_}; }

 private:
  explicit OpenControl(void* memory) : memory_(memory) {}
  bool is_session() const;

  void* memory_;
};

bool OpenControl::is_session() const {
  const format::ChunkHeader& chunk = pages().chunk();
  return std::memcmp(header().magic, format::kMagic, sizeof format::kMagic) == 0 &&
         header().major == format::kMajor && header().kind == uint16_t(format::FileKind::kSession) &&
         header().checksum == format::header_checksum(header()) &&
         chunk.type == uint32_t(format::ChunkType::kControl) && chunk.used >= sizeof(format::ControlBlock);
}

tl::expected<OpenControl, std::string> OpenControl::open(const std::string& path) {
  std::string file = path + "/" + format::kSessionFile;
  int descriptor = ::open(file.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  int error = errno;
  if (descriptor < 0 && (error == EACCES || error == EPERM || error == EROFS))
    return tl::unexpected(
        fmt::format("no permission to change '{}' ({}); it takes the user who records it, or root", path,
                    std::strerror(error)));
  auto no_profile = [&path] { return tl::unexpected(fmt::format("'{}' is no profile", path)); };
  if (descriptor < 0) return no_profile();
  struct stat status;
  void* memory = MAP_FAILED;
  if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size >= off_t(kMappedBytes))
    memory = mmap(nullptr, kMappedBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  close(descriptor);
  if (memory == MAP_FAILED) return no_profile();
  OpenControl control(memory);
  if (!control.is_session()) return no_profile();
  return control;
}

}  // namespace

format::ChunkHeader& ControlPages::chunk() const {
  return *reinterpret_cast<format::ChunkHeader*>(static_cast<uint8_t*>(memory) + format::kPageSize);
}

format::ControlBlock& ControlPages::block() const {
  return *reinterpret_cast<format::ControlBlock*>(static_cast<uint8_t*>(memory) + format::kControlOffset);
}

ControlState ControlPages::state() const {
  return ControlState(std::atomic_ref(block().state).load(std::memory_order_acquire));
}

ControlState ControlPages::change(std::initializer_list<ControlState> from, ControlState to,
                                  Nanos now) const {
  std::atomic_ref state(block().state);
  uint32_t before = state.load(std::memory_order_acquire);
  do {
    if (std::ranges::count(from, ControlState(before)) == 0) return ControlState(before);
  } while (!state.compare_exchange_weak(before, uint32_t(to), std::memory_order_acq_rel));
  note(to, now);
  return ControlState(before);
}

void ControlPages::note(ControlState state, Nanos now) const {
  if (chunk().used < format::kControlBytes) return;  // of a recorder that kept no changes
  uint32_t index = std::atomic_ref(block().changes).fetch_add(1, std::memory_order_relaxed);
  if (index >= format::kMostChanges) return;
  auto* changes = reinterpret_cast<format::ControlChange*>(&block() + 1);
  changes[index].state = uint32_t(state);
  std::atomic_ref(changes[index].time_ns).store(now.count, std::memory_order_release);
}

tl::expected<Nanos, std::string> set_paused(const std::string& path, bool paused) {
  auto control = OpenControl::open(path);
  if (!control) return tl::unexpected(control.error());
  auto refuse = [&path](std::string_view clause) {
    return tl::unexpected(fmt::format("'{}' {}", path, clause));
  };
  std::error_code ignored;  // a link to a profile was opened like one; is_recording() takes none
  if (!is_recording(std::filesystem::weakly_canonical(path, ignored)))
    return refuse("is not being recorded any more");
  Nanos now = clock_now(CLOCK_MONOTONIC);
  ControlState before = paused ? control->pages().change({ControlState::kRecording, ControlState::kDelayed},
                                                         ControlState::kPaused, now)
                               : control->pages().change({ControlState::kPaused, ControlState::kDelayed},
                                                         ControlState::kRecording, now);
  if (before == ControlState::kStopped)
    return refuse("is not being recorded any more: recording was stopped, only the command goes on");
  if (before == (paused ? ControlState::kPaused : ControlState::kRecording))
    return refuse(paused ? "is paused already" : "is not paused");
  return saturating_sub(now, Nanos{control->header().start_monotonic_ns});
}

}  // namespace varve::record
