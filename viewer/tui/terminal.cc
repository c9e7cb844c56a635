// SPDX-License-Identifier: MIT
// See terminal.h.
// Context: viewer.
#include "viewer/tui/terminal.h"

#define NCURSES_WIDECHAR 1
#define NCURSES_NOMACROS 1
#include <fmt/format.h>
#include <ncurses.h>
#include <poll.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <iterator>

namespace varve::tui {
namespace {

constexpr int kEscapeDelay = 25;  // ms after ESC in which the rest of a key must come; as in vim over ssh
constexpr int kWait = 500, kBusyWait = 100;  // ms
constexpr size_t kRestoreRoom = 512;

std::atomic<int> caught_signal{0};

/// What restore_after_crash() sends: found out before, for nothing may be looked up then.
struct Restore {
  std::atomic<bool> armed{false};
  termios mode{};
  char sequence[kRestoreRoom];
  size_t size = 0;
};
Restore saved;

/// The first is answered where keys are. One more ends a viewer that draws for long, or for ever.
void on_signal(int number) {
  if (caught_signal.exchange(number) == 0) return;
  Terminal::restore_after_crash();
  signal(number, SIG_DFL);
  raise(number);
}

void append_capability(const char* name) {
  const char* value = tigetstr(name);
  if (value == nullptr || value == reinterpret_cast<const char*>(-1)) return;
  const size_t size = std::strlen(value);
  if (saved.size + size > kRestoreRoom) return;
  std::memcpy(saved.sequence + saved.size, value, size);
  saved.size += size;
}

void append_text(std::string_view text) {
  if (saved.size + text.size() > kRestoreRoom) return;
  std::memcpy(saved.sequence + saved.size, text.data(), text.size());
  saved.size += text.size();
}

/// By Ink. On 256 colours hues of the same lightness that can be told apart on dark and on light grounds.
constexpr std::array<short, kInks> kFewColors = {
    -1, COLOR_WHITE, COLOR_RED, COLOR_YELLOW, COLOR_GREEN, COLOR_BLUE, COLOR_RED, COLOR_GREEN, COLOR_CYAN};
constexpr std::array<short, kInks> kManyColors = {-1, 244, 167, 178, 71, 68, 167, 71, 37};

struct CursesKey {
  wint_t code;
  Key key;
};
constexpr CursesKey kCursesKeys[] = {
    {KEY_UP, key::kUp},
    {KEY_DOWN, key::kDown},
    {KEY_LEFT, key::kLeft},
    {KEY_RIGHT, key::kRight},
    {KEY_PPAGE, key::kPageUp},
    {KEY_NPAGE, key::kPageDown},
    {KEY_HOME, key::kHome},
    {KEY_END, key::kEnd},
    {KEY_BTAB, key::kBackTab},
    {KEY_DC, key::kDelete},
    {KEY_F(1), key::kF1},
    {KEY_ENTER, key::kEnter},
    {KEY_BACKSPACE, key::kBackspace},
};

/// A terminal that is gone answers each read at once, with nothing.
bool hung_up() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return poll(&input, 1, 0) == 1 && (input.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
}

Input key_input(Key key) { return {Input::Kind::kKey, key, {}, {}}; }

Input mouse_input() {
  MEVENT event;
  if (getmouse(&event) != OK) return {};
  Input::Kind kind = Input::Kind::kNothing;
  if (event.bstate & BUTTON4_PRESSED) kind = Input::Kind::kWheelUp;
#ifdef BUTTON5_PRESSED
  if (event.bstate & BUTTON5_PRESSED) kind = Input::Kind::kWheelDown;
#endif
  if (event.bstate & (BUTTON1_PRESSED | BUTTON1_CLICKED)) kind = Input::Kind::kClick;
  if (event.bstate & BUTTON1_DOUBLE_CLICKED) kind = Input::Kind::kDoubleClick;
  return {kind, 0, {size_t(std::max(event.y, 0)), size_t(std::max(event.x, 0))}, {}};
}

}  // namespace

tl::expected<std::unique_ptr<Terminal>, std::string> Terminal::open(bool color) {
  tcgetattr(STDIN_FILENO, &saved.mode);
  SCREEN* screen = newterm(nullptr, stdout, stdin);
  if (screen == nullptr) {
    const char* term = std::getenv("TERM");
    return tl::unexpected(fmt::format("no terminal of type '{}' is known here", term == nullptr ? "" : term));
  }
  set_term(screen);
  std::unique_ptr<Terminal> terminal(new Terminal(screen));
  terminal->start(color);
  return terminal;
}

void Terminal::start(bool color) {
  set_escdelay(kEscapeDelay);
  cbreak();
  noecho();
  nonl();
  curs_set(0);
  keypad(stdscr, TRUE);
  if (color && ::has_colors() && start_color() == OK) {
    use_default_colors();
    colors_ = COLORS;
  }
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    struct sigaction action {};
    action.sa_handler = on_signal;  // without SA_RESTART: a wait for a key ends
    sigaction(number, &action, nullptr);
  }
  // Mouse off is no capability; a terminal without a mouse ignores it, one like vt100 would print it.
  saved.size = 0;
  if (tigetstr("kmous") != nullptr && tigetstr("kmous") != reinterpret_cast<char*>(-1))
    append_text("\x1b[?1000l\x1b[?1006l");
  for (const char* name : {"sgr0", "cnorm", "rmkx", "rmcup"}) append_capability(name);
  saved.armed = true;
}

