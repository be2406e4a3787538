// Functions instead of macros with names such as `move` and `clear`.
#define NCURSES_NOMACROS

#include "actors/commands/top/top_terminal.hpp"

#include <curses.h>
#include <langinfo.h>
#include <poll.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <utility>

namespace graphmill {

namespace {

/// For how long an escape may be the beginning of a key's name.
constexpr int escape_milliseconds = 25;

constexpr short terminal_default = -1;

bool wants_colours() {
  const auto* no = std::getenv("NO_COLOR");
  return no == nullptr || *no == '\0';
}

/// Colours by style, in pairs of the same number; styles without one have 0.
void prepare_colours() {
  start_color();
  use_default_colors();
  for (const auto& [style, colour] :
       {std::pair{top_style::good, COLOR_GREEN},
        std::pair{top_style::warning, COLOR_YELLOW},
        std::pair{top_style::bad, COLOR_RED}})
    init_pair(static_cast<short>(style), static_cast<short>(colour),
              terminal_default);
}

attr_t attributes_of(top_style style) {
  switch (style) {
  case top_style::title:
  case top_style::selected:
    return A_REVERSE;
  case top_style::heading:
  case top_style::bad:
    return A_BOLD;
  case top_style::faint:
    return A_DIM;
  default:
    return A_NORMAL;
  }
}

short pair_of(top_style style, bool colours) {
  const auto has_one = style == top_style::good || style == top_style::warning
                       || style == top_style::bad;
  return colours && has_one ? static_cast<short>(style) : short{0};
}

std::optional<top_key> meaning_of(int code) {
  using kind = top_key::kind;
  constexpr int escape = 27, del = 127;
  switch (code) {
  case '\r':
  case '\n':
  case KEY_ENTER:
    return top_key{kind::enter};
  case escape:
    return top_key{kind::escape};
  case '\b':
  case del:
  case KEY_BACKSPACE:
    return top_key{kind::backspace};
  case '\t':
    return top_key{kind::tab};
  case KEY_UP:
    return top_key{kind::up};
  case KEY_DOWN:
    return top_key{kind::down};
  case KEY_PPAGE:
    return top_key{kind::page_up};
  case KEY_NPAGE:
    return top_key{kind::page_down};
  case KEY_HOME:
    return top_key{kind::first};
  case KEY_END:
    return top_key{kind::last};
  case KEY_RESIZE:
    return top_key{kind::resize};
  default:
    if (code < ' ' || code >= del)
      return {};
    return top_key{kind::letter, static_cast<char>(code)};
  }
}

} // namespace

struct top_terminal::screen {
  SCREEN* handle = nullptr;
  bool colours = false;
  bool unicode = false;
};

result<std::unique_ptr<top_terminal>> top_terminal::open() {
  auto on = std::make_unique<screen>();
  on->unicode = std::string_view{nl_langinfo(CODESET)} == "UTF-8";
  on->handle = newterm(nullptr, stdout, stdin);
  if (on->handle == nullptr)
    return fail(ec::invalid_argument,
                "this terminal cannot be drawn on: set TERM "
                "to what it is, or use `graphmill status RUN "
                "--watch`");
  cbreak();
  noecho();
  nonl();
  keypad(stdscr, TRUE);
  nodelay(stdscr, TRUE);
  set_escdelay(escape_milliseconds);
  curs_set(0);
  on->colours = wants_colours() && has_colors();
  if (on->colours)
    prepare_colours();
  return std::unique_ptr<top_terminal>{new top_terminal{std::move(on)}};
}

top_terminal::top_terminal(std::unique_ptr<screen> on)
  : screen_(std::move(on)) {}

top_terminal::~top_terminal() {
  endwin();
  delscreen(screen_->handle);
}

top_canvas top_terminal::canvas() const {
  return {getmaxy(stdscr), getmaxx(stdscr), screen_->unicode};
}

void top_terminal::draw(const std::vector<top_line>& lines) {
  erase();
  int row = 0;
  for (const auto& line : lines) {
    move(row++, 0);
    for (const auto& span : line) {
      attr_set(attributes_of(span.style), pair_of(span.style, screen_->colours),
               nullptr);
      // In the last cell of all the cursor cannot go on, which is no failure.
      addnstr(span.text.data(), static_cast<int>(span.text.size()));
    }
  }
  attr_set(A_NORMAL, 0, nullptr);
  refresh();
}

bool top_terminal::wait(std::chrono::milliseconds timeout) {
  pollfd waited{STDIN_FILENO, POLLIN, 0};
  if (poll(&waited, 1, static_cast<int>(timeout.count())) <= 0)
    return true; // Also a signal, such as that of another size.
  return (waited.revents & (POLLHUP | POLLERR | POLLNVAL)) == 0;
}

std::optional<top_key> top_terminal::key() {
  for (;;) {
    const auto code = getch();
    if (code == ERR)
      return {};
    if (auto known = meaning_of(code))
      return known;
  }
}

} // namespace graphmill
