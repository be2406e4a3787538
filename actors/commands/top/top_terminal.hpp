#pragma once

#include "actors/commands/top/top_keys.hpp"
#include "actors/commands/top/top_screen.hpp"
#include "messages/base/error.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

namespace graphmill {

/// Whether standard input and output are a terminal on which text can be put
/// anywhere: one of another kind, "dumb" for instance, takes lines alone. Takes
/// up the user's character set: to be called before there are threads.
bool is_drawable_terminal();

/// The terminal as a screen, by ncurses, from construction to destruction,
/// which leaves it as it was. Colours unless NO_COLOR is set to something
/// (no-color.org) or it has none. Of one thread; at most one at a time. Make
/// the `signal_watch` first: what it handles, ncurses leaves alone.
class top_terminal {
public:
  static result<std::unique_ptr<top_terminal>> open();
  ~top_terminal();
  top_terminal(const top_terminal&) = delete;
  top_terminal& operator=(const top_terminal&) = delete;

  /// What there is to draw on now.
  top_canvas canvas() const;

  /// Shows lines instead of those that were shown before.
  void draw(const std::vector<top_line>& lines);

  /// Waits for a key or a signal.
  /// @returns false if the terminal is gone.
  bool wait(std::chrono::milliseconds timeout);

  /// A key that was pressed, if there is one; does not wait. Keys that mean
  /// nothing here are left out.
  std::optional<top_key> key();

private:
  struct screen;

  explicit top_terminal(std::unique_ptr<screen> on);

  std::unique_ptr<screen> screen_;
};

} // namespace graphmill
