// SPDX-License-Identifier: MIT
// Writes the session file: header page, control chunk, then chunks of text. See session_writer.h.
// Context: viewer.
#include "viewer/record/session_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "viewer/record/clock.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace varve::record {
namespace {

using namespace format;

constexpr uint64_t kFirstChunk = 2 * kPageSize;
constexpr size_t kChunkBytes = 4 * kPageSize;  // holds the facts of nearly every run
constexpr size_t kLongestRecord = UINT16_MAX;  // RecordHeader::size has 16 bits

bool write_at(int descriptor, const void* bytes, size_t size, uint64_t offset) {
  const char* next = static_cast<const char*>(bytes);
  while (size) {
    ssize_t written = pwrite(descriptor, next, size, off_t(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    next += written, size -= size_t(written), offset += size_t(written);
  }
  return true;
}

FileHeader make_header() {
  FileHeader header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.major = kMajor;
  header.minor = kMinor;
  header.byte_order = kByteOrder;
  header.kind = uint16_t(FileKind::kSession);
  if (getrandom(header.session_id, sizeof header.session_id, 0) < 0) {
    uint64_t seed[2] = {clock_now(CLOCK_REALTIME).count, uint64_t(getpid())};
    std::memcpy(header.session_id, seed, sizeof seed);
  }
  header.pid = getpid();
  header.ppid = getppid();
  header.start_realtime_ns = clock_now(CLOCK_REALTIME).count;
  header.start_monotonic_ns = clock_now(CLOCK_MONOTONIC).count;
  header.checksum = header_checksum(header);
  return header;
}

ChunkHeader make_chunk(ChunkType type, size_t capacity, uint32_t sequence) {
  ChunkHeader chunk{};
  chunk.type = uint32_t(type);
  chunk.version = 1;
  chunk.capacity = uint32_t(capacity);
  chunk.thread = kNoThread;
  chunk.sequence = sequence;
  chunk.first_time_ns = chunk.last_time_ns = clock_now(CLOCK_MONOTONIC).count;
  return chunk;
}

}  // namespace

SessionWriter::SessionWriter(SessionWriter&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      control_page_(std::exchange(other.control_page_, nullptr)),
      header_(other.header_),
      chunk_(other.chunk_),
      chunk_offset_(other.chunk_offset_),
      records_(std::move(other.records_)) {}

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
  header_ = make_header();
  std::memcpy(pages.data(), &header_, sizeof header_);
  ChunkHeader chunk = make_chunk(ChunkType::kControl, kPageSize, 0);
  chunk.used = sizeof(ControlBlock);
  std::memcpy(pages.data() + kPageSize, &chunk, sizeof chunk);
  ControlBlock control{};
  control.state = uint32_t(settings.paused ? ControlState::kPaused : ControlState::kRecording);
  control.flags = settings.follow ? kControlFollow : 0;
  control.interval_ns = settings.interval.count;
  control.stack_depth = settings.stack_depth;
  std::memcpy(pages.data() + kControlOffset, &control, sizeof control);
  if (!write_at(descriptor_, pages.data(), pages.size(), 0))
    return tl::unexpected(fmt::format("cannot write the session file: {}", std::strerror(errno)));
  void* mapped = mmap(nullptr, kFirstChunk, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (mapped == MAP_FAILED)
    return tl::unexpected(fmt::format("cannot map the session file: {}", std::strerror(errno)));
  control_page_ = mapped;
  return {};
}

void SessionWriter::set_state(ControlState state) {
  auto* control = reinterpret_cast<ControlBlock*>(static_cast<uint8_t*>(control_page_) + kControlOffset);
  std::atomic_ref(control->state).store(uint32_t(state), std::memory_order_release);
}

ControlState SessionWriter::state() const {
  auto* control = reinterpret_cast<ControlBlock*>(static_cast<uint8_t*>(control_page_) + kControlOffset);
  return ControlState(std::atomic_ref(control->state).load(std::memory_order_acquire));
}

bool SessionWriter::begin_chunk(size_t record_bytes) {
  uint64_t offset = chunk_offset_ ? chunk_offset_ + chunk_.capacity : kFirstChunk;
  size_t need = sizeof(ChunkHeader) + record_bytes;
  size_t capacity = std::max(kChunkBytes, (need + kPageSize - 1) / kPageSize * kPageSize);
  ChunkHeader chunk = make_chunk(ChunkType::kSession, capacity, chunk_offset_ ? chunk_.sequence + 1 : 1);
  std::vector<uint8_t> bytes(capacity);
  std::memcpy(bytes.data(), &chunk, sizeof chunk);
  if (!write_at(descriptor_, bytes.data(), bytes.size(), offset)) return false;
  if (chunk_offset_) seal();
  chunk_ = chunk;
  chunk_offset_ = offset;
  records_.clear();
  return true;
}

bool SessionWriter::append(const void* bytes, size_t size) {
  bool fits = chunk_offset_ && sizeof(ChunkHeader) + chunk_.used + size <= chunk_.capacity;
  if (!fits && !begin_chunk(size)) return false;
  if (!write_at(descriptor_, bytes, size, chunk_offset_ + sizeof(ChunkHeader) + chunk_.used)) return false;
  const auto* first = static_cast<const uint8_t*>(bytes);
  records_.insert(records_.end(), first, first + size);
  chunk_.used += uint32_t(size);
  chunk_.last_time_ns = clock_now(CLOCK_MONOTONIC).count;
  return write_at(descriptor_, &chunk_.last_time_ns, sizeof chunk_.last_time_ns,
                  chunk_offset_ + offsetof(ChunkHeader, last_time_ns)) &&
         write_at(descriptor_, &chunk_.used, sizeof chunk_.used, chunk_offset_ + offsetof(ChunkHeader, used));
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

void SessionWriter::seal() {
  if (!chunk_offset_) return;
  chunk_.checksum = XXH64(records_.data(), records_.size(), 0);
  chunk_.flags |= kChunkSealed;
  // The checksum first: the flag says that it holds.
  if (write_at(descriptor_, &chunk_.checksum, sizeof chunk_.checksum,
               chunk_offset_ + offsetof(ChunkHeader, checksum)))
    write_at(descriptor_, &chunk_.flags, sizeof chunk_.flags, chunk_offset_ + offsetof(ChunkHeader, flags));
}

}  // namespace varve::record
