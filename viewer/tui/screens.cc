// SPDX-License-Identifier: MIT
// The table of screens.
// Context: viewer.
#include "viewer/tui/annotate_screen.h"
#include "viewer/tui/callers_screen.h"
#include "viewer/tui/facts_screen.h"
#include "viewer/tui/flame_screen.h"
#include "viewer/tui/help_screen.h"
#include "viewer/tui/list_screen.h"
#include "viewer/tui/pair_screen.h"
#include "viewer/tui/summary_screen.h"
#include "viewer/tui/text_screen.h"
#include "viewer/tui/timeline_screen.h"
#include "viewer/tui/tree_screen.h"

namespace varve::tui {
namespace {

template <typename Kind>
std::unique_ptr<Screen> screen(Workspace& workspace) {
  return std::make_unique<Kind>(workspace);
}

constexpr char kHotspots[] = "hotspots", kTopDown[] = "top-down", kBottomUp[] = "bottom-up",
               kThreads[] = "threads", kQuality[] = "quality", kProcesses[] = "processes",
               kPrograms[] = "programs", kModules[] = "modules", kLines[] = "lines",
               kConcurrency[] = "concurrency", kTlp[] = "tlp", kIdle[] = "idle";

/// A screen of a view by that name.
template <typename Kind, const char* kView>
std::unique_ptr<Screen> screen_of(Workspace& workspace) {
  return std::make_unique<Kind>(workspace, kView);
}

std::unique_ptr<Screen> locks(Workspace& workspace) {
  return std::make_unique<PairScreen>(
      workspace, "waits", std::vector<PairScreen::Below>{{"holders", "object_id"}, {"waiters", "object_id"}});
}

std::unique_ptr<Screen> path(Workspace& workspace) {
  return std::make_unique<PairScreen>(workspace, "critical-path",
                                      std::vector<PairScreen::Below>{{"gains", ""}, {"levels", ""}});
}

std::unique_ptr<Screen> help(Workspace&) { return std::make_unique<HelpScreen>(); }

constexpr ScreenKind kScreens[] = {
    {"summary", "Summary", "Sum", screen<SummaryScreen>,
     "the run in numbers, what its processors did, its hottest functions"},
    {kHotspots, "Hotspots", "Hot", screen_of<ListScreen, kHotspots>,
     "functions by the CPU time spent in themselves"},
    {kTopDown, "Top-down", "Down", screen_of<TreeScreen, kTopDown>,
     "the call tree, from the start of each thread downwards"},
    {kBottomUp, "Bottom-up", "Up", screen_of<TreeScreen, kBottomUp>,
     "functions by self time, and below each who called it"},
    {"callers", "Callers", "Call", screen<CallersScreen>, "one function, who calls it and whom it calls"},
    {"flame", "Flame", "Flame", screen<FlameScreen>, "the call tree as cells as wide as their time"},
    {"timeline", "Timeline", "Time", screen<TimelineScreen>, "what each thread did over time"},
    {"waits", "Locks", "Lock", locks, "what threads waited for, and who had it"},
    {"critical-path", "Path", "Path", path, "the longest flow of execution over all threads"},
    {kIdle, "Idle", "Idle", screen_of<FactsScreen, kIdle>,
     "why processors idled: what ran meanwhile, and for what the others waited", false},
    {kThreads, "Threads", "Thr", screen_of<ListScreen, kThreads>, "CPU time by thread", false},
    {kQuality, "Quality", "Qual", screen_of<TextScreen, kQuality>, "whether the data can be trusted", false},
    {"annotate", "Source and code", "Src", screen<AnnotateScreen>,
     "one function by source line and by instruction", false},
    {kProcesses, "Processes", "Proc", screen_of<ListScreen, kProcesses>, "CPU time by process", false},
    {kPrograms, "Programs", "Prog", screen_of<ListScreen, kPrograms>,
     "CPU time by program, of all processes that ran it", false},
    {kModules, "Modules", "Mod", screen_of<ListScreen, kModules>, "CPU time by program file and library",
     false},
    {kLines, "Lines", "Line", screen_of<ListScreen, kLines>, "CPU time by source line", false},
    {kConcurrency, "Concurrency", "Conc", screen_of<TextScreen, kConcurrency>,
     "how long how many threads ran together", false},
    {kTlp, "TLP", "TLP", screen_of<TextScreen, kTlp>, "thread level parallelism", false},
    {"help", "Help", "Help", help, "the keys", false},
};

}  // namespace

std::span<const ScreenKind> screens() { return kScreens; }

const ScreenKind* find_screen(std::string_view name) {
  for (const ScreenKind& kind : kScreens)
    if (name == kind.name) return &kind;
  return nullptr;
}

}  // namespace varve::tui
