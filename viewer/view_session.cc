// SPDX-License-Identifier: MIT
// See view_session.h.
// Context: viewer.
#include "viewer/view_session.h"

#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <optional>

#include "viewer/command.h"
#include "viewer/crash_report.h"
#include "viewer/later.h"
#include "viewer/narrow_options.h"
#include "viewer/render/numbers.h"
#include "viewer/tui/run.h"
#include "viewer/tui/waiting.h"

namespace varve {
namespace {

using Opened = std::shared_ptr<OpenProfile>;
using Loading = Later<tl::expected<Opened, std::string>>;
using Naming = Later<symbol::FoundSymbols>;
using Coding = Later<symbol::FoundCode>;

/// What is there within this time needs no other screen before.
constexpr std::chrono::milliseconds kPatience(150);

std::string percent_words(std::string_view what, uint64_t done, uint64_t total) {
  return fmt::format("{}: {} %", what, total == 0 ? 100 : uint64_t(100.0 * double(done) / double(total)));
}

/// The profile with the names that can be had at once: those stored, else those of symbol tables. With
/// `quickly` only the views of it that were made in advance, where there are such.
Loading begin_loading(const ViewSession& session, bool quickly) {
  symbol::ResolveOptions quick = session.options.symbols;
  quick.lines = quick.debuginfod = false;
  return Loading([word = session.profile, options = session.options.symbols, quick,
                  quickly](const Loading::Tell& tell) -> tl::expected<Opened, std::string> {
    if (quickly)
      if (auto views = load_views(word, options)) return std::make_shared<OpenProfile>(std::move(*views));
    tell("Reading samples");
    auto open = load_profile(word, [&tell](uint64_t done, uint64_t total) {
      tell(percent_words("Reading samples", done, total));
    });
    if (!open) return tl::unexpected(open.error());
    tell("Reading names");
    open->names = symbol::symbols_for(open->profile, quick);
    return std::make_shared<OpenProfile>(std::move(*open));
  });
}

/// All that can be known of the names: lines, inlined calls, and what servers have.
Naming begin_naming(const Opened& open, const symbol::ResolveOptions& options) {
  return Naming([open, options](const Naming::Tell& tell) {
    return symbol::symbols_for(open->profile, options, [&tell](const symbol::ResolveProgress& at) {
      tell(percent_words("Looking up lines", at.done, at.total));
    });
  });
}

Coding begin_coding(const Opened& open, const tui::LaterCode::Sites& sites,
                    const symbol::ResolveOptions& options) {
  return Coding([open, sites, options](const Coding::Tell& tell) {
    tell("Reading code");
    return symbol::code_for(open->profile, sites, options);
  });
}

/// What screens are made from, and what of it is still to come: samples where there are only stored views,
/// lines where there are only names. Everything that a screen was ever made from lives as long as this.
class Behind {
 public:
  Behind(const ViewSession& session, Opened open) : session_(session) { take(std::move(open)); }

  const OpenProfile& opened() const { return *opened_.back(); }
  const load::Profile& profile() const { return opened().profile; }
  const symbol::SymbolTable& names() const { return better_ ? better_->table : opened().names.table; }
  const view::StoredViews* views() const {
    if (profile().without_samples) return opened().views ? &*opened().views : nullptr;
    return views_for(*opened_.front(), opened());
  }

  bool pending(tui::Workspace& workspace) const {
    return loading_ || naming_ || coding_ || !workspace.later_code()->wanted().empty() ||
           (workspace.wants_samples() && failure_.empty());
  }
  /// Goes on, and gives the workspace what has come. Words on what is still missing.
  std::string look(tui::Workspace& workspace) {
    if (workspace.wants_samples() && !loading_) loading_ = begin_loading(session_, false);
    if (loading_ && loading_->ready()) {
      auto open = std::exchange(loading_, std::nullopt)->take();
      if (!open) return failure_ = open.error();
      take(std::move(*open));
      workspace.use(profile(), names(), views());
    }
    if (naming_ && naming_->ready()) {
      better_ = std::exchange(naming_, std::nullopt)->take();
      workspace.use(profile(), names());
    }
    look_for_code(*workspace.later_code());
    return loading_ ? loading_->words() : coding_ ? coding_->words() : naming_ ? naming_->words() : "";
  }

 private:
  void look_for_code(tui::LaterCode& code) {
    const bool begins = !coding_ && !code.wanted().empty();
    if (begins) {
      coding_for_ = {opened_.back(), code.wanted()};
      coding_ = begin_coding(opened_.back(), code.wanted(), session_.options.symbols);
    }
    if (!coding_ || !coding_->ready_within(begins ? kPatience : std::chrono::milliseconds())) return;
    symbol::FoundCode found = std::exchange(coding_, std::nullopt)->take();
    if (coding_for_.first == opened_.back()) code.put(std::move(coding_for_.second), std::move(found));
  }

