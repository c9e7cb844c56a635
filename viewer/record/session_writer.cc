// SPDX-License-Identifier: MIT
// Writes the session file: header page, control chunk, then chunks of text. See session_writer.h.
// Context: viewer.
#include "viewer/record/session_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "viewer/record/clock.h"

namespace varve::record {
namespace {

using namespace format;

constexpr uint64_t kFirstChunk = 2 * kPageSize;
constexpr size_t kFactsBytes = 4 * kPageSize;  // holds the facts of nearly every run
constexpr size_t kLongestRecord = UINT16_MAX;  // RecordHeader::size has 16 bits

}  // namespace

SessionWriter::SessionWriter(SessionWriter&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      control_page_(std::exchange(other.control_page_, nullptr)),
      header_(other.header_),
      chunks_(std::move(other.chunks_)) {}

SessionWriter::SessionWriter(int descriptor)
    : descriptor_(descriptor),
      header_(make_file_header(FileKind::kSession)),
      chunks_(descriptor, kFirstChunk, 1) {}

SessionWriter::~SessionWriter() {
  if (control_page_) munmap(control_page_, kFirstChunk);
  if (descriptor_ >= 0) close(descriptor_);
}

tl::expected<SessionWriter, std::string> SessionWriter::create(int directory, const AgentSettings& settings) {
  int descriptor = openat(directory, kSessionFile, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (descriptor < 0)
    return tl::unexpected(fmt::format("cannot make the session file: {}", std::strerror(errno)));
  SessionWriter writer(descriptor);
  if (auto begun = writer.begin(settings); !begun) return tl::unexpected(begun.error());
  return writer;
}

tl::expected<void, std::string> SessionWriter::begin(const AgentSettings& settings) {
  flock(descriptor_, LOCK_EX | LOCK_NB);
  // Written whole before it is mapped: a hole in a mapped file is a SIGBUS on a full disk.
  std::vector<uint8_t> pages(kFirstChunk);
  std::memcpy(pages.data(), &header_, sizeof header_);
  ChunkHeader chunk = make_chunk_header(ChunkType::kControl, kPageSize, 0, {header_.start_monotonic_ns});
  chunk.used = kControlBytes;
  std::memcpy(pages.data() + kPageSize, &chunk, sizeof chunk);
  ControlState state = settings.delayed ? ControlState::kDelayed : ControlState::kRecording;
  ControlBlock control{};
  control.state = uint32_t(state);
  if (settings.follow) control.flags |= kControlFollow;
  if (settings.wait_min.count != 0) control.flags |= kControlWaits;
  if (settings.events) control.flags |= kControlEvents;
  if (settings.events_at_once) control.flags |= kControlAtOnce;
  if (settings.events_in_step) control.flags |= kControlInStep;
  control.wait_min_ns = settings.wait_min.count;
  control.interval_ns = settings.interval.count;
  control.stack_depth = settings.stack_depth;
  control.tried_filters = settings.tried_filters;
  std::memcpy(pages.data() + kControlOffset, &control, sizeof control);
  ControlPages{pages.data()}.note(state, {header_.start_monotonic_ns});
  if (!write_at(descriptor_, pages.data(), pages.size(), 0))
    return tl::unexpected(fmt::format("cannot write the session file: {}", std::strerror(errno)));
  void* mapped = mmap(nullptr, kFirstChunk, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (mapped == MAP_FAILED)
    return tl::unexpected(fmt::format("cannot map the session file: {}", std::strerror(errno)));
  control_page_ = mapped;
  return {};
}

bool SessionWriter::append(const void* bytes, size_t size) {
  Nanos now = clock_now(CLOCK_MONOTONIC);
  size_t need = (sizeof(ChunkHeader) + size + kPageSize - 1) / kPageSize * kPageSize;
  if (!chunks_.fits(size) && !chunks_.begin(ChunkType::kSession, std::max(kFactsBytes, need), now))
    return false;
  chunks_.append(bytes, size);
  return chunks_.commit(now);
}

bool SessionWriter::text(std::string_view key, std::string_view value) {
  // A NUL ends a text, so what stands after one cannot be kept; and a record has room for 64 KB.
  value = value.substr(0, value.find('\0'));
  value = value.substr(0, kLongestRecord - sizeof(RecordHeader) - key.size() - 2 - 8);
  size_t size = (sizeof(RecordHeader) + key.size() + 1 + value.size() + 1 + 7) & ~size_t(7);
  std::vector<uint8_t> record(size);
  RecordHeader header{uint16_t(size), uint8_t(RecordKind::kText), 0};
  std::memcpy(record.data(), &header, sizeof header);
  std::memcpy(record.data() + sizeof header, key.data(), key.size());
  std::memcpy(record.data() + sizeof header + key.size() + 1, value.data(), value.size());
  return append(record.data(), record.size());
}

bool SessionWriter::process_exit(ProcessExitRecord record) {
  record.header = {sizeof record, uint8_t(RecordKind::kProcessExit), 0};
  return append(&record, sizeof record);
}

void SessionWriter::seal() { chunks_.seal(); }

}  // namespace varve::record
