// SPDX-License-Identifier: MIT
// ViewSession: looking at a profile on a terminal, from reading it to the last key. What takes long goes on
// behind a screen that answers: reading samples behind one that says how far it is, looking up lines behind
// all others. Context: viewer.
#pragma once

#include <string>

#include "tl/expected.hpp"
#include "viewer/open_profile.h"
#include "viewer/output.h"
#include "viewer/tui/app.h"

namespace varve {

struct ViewSession {
  std::string screen = "summary", function, profile;  // as typed
  ReportOptions options;
  ColorChoice color = ColorChoice::kAuto;
  bool mouse = true;
};

/// Until the user has seen enough; returns the exit code. The error, a sentence, says why there is no
/// terminal to look at it on; then nothing was printed.
tl::expected<int, std::string> view_on_terminal(ViewSession session);

tui::AppOptions app_options(const ViewSession& session, const OpenProfile& open);

}  // namespace varve