  void take(Opened open) {
    opened_.push_back(std::move(open));
    const symbol::ResolveOptions& options = session_.options.symbols;
    if (!profile().without_samples && (opened().names.looked_up || options.look_further()))
      naming_ = begin_naming(opened_.back(), options);
  }

  const ViewSession& session_;
  std::vector<Opened> opened_;  // the last one is shown
  std::optional<Loading> loading_;
  std::optional<Naming> naming_;
  std::optional<symbol::FoundSymbols> better_;
  std::optional<Coding> coding_;
  std::pair<Opened, tui::LaterCode::Sites> coding_for_;  // what it is the code of
  std::string failure_;                                  // why there will be no samples
};

class Session {
 public:
  explicit Session(ViewSession session) : session_(std::move(session)) {}

  tl::expected<int, std::string> run() {
    for (;;) {
      Loading loading = begin_loading(session_, true);
      if (!loading.ready_within(kPatience)) {
        if (auto taken = take_terminal(); !taken) return refused(loading, taken.error());
        if (!wait_for(loading)) return leave();
      }
      const auto open = loading.take();
      if (!open) return give_up(open.error());
      if (auto fits = fit_request(**open, session_.profile, session_.options.request); !fits)
        return give_up(fits.error());
      if (auto taken = take_terminal(); !taken) return tl::unexpected(taken.error());
      if (show(*open) == tui::Outcome::kQuit) return leave();
    }
  }

 private:
  tl::expected<void, std::string> take_terminal() {
    if (terminal_) return {};
    look_.utf8 = output_charset() == render::Charset::kUtf8;
    set_crash_cleanup(tui::Terminal::restore_after_crash);
    auto opened = tui::Terminal::open(use_color(session_.color));
    if (!opened) return tl::unexpected(opened.error());
    terminal_ = std::move(*opened);
    look_.color = terminal_->has_colors();
    return {};
  }

  /// The caller goes on without a terminal, so nothing of ours may still run.
  static tl::unexpected<std::string> refused(Loading& loading, std::string why) {
    static_cast<void>(loading.take());
    return tl::unexpected(std::move(why));
  }

  int give_up(const std::string& sentence) {
    terminal_.reset();
    complain("view", sentence);
    return leave(kExitFailed);
  }

  /// Threads that are still reading have nothing to lose, but must not meet the ends of static objects.
  int leave(int code = kExitOk) {
    terminal_.reset();
    if (unfinished_) std::_Exit(code);
    return code;
  }

  bool wait_for(const Loading& loading) {
    const auto words = [&] {
      return tui::WaitingWords{session_.profile.empty() ? "the newest profile here" : session_.profile,
                               loading.words()};
    };
    const bool loaded = tui::wait_on_terminal(*terminal_, look_, words, [&] { return loading.ready(); });
    unfinished_ |= !loaded;
    return loaded;
  }

  tui::Outcome show(Opened open) {
    session_.options.request.annotate.symbols = session_.options.symbols;
    Behind behind(session_, std::move(open));
    tui::Workspace workspace(behind.profile(), behind.names(), session_.options.request, read_narrow_options,
                             behind.views());
    workspace.look = look_;
    workspace.read_code_later();
    tui::App app(workspace, app_options(session_, behind.opened()));
    if (!session_.function.empty()) app.show(session_.function);
    const tui::Outcome outcome = tui::run_on_terminal(
        app, *terminal_,
        {[&] { return behind.pending(workspace); }, [&] { app.set_news(behind.look(workspace)); }});
    unfinished_ |= behind.pending(workspace);
    session_.screen = app.screen_name();
    return outcome;
  }

  ViewSession session_;
  tui::Look look_;
  std::unique_ptr<tui::Terminal> terminal_;
  bool unfinished_ = false;  // a thread of ours may still run
};

}  // namespace

tl::expected<int, std::string> view_on_terminal(ViewSession session) {
  return Session(std::move(session)).run();
}

tui::AppOptions app_options(const ViewSession& session, const OpenProfile& open) {
  tui::AppOptions options;
  options.title = open.path.substr(open.path.find_last_of('/', open.path.size() - 2) + 1);
  options.option_names = narrow_option_names();
  options.screen = session.screen;
  options.mouse = session.mouse;
  if (!open.names.trouble.empty()) options.note = open.names.trouble;
  if (session.options.request.still_recording)
    options.note = "This profile is still being recorded; r reads it again.";
  return options;
}

}  // namespace varve
