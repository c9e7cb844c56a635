// SPDX-License-Identifier: MIT
// Fuzzer of everything between a profile and its text: analyses, views and renderers must take whatever the
// loader lets through, and their rows must add up. The names are made up from the input too, so that bytes of
// any kind reach the renderers; no file that a profile names is opened. Context: tests.
#include <cstdio>
#include <cstdlib>

#include "test/fuzz/profile_input.h"
#include "test/fuzz/replay_main.h"
#include "viewer/load/load.h"
#include "viewer/render/render.h"
#include "viewer/symbol/special_sites.h"
#include "viewer/view/request.h"

namespace {

using namespace varve;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz_views: not so: %s\n", what);
  std::abort();
}

/// Up to 61 functions with names from the input; a site has one to three of them.
class MadeUpSymbols {
 public:
  MadeUpSymbols(const load::Profile& profile, std::string_view bytes) : bytes_(bytes) {
    table_.site_first.push_back(0);
    for (const load::Site& site : profile.sites) {
      if (site.special()) {
        add_frame(function(symbol::special_name(site.kind()), ModuleId::none(), symbol::NameSource::kSpecial),
                  0, false);
      } else {
        const uint64_t count = 1 + site.vaddr.value % 3;
        for (uint64_t i = 0; i < count; ++i) {
          const uint64_t pick = (site.vaddr.value / 16 + i * 7) % 61;
          add_frame(function(piece(pick), site.module, symbol::NameSource::kDwarf), uint32_t(pick * 3 % 11),
                    i + 1 < count);
        }
      }
      table_.site_first.push_back(uint32_t(table_.frame_rows.size()));
    }
  }
  const symbol::SymbolTable& table() const { return table_; }

 private:
  std::string_view piece(uint64_t pick) const {
    if (bytes_.empty()) return "";
    const size_t at = size_t(pick * 37 % bytes_.size());
    return bytes_.substr(at, 1 + pick % 40);
  }

  FunctionId function(std::string_view name, ModuleId module, symbol::NameSource source) {
    const auto [at, fresh] =
        known_.try_emplace({std::string(name), module.value}, FunctionId{uint32_t(table_.functions.size())});
    if (fresh) {
      symbol::Function row;
      row.name = table_.strings.intern(name);
      row.short_name = table_.strings.intern(name.substr(0, name.size() / 2));
      row.module = module;
      row.file = row.short_name;
      row.source = source;
      table_.functions.push_back(row);
    }
    return at->second;
  }

  void add_frame(FunctionId function, uint32_t line, bool inlined) {
    table_.frame_rows.push_back({function, table_.functions[function.index()].file, line, inlined});
  }

  std::string_view bytes_;
  symbol::SymbolTable table_;
  std::map<std::pair<std::string, uint32_t>, FunctionId> known_;
};

view::Request request_from(uint8_t bits) {
  view::Request request;
  request.limit = bits & 1 ? 3 : 0;
  request.min_share = bits & 2 ? 0.05 : 0;
  request.inlines = !(bits & 4);
  request.errors = bits & 8;
  request.fold_recursion = bits & 16;
  if (bits & 32) request.filter.to = {1'000'000'000};
  if (bits & 64) request.filter.function = *analyze::Pattern::parse("a|e");
  request.function_pattern = *analyze::Pattern::parse(".");
  request.function = "a name that is not there";
  return request;
}

/// Rows of the first table add up to the ledger, in the column of that name.
void check_sum(const view::View& view, const char* column) {
  const view::Table& table = view.tables.front();
  uint64_t sum = 0;
  for (size_t j = 0; j < table.columns.size(); ++j) {
    if (table.columns[j].id != column) continue;
    for (size_t i = 0; i < table.rows.size(); ++i) {
      if (const auto* number = std::get_if<uint64_t>(&table.row(i)[j])) sum += *number;
    }
  }
  require(sum == view.ledger.cpu.count, "rows add up to the ledger");
}

void check_view(const view::Kind& kind, const view::Source& source, const view::Request& request) {
  const auto view = view::make(kind, source, request);
  if (!view) {
    require(!view.error().empty(), "a refusal says why");
    return;
  }
  const std::string_view name = kind.name;
  if (name == "threads" || name == "processes") check_sum(*view, "cpu_ns");
  for (const char* each : {"summary", "hotspots", "top-down", "bottom-up", "modules", "lines"})
    if (name == each) check_sum(*view, "self_ns");
  for (const size_t width : {0, 40, 100}) {
    for (const char c : render::text(*view, {width, render::Charset::kAscii, false})) {
      require(c == '\n' || (c >= ' ' && c <= '~'), "text is ASCII");
    }
  }
  require(!render::csv(*view).empty() && !render::json(*view).empty(), "there is CSV and JSON");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const auto profile = load::load(fuzz::make_source(data[0], data + 2, size - 2), "input", {.threads = 1});
  // The caller tree of a chain of paths grows with the square of its length.
  if (!profile || profile->paths.size() > 2'000) return 0;
  const MadeUpSymbols symbols(*profile, {reinterpret_cast<const char*>(data), size});
  const view::Source source{*profile, symbols.table()};
  for (const view::Kind& kind : view::kinds()) check_view(kind, source, request_from(data[1]));
  return 0;
}
