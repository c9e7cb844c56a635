// SPDX-License-Identifier: MIT
// Locks and waits: objects by how long threads waited for them, worst what idled processors; and below, who
// had them meanwhile. The waits that no hook saw are a row, so the column adds up to the Wait of threads.
// Context: viewer.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "common/session_keys.h"
#include "viewer/analyze/wait_objects.h"
#include "viewer/view/make.h"
#include "viewer/view/object_words.h"
#include "viewer/view/path_words.h"
#include "viewer/view/rows.h"

namespace varve::view {
namespace {

using analyze::Band;
using analyze::WaitObject;

/// What the rows of both tables are shares of, and how long bars are.
struct Scale {
  uint64_t whole_ns = 0;
  uint64_t longest_ns = 1;
};

struct Sums {
  uint64_t wait_ns = 0, count = 0;
  analyze::BandTimes::Times bands{};

  void add(const WaitObject& object) {
    wait_ns += object.wait_ns;
    count += object.count;
    for (size_t band = 0; band < analyze::kBands; ++band) bands[band] += object.bands[band];
  }
};

class ObjectTable {
 public:
  ObjectTable(const Source& source, View& view, Scale scale)
      : source_(source), view_(view), scale_(scale), banded_(source.concurrency->known()) {
    table_.id = "waits";
    table_.empty = "No wait was recorded.";
    const std::vector<Column> text = {{"", "Wait", Unit::kTime},
                                      {"", "Wait%", Unit::kShare},
                                      {"", "Count", Unit::kCount},
                                      {"", "Mean", Unit::kTime, false, -1, 5},
                                      {"", "Longest", Unit::kTime, false, -1, 3},
                                      {"", banded_ ? "Idle+Poor" : "", Unit::kTime, false, -1, 5},
                                      {"", banded_ ? ".Id-Po=Ok#Id!Ov" : "", Unit::kBar, false, -1, 4}};
    const std::vector<Column> rest = {{"object", "Object", Unit::kText},
                                      {"type", "", Unit::kText},
                                      {"created_at", "First wait at", Unit::kText},
                                      {"wait_ns", "", Unit::kTime},
                                      {"wait_count", "", Unit::kCount},
                                      {"idle_ns", "", Unit::kTime},
                                      {"poor_ns", "", Unit::kTime},
                                      {"ok_ns", "", Unit::kTime},
                                      {"ideal_ns", "", Unit::kTime},
                                      {"over_ns", "", Unit::kTime},
                                      {"top_holder", "", Unit::kText},
                                      {"longest_ns", "", Unit::kTime},
                                      {"threads", "", Unit::kCount},
                                      {"pid", "", Unit::kNumber}};
    table_.columns = text;
    table_.columns.insert(table_.columns.end(), rest.begin(), rest.end());
  }

  void add(const WaitObject& object) {
    Sums sums;
    sums.add(object);
    const load::Process& process = source_.profile.processes[object.key.process.index()];
    put({}, sums, view_.own(object_words(source_, object.key)), kind_name(object.key.kind),
        view_.own(caller_words(source_, caller_of(source_, object.first))), view_.own(top_holder(object)),
        {object.longest_ns, uint64_t(object.threads), uint64_t(uint32_t(process.pid))});
  }
  void add_sum(RowKind kind, std::string_view label, const Sums& sums, bool counted) {
    banded_row_ = counted;
    put({0, kind, false}, sums, label, "", "", "", {Cell(), Cell(), Cell()});
    banded_row_ = true;
  }

  Table table() && { return std::move(table_); }

 private:
  std::string top_holder(const WaitObject& object) const {
    if (object.holders.empty()) return "";
    const analyze::Holder& top = object.holders.front();
    const std::string place = caller_words(source_, caller_of(source_, top.path));
    return names_.of(top.thread) + (place.empty() ? "" : ": ") + place;
  }

  void put(Row row, const Sums& sums, std::string_view object, std::string_view type, std::string_view first,
           std::string_view holder, std::initializer_list<Cell> rest) {
    const bool bands = banded_ && banded_row_;
    const uint64_t poorly = sums.bands[size_t(Band::kIdle)] + sums.bands[size_t(Band::kPoor)];
    Bar bar;
    if (bands && row.kind == RowKind::kOrdinary)
      for (size_t band = 0; band < analyze::kBands; ++band)
        bar.parts[band] = share(sums.bands[band], scale_.longest_ns);
    const bool any = banded_row_ && sums.count != 0;
    table_.begin(row);
    table_.put({sums.wait_ns, share(sums.wait_ns, scale_.whole_ns), any ? Cell(sums.count) : Cell(),
                any ? Cell(sums.wait_ns / sums.count) : Cell(), *rest.begin(), bands ? Cell(poorly) : Cell(),
                bar, object, type, first, sums.wait_ns, any ? Cell(sums.count) : Cell()});
    for (const uint64_t time : sums.bands) table_.put({bands ? Cell(time) : Cell()});
    table_.put({holder});
    table_.put(rest);
  }

