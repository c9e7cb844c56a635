// SPDX-License-Identifier: MIT
// Records of the session file -> Session. Not the writer: viewer/record is.
// Context: viewer.
#include "viewer/load/session_file.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "common/session_keys.h"

namespace varve::load {
namespace {

using format::ChunkType;
using format::RecordHeader;
using format::RecordKind;

/// Leaves `number` as it is where the text is no decimal number that fits.
template <typename Number>
void parse_number(const std::string& text, Number& number) {
  Number parsed{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  if (error == std::errc() && end == text.data() + text.size()) number = parsed;
}

struct TextField {
  const char* key;
  void (*set)(Session&, const std::string&);
};

template <auto Member>
void set_text(Session& session, const std::string& text) {
  session.*Member = text;
}
template <auto Member>
void set_number(Session& session, const std::string& text) {
  parse_number(text, session.*Member);
}
template <auto Member>
void set_nanos(Session& session, const std::string& text) {
  parse_number(text, (session.*Member).count);
}
void set_finished(Session& session, const std::string& text) { session.finished = text == "1"; }

constexpr std::array kTextFields = {
    TextField{session_key::kCommand, set_text<&Session::command>},
    TextField{session_key::kHost, set_text<&Session::host>},
    TextField{session_key::kKernel, set_text<&Session::kernel>},
    TextField{session_key::kVersion, set_text<&Session::version>},
    TextField{session_key::kDirectory, set_text<&Session::directory>},
    TextField{session_key::kProcessors, set_number<&Session::processors>},
    TextField{session_key::kStackDepth, set_number<&Session::stack_depth>},
    TextField{session_key::kExitStatus, set_number<&Session::exit_status>},
    TextField{session_key::kIntervalNs, set_nanos<&Session::interval>},
    TextField{session_key::kStartMonotonicNs, set_nanos<&Session::start_time>},
    TextField{session_key::kStartRealtimeNs, set_nanos<&Session::start_realtime>},
    TextField{session_key::kElapsedNs, set_nanos<&Session::elapsed>},
    TextField{session_key::kFinished, set_finished},
};

/// "BYTES NAME". What is not that says nothing.
void read_length(const std::string& text, SessionFile& file) {
  FileLength length;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length.bytes);
  if (error != std::errc() || end == text.data() + text.size() || *end != ' ') return;
  length.name.assign(end + 1, text.data() + text.size());
  file.lengths.push_back(std::move(length));
}

/// Lengths are kept by themselves: there are as many as processes, and texts are searched by key.
void read_text(ByteView record, SessionFile& file) {
  record.skip(sizeof(RecordHeader));
  std::string key(record.read_text());
  std::string value(record.read_text());
  if (key == session_key::kFileLength) return read_length(value, file);
  for (const auto& field : kTextFields)
    if (key == field.key) field.set(file.session, value);
  file.session.texts.emplace_back(std::move(key), std::move(value));
}

void read_exit(ByteView record, SessionFile& file) {
  auto exit = record.read<format::ProcessExitRecord>();
  file.session.user_cpu += {exit.user_ns};
  file.session.system_cpu += {exit.system_ns};
  file.exits.push_back(exit);
}

/// The control block is what the agents ran with; texts of the same meaning come later and agree.
void read_control(const File& file, const Chunk& chunk, std::vector<Damage>& damages, SessionFile& result) {
  std::vector<uint8_t> buffer;
  auto view = read_chunk(file, chunk, buffer);
  if (!view || view->size() < sizeof(format::ControlBlock)) {
    damages.push_back(chunk_damage(format::kSessionFile, chunk, "holds no settings", chunk.readable));
    return;
  }
  auto block = view->read<format::ControlBlock>();
  result.session.interval = {block.interval_ns};
  result.session.stack_depth = block.stack_depth;
  uint32_t changes = std::min(block.changes, format::kMostChanges);
  for (; changes > 0 && view->size() >= sizeof(format::ControlChange); --changes)
    if (auto change = view->read<format::ControlChange>(); change.time_ns) result.changes.push_back(change);
}

}  // namespace

tl::expected<SessionFile, std::string> read_session_file(const FileSource& source,
                                                         std::vector<Damage>& damages) {
  auto opened = source.open(format::kSessionFile);
  if (!opened) return tl::unexpected(opened.error());
  const File& file = **opened;
  auto header = read_file_header(file, format::FileKind::kSession);
  if (!header) return tl::unexpected(header.error());

  SessionFile result;
  std::ranges::copy(header->session_id, result.id.begin());
  result.session.start_time = {header->start_monotonic_ns};
  result.session.start_realtime = {header->start_realtime_ns};
  auto use = [&](RecordHeader record_header, ByteView record) {
    if (record_header.kind == uint8_t(RecordKind::kText)) read_text(record, result);
    if (record_header.kind == uint8_t(RecordKind::kProcessExit)) read_exit(record, result);
  };
  for (const Chunk& chunk : list_chunks(file, format::kSessionFile, *header, damages)) {
    if (chunk.is(ChunkType::kControl)) read_control(file, chunk, damages, result);
    if (chunk.is(ChunkType::kSession)) read_records(file, format::kSessionFile, chunk, damages, use);
  }
  return result;
}

}  // namespace varve::load
