// SPDX-License-Identifier: MIT
// perf_event_open, mmap, drain. See switch_rings.h.
// Context: viewer.
#include "viewer/record/observe/switch_rings.h"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/session_keys.h"
#include "viewer/record/clock.h"
#include "viewer/record/filter_trial.h"
#include "viewer/record/host_facts.h"

namespace varve::record::observe {
namespace {

/// From one pass to the next. Soon after a thread began to wait, because what for can only be seen while it
/// does; later where none did, or none but in hooks that tell it (a server's), or where looks would cost more
/// than the observer may. A small ring that is half full wakes earlier.
constexpr Nanos kShortest{20 * kNanosPerMilli.count}, kLongest{50 * kNanosPerMilli.count};
/// Looks at stacks may take one part in so many of one processor, but when nothing new waits: that is some
/// two hundred a second.
constexpr uint64_t kStacksOneIn = 400;
/// With more events than this in the rings the next comes soon, whatever it costs: a large ring is full after
/// five times as many.
constexpr size_t kMany = 6000;
/// Younger events than this may still be on their way into another ring: the kernel takes the time of an
/// event before it writes it, and a virtual processor may be held up between the two.
constexpr Nanos kMargin{10 * kNanosPerMilli.count};

/// Pages of records: a megabyte holds 32,000 of them. An ordinary user may have 128 for each processor
/// (perf_event_mlock_kb), all rings of that user together, so less is tried then, down to a few.
constexpr size_t kMostPages = 256, kLeastPages = 8;

perf_event_attr switch_attributes() {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_DUMMY;  // counts nothing: only its side records are wanted
  attributes.sample_type = kSampleIdType;
  attributes.sample_id_all = 1;
  attributes.context_switch = 1;
  attributes.task = 1;
  attributes.comm = 1;
  attributes.comm_exec = 1;
  attributes.inherit = 1;
  attributes.exclude_kernel = 1;  // all that an ordinary user may have; the records come all the same
  attributes.exclude_hv = 1;
  attributes.use_clockid = 1;
  attributes.clockid = CLOCK_MONOTONIC;
  attributes.watermark = 1;
  return attributes;
}

std::string why_refused(int error) {
  if (std::string why = why_filtered(); !why.empty()) return "context switches are not shown: " + why;
  if (error == EMFILE || error == ENFILE) return "no more files can be opened (ulimit -n)";
  std::string level = small_file("/proc/sys/kernel/perf_event_paranoid", 32);
  level = level.substr(0, level.find('\n'));
  if (error == ENOSYS || level.empty()) return "the kernel has no performance events";
  std::string name = strerrorname_np(error) ? strerrorname_np(error) : fmt::format("error {}", error);
  return fmt::format("the kernel refuses to show context switches ({}; kernel.perf_event_paranoid is {})",
                     name, level);
}

/// A file of numbers and ranges, "0-3,8".
std::vector<int> online_processors() {
  std::string text = small_file("/sys/devices/system/cpu/online");
  std::vector<int> list;
  const char* next = text.c_str();
  for (;;) {
    int first = 0, last = 0, length = 0;
    if (std::sscanf(next, "%d%n", &first, &length) != 1) break;
    next += length;
    last = first;
    if (std::sscanf(next, "-%d%n", &last, &length) == 1) next += length;
    for (; first <= last; ++first) list.push_back(first);
    if (*next++ != ',') break;
  }
  if (list.empty())
    for (int processor = 0; processor < sysconf(_SC_NPROCESSORS_CONF); ++processor) list.push_back(processor);
  return list;
}

}  // namespace

std::string why_no_switches() {
  int event = open_perf_event(switch_attributes(), 0, -1);
  if (event < 0) return why_refused(errno);
  close(event);
  return "";
}

SwitchRings::SwitchRings(Subject subject, ObserverWriter& writer)
    : merge_(0), tracks_(writer, subject), budget_(clock_now(CLOCK_MONOTONIC)) {}

SwitchRings::~SwitchRings() {
  for (const Ring& ring : rings_) {
    munmap(ring.mapped, ring.mapped_size);
    close(ring.descriptor);
  }
}

tl::expected<std::unique_ptr<SwitchRings>, std::string> SwitchRings::open(Subject subject,
                                                                          ObserverWriter& writer) {
  std::unique_ptr<SwitchRings> source(new SwitchRings(subject, writer));
  size_t pages = kMostPages;
  for (int processor : online_processors())
    if (std::string why = source->open_ring(subject.command, processor, pages); !why.empty())
      return tl::unexpected(why);
  if (source->rings_.empty()) return tl::unexpected(std::string("no processor is known to be online"));
  source->merge_ = EventMerge(source->rings_.size());
  return source;
}

/// `pages` shrinks to what is allowed. Returns why it cannot be; a processor that has gone offline is left
/// out.
std::string SwitchRings::open_ring(pid_t command, int processor, size_t& pages) {
  auto page_size = size_t(sysconf(_SC_PAGESIZE));
  int error = 0;
  for (; pages >= kLeastPages; pages /= 2) {
    perf_event_attr attributes = switch_attributes();
    attributes.wakeup_watermark = uint32_t(pages * page_size / 2);
    int event = open_perf_event(attributes, command, processor);
    if (event < 0) return errno == ENODEV ? "" : why_refused(errno);
    size_t size = (pages + 1) * page_size;
    void* mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
    if (mapped != MAP_FAILED) {
      rings_.push_back({event, mapped, size});
      readers_.emplace_back(static_cast<perf_event_mmap_page*>(mapped),
                            static_cast<const uint8_t*>(mapped) + page_size, pages * page_size);
      return "";
    }
    error = errno;
    close(event);
  }
  return fmt::format("there is no memory for the rings of context switches ({})", std::strerror(error));
}

/// The end of each thread wakes who polls a ring, though nothing is to be read: 20,000 short threads took a
/// tenth of their time so. A large ring is looked at before it is full.
void SwitchRings::add_wakes(std::vector<pollfd>& wakes) const {
  const size_t large = kMostPages * size_t(sysconf(_SC_PAGESIZE));
  for (const Ring& ring : rings_)
    if (ring.mapped_size < large) wakes.push_back({ring.descriptor, POLLIN, 0});
}

/// Returns how many events there were, those that may still wait for others included.
size_t SwitchRings::drain() {
  size_t drained = 0;
  for (size_t i = 0; i < readers_.size(); ++i) {
    auto add = [&](const RingEvent& event) { merge_.add(i, event), ++drained; };
    if (!readers_[i].drain(add)) ++unsound_;
  }
  return drained;
}

Nanos SwitchRings::look(Nanos now) {
  const size_t drained = drain();
  Nanos limit = saturating_sub(now, kMargin);
  auto news = SwitchTracks::News::kNone;
  merge_.take_until(limit, [&](const RingEvent& event) { news = std::max(news, tracks_.take(event)); });
  tracks_.settle(limit);
  Nanos used = clock_now(CLOCK_THREAD_CPUTIME_ID);
  // What the command begins with may be more than a ring holds in the longest pause.
  nothing_yet_ &= news == SwitchTracks::News::kNone;
  bool soon = news == SwitchTracks::News::kChange || drained > kMany || nothing_yet_;
  // Where the next pass is far away more may be spent on who waits, and where nothing new waits much more.
  const Nanos period = soon ? kShortest : kLongest, room = budget_.room(period, used - used_);
  const bool quiet = news == SwitchTracks::News::kNone && !soon;
  const Nanos stacks = quiet ? room : std::min(room, {period.count / kStacksOneIn});
  const auto clock = [] { return clock_now(CLOCK_MONOTONIC); };
  soon |= tracks_.look_at_blocked(clock, Allowance(room), Allowance(stacks));
  used = clock_now(CLOCK_THREAD_CPUTIME_ID);
  budget_.charge(now, used - used_);
  used_ = used;
  if (drained > kMany) return now + kShortest;
  return soon ? std::min(budget_.next(now, kShortest), now + kLongest) : now + kLongest;
}

void SwitchRings::finish(Nanos now) {
  drain();
  merge_.take_until(Nanos{UINT64_MAX}, [this](const RingEvent& event) { tracks_.take(event); });
  tracks_.settle(now);
}

std::vector<std::pair<std::string, std::string>> SwitchRings::facts() const {
  std::vector<std::pair<std::string, std::string>> facts = {
      {session_key::kObserver, "switches"},
      {session_key::kObserverLost, fmt::format("{}", tracks_.lost() + unsound_)}};
  if (tracks_.refused_looks())
    facts.emplace_back(session_key::kObserverRefusedLooks, fmt::format("{}", tracks_.refused_looks()));
  for (const std::string& process : tracks_.hidden())
    facts.emplace_back(session_key::kObserverHiddenProcess, process);
  tracks_.stacks().add_facts(facts);
  return facts;
}

}  // namespace varve::record::observe