  const Source& source_;
  View& view_;
  const ThreadNames names_{source_.profile};
  const Scale scale_;
  const bool banded_;
  bool banded_row_ = true;
  Table table_;
};

/// Who had what others waited for, over all objects that are shown.
Table holder_table(const Source& source, std::span<const WaitObject> objects, const Scale& scale,
                   View& view) {
  Table table;
  table.id = "holders";
  table.title = "Who ended these waits, and had the others wait meanwhile";
  table.columns = {{"caused_ns", "Caused", Unit::kTime},
                   {"caused_share", "Wait%", Unit::kShare, false, -1, 4},
                   {"releases", "Releases", Unit::kCount, false, -1, 2},
                   {"most_waiters", "Queue", Unit::kCount, false, -1, 3},
                   {"thread", "Thread", Unit::kText, false, -1, 6},
                   {"tid", "", Unit::kNumber},
                   {"object", "Object", Unit::kText},
                   {"place", "Released at", Unit::kText}};
  const ThreadNames names(source.profile);
  struct Each {
    const WaitObject* object;
    const analyze::Holder* holder;
  };
  std::vector<Each> all;
  for (const WaitObject& object : objects)
    for (const analyze::Holder& holder : object.holders) all.push_back({&object, &holder});
  std::ranges::stable_sort(all, std::greater(), [](const Each& each) { return each.holder->caused_ns; });
  constexpr size_t kMost = 20;
  for (const auto& [object, holder] : std::span(all).first(std::min(all.size(), kMost)))
    table.add({}, {holder->caused_ns, share(holder->caused_ns, scale.whole_ns), holder->releases,
                   uint64_t(holder->most_waiters), view.own(names.of(holder->thread)),
                   uint64_t(uint32_t(source.profile.threads[holder->thread.index()].tid)),
                   view.own(object_words(source, object->key)),
                   view.own(caller_words(source, caller_of(source, holder->path)))});
  return table;
}

void add_notes(const Source& source, View& view) {
  const load::Profile& profile = source.profile;
  const std::string_view least = profile.session.text(session_key::kWaitMinNs);
  if (least == "0") view.notes.push_back("Waits were not recorded: --waits off.");
  if (!profile.run_states.known())
    view.notes.push_back(
        "Run states were not recorded, so waits have no bands, and those that no hook saw are missing.");
}

}  // namespace

Made make_waits(const Source& source, const Request& request, const analyze::Selection&) {
  const load::Profile& profile = source.profile;
  const auto all =
      analyze::counted_waits(profile, analyze::time_range(profile, request.filter), *source.concurrency);
  const auto passing = analyze::waits_that_pass(profile, source.symbols, request.filter, all);
  const std::vector<WaitObject> objects = analyze::wait_objects(profile, passing);
  const std::vector<uint64_t> waits = analyze::wait_by_thread(profile, request.filter);
  Sums whole, shown;
  for (const WaitObject& object : objects) whole.add(object);
  const uint64_t observed = std::accumulate(waits.begin(), waits.end(), uint64_t{0});
  uint64_t filtered = 0;
  for (const analyze::CountedWait& each : all) filtered += each.time_ns;
  filtered -= whole.wait_ns;

  View view;
  Scale scale{std::max(observed, whole.wait_ns + filtered), 1};
  for (const WaitObject& object : objects) scale.longest_ns = std::max(scale.longest_ns, object.wait_ns);
  ObjectTable table(source, view, scale);
  std::vector<uint64_t> sizes;
  for (const WaitObject& object : objects) sizes.push_back(object.wait_ns);
  const Cut cut = cut_list(sizes, scale.whole_ns, request);
  for (size_t i = 0; i < cut.kept; ++i) table.add(objects[i]), shown.add(objects[i]);
  if (cut.below > 0) {
    Sums rest;
    for (size_t i = cut.kept; i < objects.size(); ++i) rest.add(objects[i]);
    table.add_sum(RowKind::kRest, view.own(cut.label), rest, true);
  }
  if (scale.whole_ns > whole.wait_ns + filtered)
    table.add_sum(RowKind::kSpecial, kOtherWaits, {scale.whole_ns - whole.wait_ns - filtered, 0, {}}, false);
  if (filtered > 0) table.add_sum(RowKind::kFilteredOut, kFilteredOut, {filtered, 0, {}}, false);
  view.tables.push_back(std::move(table).table());
  view.tables.push_back(holder_table(source, std::span(objects).first(cut.kept), scale, view));
  add_notes(source, view);
  return view;
}

}  // namespace varve::view
