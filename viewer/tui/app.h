// SPDX-License-Identifier: MIT
// App: the screens, the lines around them, and what a key means. It is driven by inputs and draws on a
// Canvas; a terminal or a script is outside of it. Context: viewer.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "viewer/tui/line_edit.h"
#include "viewer/tui/screen.h"
#include "viewer/tui/workspace.h"

namespace varve::tui {

struct AppOptions {
  std::string title;                      // of the profile
  std::string note;                       // shown first: that the profile is still recorded, say
  std::vector<std::string> option_names;  // "--thread": what the command line completes
  std::string screen = "summary";
  bool mouse = true;
};

enum class Outcome : uint8_t { kGoOn, kQuit, kReload, kRedraw, kSuspend };

class App {
 public:
  App(Workspace& workspace, AppOptions options);

  Canvas draw(Size size);
  Outcome handle(const Input& input);
  /// About this function, where the open screen is about one.
  void show(const std::string& function);
  bool mouse() const { return options_.mouse; }
  /// What goes on behind the screens; stands where the title does, which an empty text brings back.
  void set_news(std::string words) { news_ = std::move(words); }
  /// The name of the screen that is open, for opening it again after a reload.
  std::string_view screen_name() const { return screens()[open_].name; }

 private:
  enum class Ask : uint8_t { kNothing, kSearch, kKeep, kCommand, kShare, kPrint };
  struct Zone {  // what a click in the first or last line means
    size_t row, from, to;
    std::optional<size_t> screen;
    Action action = Action::kNone;
  };
  struct Deed {
    Action action;
    void (*run)(App& app, Key key);  // one that does not go on sets `outcome_`
  };

  Screen& screen();
  void go(size_t index);
  bool go_named(std::string_view name);
  static size_t tabs();
  void go_to_tab(ptrdiff_t step);
  Outcome back();

  void draw_tabs(Pane pane);
  void draw_totals(Pane pane);
  void draw_detail(Pane pane);
  void draw_keys(Pane pane);
  void draw_prompt(Pane pane);

  static std::span<const Deed> deeds();
  Outcome act(Action action, Key key);
  Outcome handle_mouse(const Input& input);
  void narrow(const std::vector<std::string>& words, const std::string& crumb = "");
  void only(Action action);
  void only_object(const Subject& subject);
  void undo();
  void clear();
  void keep(const std::string& text, const analyze::Pattern& pattern);
  void keep_all(const std::vector<std::string>& texts);
  void invert();
  void open_row();
  void open_hot_path();
  void open_digit(Key digit);
  void next_units();
  void next_metric();
  void switch_mouse();
  void annotate();
  void next_match(Direction direction);

  void ask(Ask what, std::string text = "");
  void answer(Key key);
  void follow_search();
  Outcome accept();
  Outcome run_command(const std::string& line);
  void print_to(const std::string& path);
  void complete();
  std::vector<std::string> completions() const;
  std::vector<std::string> names_after(const std::string& word) const;

  Workspace& workspace_;
  AppOptions options_;
  std::vector<std::unique_ptr<Screen>> screens_;  // made when they are first opened
  size_t open_ = 0;
  std::vector<size_t> history_;
  std::vector<Zone> zones_;
  Size size_;
  std::string message_, news_;
  Ask asking_ = Ask::kNothing;
  LineEdit line_;
  std::vector<std::string> commands_;  // typed before
  analyze::Pattern pattern_;
  std::function<void()> search_back_ = [] {};  // to where the search that is typed began
  std::vector<std::string> kept_;              // by screen: the pattern of the rows it keeps; empty: all
  std::vector<std::vector<std::string>> kept_before_;  // what each clear() took, for its undo
  Outcome outcome_ = Outcome::kGoOn;
};

}  // namespace varve::tui