Terminal::~Terminal() {
  endwin();
  saved.armed = false;  // not before: a second signal may come in between
  delscreen(static_cast<SCREEN*>(screen_));
}

void Terminal::restore_after_crash() {
  if (!saved.armed.exchange(false)) return;
  const ssize_t written = write(STDOUT_FILENO, saved.sequence, saved.size);
  static_cast<void>(written);
  tcsetattr(STDIN_FILENO, TCSANOW, &saved.mode);
}

Size Terminal::size() const { return {size_t(std::max(LINES, 1)), size_t(std::max(COLS, 1))}; }

short Terminal::pair_of(const Style& style) {
  if (colors_ == 0 || (style.ink == Ink::kDefault && style.ground == Ink::kDefault)) return 0;
  const auto pair = short(1 + size_t(style.ground) * kInks + size_t(style.ink));
  if (pair >= COLOR_PAIRS) return style.ground == Ink::kDefault ? 0 : pair_of({.ink = style.ink});
  const auto& colors = colors_ >= 256 ? kManyColors : kFewColors;
  static std::array<bool, kInks * kInks + 1> made{};
  if (!made[size_t(pair)]) init_pair(pair, colors[size_t(style.ink)], colors[size_t(style.ground)]);
  made[size_t(pair)] = true;
  return pair;
}

unsigned Terminal::attributes_of(const Style& style) {
  unsigned result = A_NORMAL;
  if (style.bold) result |= A_BOLD;
  if (style.dim) result |= A_DIM;
  if (style.underline) result |= A_UNDERLINE;
  if (style.reverse) result |= A_REVERSE;
  return result;
}

void Terminal::show(const Canvas& canvas) {
  const Size size = canvas.size(), mine = this->size();
  for (size_t row = 0; row < size.rows && row < mine.rows; ++row) {
    ::move(int(row), 0);
    for (size_t column = 0; column < size.columns && column < mine.columns; ++column) {
      const Cell& cell = canvas.at(row, column);
      if (cell.width == 0) continue;
      const wchar_t text[] = {wchar_t(cell.code), 0};
      cchar_t shown;
      setcchar(&shown, text, attributes_of(cell.style), pair_of(cell.style), nullptr);
      mvadd_wch(int(row), int(column), &shown);
    }
  }
  refresh();
}

void Terminal::redraw() {
  clearok(curscr, TRUE);
  refresh();
}

Input Terminal::read(bool busy) {
  if (caught_signal != 0) return {Input::Kind::kQuit, 0, {}, {}};
  wtimeout(stdscr, busy ? kBusyWait : kWait);
  wint_t code = 0;
  const int kind = get_wch(&code);
  if (caught_signal != 0) return {Input::Kind::kQuit, 0, {}, {}};
  if (kind == ERR) return hung_up() ? Input{Input::Kind::kQuit, 0, {}, {}} : Input{};
  if (kind != KEY_CODE_YES) return key_input(code == '\b' ? key::kBackspace : Key(code));
  if (code == KEY_RESIZE) return {Input::Kind::kResize, 0, {}, size()};
  if (code == KEY_MOUSE) return mouse_input();
  for (const CursesKey& each : kCursesKeys)
    if (each.code == code) return key_input(each.key);
  return {};
}

void Terminal::set_mouse(bool on) {
  if (on == mouse_) return;
  mouse_ = on;
  mouseinterval(0);  // a press counts at once; a second one on the same row opens it
  mousemask(on ? ALL_MOUSE_EVENTS : 0, nullptr);
}

void Terminal::suspend() { raise(SIGTSTP); }  // ncurses' own handler leaves the screen and comes back

}  // namespace varve::tui
