// SPDX-License-Identifier: MIT
// The options of every command that shows a profile: which part of it, judged how, with whose symbols. Each
// group is rows for an OptionTable. Not how the answer is printed: view_output.h. Context: viewer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "viewer/options.h"
#include "viewer/symbol/resolve_options.h"
#include "viewer/view/request.h"

namespace varve {

struct ReportOptions {
  view::Request request;
  symbol::ResolveOptions symbols;
  std::optional<uint64_t> limit;    // as given; what holds otherwise depends on the view
  std::optional<double> min_share;  // likewise
};

using Options = std::vector<Option>;

Options limit_options(ReportOptions& options);
Options filter_options(view::Request& request);
Options target_options(view::Request& request);  // what concurrency is judged by, and which band counts
Options band_options(view::Request& request);    // the same, and what to sort by
Options symbol_options(ReportOptions& options);

/// "thread" for what --by thread chooses; empty for what is usual.
std::string by_name(view::By by);

/// A function as the user named it: a name in full or short, or a regular expression.
void set_function(view::Request& request, std::string word);

}  // namespace varve
