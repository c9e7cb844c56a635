// SPDX-License-Identifier: MIT
// The options of printing, and printing.
// Context: viewer.
#include "viewer/view_output.h"

#include "viewer/command.h"
#include "viewer/render/render.h"
#include "viewer/terminal_size.h"

namespace varve {
namespace {

std::string rendered(const view::View& view, const ViewOutput& output) {
  if (output.format == Format::kCsv) return render::csv(view);
  if (output.format == Format::kJson) return render::json(view);
  render::TextStyle style;
  style.width = text_width(output);
  style.charset = output_charset();
  style.color = use_color(output.color);
  return render::text(view, style);
}

}  // namespace

std::vector<Option> output_options(ViewOutput& output) {
  return {
      {"Output", "--format", "FORMAT", "text", "How to print: text, csv or json.",
       set_choice<Format>(output.format,
                          {{"text", Format::kText}, {"csv", Format::kCsv}, {"json", Format::kJson}})},
      {"Output", "--color", "WHEN", "auto",
       "Use colours: auto, always or never. NO_COLOR in the environment turns auto into never.",
       set_choice<ColorChoice>(
           output.color,
           {{"auto", ColorChoice::kAuto}, {"always", ColorChoice::kAlways}, {"never", ColorChoice::kNever}})},
      {"Output", "--width", "COLUMNS", "that of the terminal, none in a pipe",
       "Fit text into this many columns; long names lose their middle.",
       set_number(output.width, 20, 10'000)},
      {"Output", "--no-pager", "", "",
       "Print long text to the terminal without $VARVE_PAGER, $PAGER or less.",
       set_flag(output.pager, false)},
  };
}

size_t text_width(const ViewOutput& output) {
  if (!output.text()) return 0;
  const TerminalSize terminal = terminal_size();
  return output.width != 0 ? size_t(output.width) : terminal.is_terminal ? terminal.columns : 0;
}

tl::expected<void, std::string> print_view(const view::View& view, const ViewOutput& output) {
  return write_output(rendered(view, output), output.text() && output.pager);
}

}  // namespace varve
