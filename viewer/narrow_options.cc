// SPDX-License-Identifier: MIT
// See narrow_options.h.
// Context: viewer.
#include "viewer/narrow_options.h"

#include "viewer/options.h"

namespace varve {
namespace {

/// Those that need nothing to be read again.
OptionTable narrow_table(ReportOptions& options) {
  OptionTable table;
  table.command = "view";
  table.options = narrow_options(options);
  for (const Option& option : symbol_options(options))
    if (option.section == "Frames") table.options.push_back(option);
  return table;
}

}  // namespace

Options narrow_options(ReportOptions& options) {
  Options all;
  for (const Options& group :
       {limit_options(options), filter_options(options.request), band_options(options.request)})
    all.insert(all.end(), group.begin(), group.end());
  return all;
}

std::vector<std::string> narrow_option_names() {
  ReportOptions unread;
  std::vector<std::string> names;
  for (const Option& option : narrow_table(unread).options)
    names.push_back(option.names.substr(option.names.find("--")));
  return names;
}

tl::expected<void, std::string> read_narrow_options(const std::vector<std::string>& words,
                                                    view::Request& request) {
  ReportOptions options;
  options.request = request;
  options.limit = request.limit;
  options.min_share = request.min_share;
  const auto parsed = parse_options(narrow_table(options), words);
  if (!parsed) return tl::unexpected(parsed.error());
  if (*parsed == ParseOutcome::kHelp) return tl::unexpected<std::string>("? shows the keys");
  apply_limits(options);
  request = options.request;
  request.cut_words.clear();  // keys cut, too, and undo
  return {};
}

void apply_limits(ReportOptions& options) {
  options.request.limit = options.limit.value_or(0);
  options.request.limit_given = options.request.limit != 0;
  options.request.min_share = options.min_share.value_or(0);
}

}  // namespace varve
