// SPDX-License-Identifier: MIT
// A View on the standard output: in which format, how wide, in colours or not, and the options that say so.
// Context: viewer.
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "viewer/options.h"
#include "viewer/output.h"
#include "viewer/view/view.h"

namespace varve {

enum class Format { kText, kCsv, kJson };

struct ViewOutput {
  Format format = Format::kText;
  ColorChoice color = ColorChoice::kAuto;
  uint64_t width = 0;  // as given; 0: that of the terminal
  bool pager = true;

  bool text() const { return format == Format::kText; }
};

std::vector<Option> output_options(ViewOutput& output);

/// Columns that text should fit into; 0: any.
size_t text_width(const ViewOutput& output);

/// The error is a sentence.
tl::expected<void, std::string> print_view(const view::View& view, const ViewOutput& output);

}  // namespace varve
