// SPDX-License-Identifier: MIT
// Loading, resolving, storing; here or in a child. See finalize.h.
// Context: viewer.
#include "viewer/record/finalize.h"
#include "viewer/load/thread_count.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "viewer/load/agent_file.h"
#include "viewer/load/held_back.h"
#include "viewer/load/load.h"
#include "viewer/load/tick_moments.h"
#include "viewer/load/tick_phase.h"
#include "viewer/record/decoded_writer.h"
#include "viewer/symbol/code_collect.h"
#include "viewer/symbol/disassemble.h"
#include "viewer/symbol/resolver.h"
#include "viewer/symbol/symbol_file.h"

namespace varve::record {
namespace {

RunCounts counts_of(const load::Profile& profile) {
  RunCounts result;
  result.loaded = true;
  result.samples = profile.sample_count;
  result.cpu = profile.sampled + profile.residual + profile.unsampled;
  result.unsampled = profile.unsampled;
  result.threads = load::count_threads(profile);
  result.sampled = profile.sampled;
  result.residual = profile.residual - profile.residual_placed;
  result.agent_files = uint64_t(std::ranges::count(profile.processes, false, &load::Process::seen_only));
  result.samples_lost = profile.lost_samples;
  result.empty_files =
      uint64_t(std::ranges::count(profile.damages, load::kNoRoomForFile, &load::Damage::sentence));
  std::vector<int32_t> pids;
  for (const load::Process& process : profile.processes) {
    pids.push_back(process.pid);
    result.threads_unsampled += process.counter(format::Counter::kThreadsUnsampled);
    result.filtered += process.counter(format::Counter::kFiltered);
    result.no_space |= process.counter(format::Counter::kFileGrowFailed) != 0;
    result.grow_refused |= process.counter(format::Counter::kGrowRefused) != 0;
    if (uint64_t error = process.counter(format::Counter::kLastErrno)) result.last_errno = int(error);
  }
  result.refused_processes = profile.refusals.size();
  if (!profile.refusals.empty()) result.first_refusal = profile.refusals.front();
  for (const load::Thread& thread : profile.threads) {
    if (thread.no_timer && thread.timer_errno == 0) {
      ++result.small_stacks;
    } else if (thread.no_timer) {
      ++result.threads_unsampled;
      result.last_errno = int(thread.timer_errno);
    }
    if (load::held_back(profile, thread))
      result.held_back += saturating_sub(thread.end_cpu, thread.start_cpu);
    result.ticks += thread.ticks;
    result.overruns += thread.overruns;
  }
  result.in_step = load::works_in_step(profile);
  std::sort(pids.begin(), pids.end());
  result.processes = size_t(std::unique(pids.begin(), pids.end()) - pids.begin());
  return result;
}

/// A line on the terminal that appears after a second, changes at most ten times a second, and goes away
/// again.
class ProgressLine {
 public:
  explicit ProgressLine(bool wanted) : wanted_(wanted) {}
  ~ProgressLine() {
    if (shown_) std::fputs("\r\x1b[K", stderr);
  }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(size_t done, size_t total) {
    auto now = Clock::now();
    if (!wanted_ || total == 0 || now < next_) return;
    next_ = now + std::chrono::milliseconds(100);
    shown_ = true;
    std::fputs(fmt::format("\rvarve: looking up names and lines, {} %\x1b[K", done * 100 / total).c_str(),
               stderr);
  }

 private:
  using Clock = std::chrono::steady_clock;
  bool wanted_;
  bool shown_ = false;
  Clock::time_point next_ = Clock::now() + std::chrono::seconds(1);
};

symbol::SymbolTable look_up(const load::Profile& profile, bool progress, symbol::OpenedModules& modules) {
  ProgressLine line(progress);
  const auto show = [&line](const symbol::ResolveProgress& at) { line.show(at.done, at.total); };
  return symbol::resolve(profile, {}, show, &modules);
}

/// For annotation where no binary is; nothing where instructions cannot be told apart, so that whoever can
/// will read the program's files. The error is a sentence.
tl::expected<void, std::string> store_code(const load::Profile& profile, symbol::OpenedModules& modules) {
  if (!symbol::disassembly_trouble().empty()) return {};
  const symbol::CodeTable code =
      symbol::collect_code(profile, symbol::sites_by_time(profile), {}, {}, &modules);
  if (code.pieces.empty()) return {};
  return symbol::write_code_file(profile, code);
}

/// All that modules have to be opened for. The error is a sentence.
tl::expected<symbol::SymbolTable, std::string> store_names_and_code(const load::Profile& profile,
                                                                    bool progress) {
  symbol::OpenedModules modules;
  symbol::SymbolTable symbols = look_up(profile, progress, modules);
  auto stored = symbol::write_symbol_file(profile, symbols);
  if (stored) stored = store_code(profile, modules);
  if (!stored) return tl::unexpected(stored.error());
  return symbols;
}

/// All files that finalization writes. The error is a sentence.
tl::expected<void, std::string> store(load::Profile& profile, const FinalizeOptions& options) {
  const auto symbols = store_names_and_code(profile, options.progress);
  if (!symbols) return tl::unexpected(symbols.error());
  if (!worth_decoding(profile)) return {};
  if (auto stored = write_decoded_file(profile); !stored || !options.store_more) return stored;
  load::date_samples_by_ticks(profile);
  return options.store_more(profile, *symbols);
}

/// Why the child said nothing more.
std::string crash_words(int status) {
  std::string how = WIFEXITED(status) && WEXITSTATUS(status) != 0 ? "the lookup could not go on"
                                                                  : "the lookup did not begin";
  if (WIFSIGNALED(status)) {
    const char* name = sigabbrev_np(WTERMSIG(status));
    how = fmt::format("the lookup was ended by SIG{}", name ? name : fmt::format("{}", WTERMSIG(status)));
  }
  return fmt::format("the names could not be stored: {}; varve report will look them up itself", how);
}

}  // namespace

Finalized finalize(const std::string& directory, const FinalizeOptions& options,
                   const std::function<void(const RunCounts&)>& counted) {
  Finalized result;
  auto profile = load::load(directory, {.dated = false});  // what is stored of them is read as they are
  if (!profile) {
    result.trouble = profile.error();
    return result;
  }
  static_cast<RunCounts&>(result) = counts_of(*profile);
  if (counted) counted(result);
  if (!options.resolve) return result;
  if (auto stored = store(*profile, options); !stored) result.trouble = stored.error();
  return result;
}

/// The child sends the numbers as soon as it has them, and at its end what went wrong, in words. Without a
/// profile there are no numbers worth a word, but they are sent all the same.
Finalization::Finalization(const std::string& directory, const FinalizeOptions& options)
    : task_([&](const ChildTask::Send& send) {
        auto send_counts = [&send](const RunCounts& counts) {
          send({reinterpret_cast<const char*>(&counts), sizeof counts});
        };
        Finalized result = finalize(directory, options, send_counts);
        if (!result.loaded) send_counts(result);
        send(result.trouble);
      }) {}

Finalized Finalization::result() const {
  Finalized result;
  std::string_view sent = task_.received();
  if (sent.size() >= sizeof(RunCounts)) {
    std::memcpy(static_cast<RunCounts*>(&result), sent.data(), sizeof(RunCounts));
    sent.remove_prefix(sizeof(RunCounts));
  }
  result.trouble = task_.status() == 0 ? std::string(sent) : crash_words(task_.status());
  return result;
}

}  // namespace varve::record
