#include "actors/commands/top/top_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace graphmill {

namespace {

using key_kind = top_key::kind;

/// By how many rows a page moves.
constexpr std::ptrdiff_t page_rows = 10;

/// Where a key moves to in a table of so many rows.
std::size_t row_after(std::size_t from, std::size_t rows, key_kind key) {
  if (rows == 0)
    return 0;
  const auto last = static_cast<std::ptrdiff_t>(rows) - 1;
  auto to = static_cast<std::ptrdiff_t>(from);
  switch (key) {
  case key_kind::up:
    to -= 1;
    break;
  case key_kind::down:
    to += 1;
    break;
  case key_kind::page_up:
    to -= page_rows;
    break;
  case key_kind::page_down:
    to += page_rows;
    break;
  case key_kind::first:
    to = 0;
    break;
  case key_kind::last:
    to = last;
    break;
  default:
    break;
  }
  return static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(to, 0, last));
}

void move_selection(top_view& view, key_kind key, const top_data& data) {
  if (pane_in_hand(data, view) == top_pane::daemons) {
    const auto rows = top_daemons(data);
    if (rows.empty())
      return;
    view.daemon =
      rows[row_after(selected_daemon(rows, view), rows.size(), key)].name;
    view.pane = top_pane::daemons; // Also when there are actors again.
    return;
  }
  const auto rows = top_actors(data, view);
  if (!rows.empty())
    view.actor =
      rows[row_after(selected_actor(rows, view), rows.size(), key)].id;
}

/// The daemon that a key is about: the selected one, or that of the actor.
const top_daemon* daemon_in_hand(const std::vector<top_daemon>& daemons,
                                 const top_view& view, const top_data& data) {
  if (daemons.empty())
    return nullptr;
  if (pane_in_hand(data, view) == top_pane::daemons)
    return &daemons[selected_daemon(daemons, view)];
  const auto actors = top_actors(data, view);
  const auto& name = actors[selected_actor(actors, view)].id.daemon;
  const auto found = std::ranges::find(daemons, name, &top_daemon::name);
  return found == daemons.end() ? nullptr : &*found;
}

void ask_to_drain(top_view& view, const top_data& data) {
  const auto daemons = top_daemons(data);
  const auto* daemon = daemon_in_hand(daemons, view, data);
  if (daemon == nullptr)
    view.message = "there is no daemon to drain";
  else if (daemon->status != nullptr
           && daemon->status->state == daemon_state::draining)
    view.asked = {top_command::kind::serve_again, daemon->name};
  else
    view.asked = {top_command::kind::drain, daemon->name};
}

void ask_to_cancel(top_view& view, const top_data& data) {
  if (!data.run)
    view.message = "there is no run to cancel";
  else if (is_over(data.run->state))
    view.message = fmt::format("run {} is over: {}", data.run->id,
                               to_string(data.run->state));
  else
    view.asked = {top_command::kind::cancel, data.run->id};
}

/// The next one of the runs that are on. What was selected is another's.
void show_next_run(top_view& view, const top_data& data) {
  const auto on = runs_that_are_on(data);
  // What was chosen last may be on its way still.
  auto found = std::ranges::find(on, view.run);
  if (found == on.end() && data.run)
    found = std::ranges::find(on, data.run->id);
  if (on.empty() || (on.size() == 1 && found != on.end())) {
    view.message = "no other run is on";
    return;
  }
  view.run = found == on.end() || found + 1 == on.end() ? on.front() : found[1];
  view.actor.reset();
  view.only.clear();
  view.opened = false;
}

/// The log of the daemon that a key is about: of an actor, what it says of the
/// run.
void show_log(top_view& view, const top_data& data) {
  const auto daemons = top_daemons(data);
  const auto* daemon = daemon_in_hand(daemons, view, data);
  if (daemon == nullptr)
    view.message = "there is no daemon whose log could be followed";
  else if (pane_in_hand(data, view) == top_pane::actors && data.run)
    view.followed = {daemon->name, data.run->id};
  else
    view.followed = {daemon->name, {}};
}

/// Enter: the figures of an actor, or the actors of a daemon.
void open_row(top_view& view, const top_data& data) {
  if (pane_in_hand(data, view) == top_pane::actors) {
    const auto rows = top_actors(data, view);
    view.actor = rows[selected_actor(rows, view)].id;
    view.opened = true;
    return;
  }
  const auto rows = top_daemons(data);
  if (rows.empty())
    return;
  view.only = rows[selected_daemon(rows, view)].name;
  view.pane = top_pane::actors;
}

void type_filter(top_view& view, const top_key& key) {
  switch (key.what) {
  case key_kind::letter:
    if (view.filter.size() < longest_top_filter)
      view.filter += key.letter;
    break;
  case key_kind::backspace:
    if (!view.filter.empty())
      view.filter.pop_back();
    break;
  case key_kind::escape:
    view.filter.clear();
    view.typing = false;
    break;
  case key_kind::enter:
    view.typing = false;
    break;
  default:
    break;
  }
}

void press_letter(top_step& step, char letter, const top_data& data) {
  auto& view = step.view;
  switch (letter) {
  case 'q':
    step.end = true;
    break;
  case 's':
    view.sort = (view.sort + 1) % top_sorts().size();
    break;
  case 'r':
    view.reversed = !view.reversed;
    break;
  case '/':
    view.opened = false;
    view.typing = true;
    break;
  case 'd':
    ask_to_drain(view, data);
    break;
  case 'c':
    ask_to_cancel(view, data);
    break;
  case 'l':
    show_log(view, data);
    break;
  case 'n':
    show_next_run(view, data);
    break;
  case 'k':
    move_selection(view, key_kind::up, data);
    break;
  case 'j':
    move_selection(view, key_kind::down, data);
    break;
  default:
    break;
  }
}

/// A key while a log is shown: there is nothing to be moved or sorted.
void press_at_log(top_step& step, const top_key& key, const top_data& data) {
  const auto is_letter = key.what == key_kind::letter;
  if (key.what == key_kind::escape || key.what == key_kind::backspace
      || (is_letter && key.letter == 'l'))
    step.view.followed.reset();
  else if (is_letter
           && std::string_view{"qdc"}.find(key.letter)
                != std::string_view::npos)
    press_letter(step, key.letter, data);
}

/// Leaves what was entered last: an actor's figures, then the filter, then the
/// daemon.
void leave_last(top_view& view) {
  if (view.opened)
    view.opened = false;
  else if (!view.filter.empty())
    view.filter.clear();
  else
    view.only.clear();
}

} // namespace

top_step press(top_view view, const top_key& key, const top_data& data) {
  top_step out{std::move(view), {}, false};
  if (key.what == key_kind::resize)
    return out;
  out.view.message.clear();
  if (out.view.asked) {
    if (key.what == key_kind::letter && key.letter == 'y')
      out.command = std::move(out.view.asked);
    out.view.asked.reset();
    return out;
  }
  if (out.view.typing) {
    type_filter(out.view, key);
    return out;
  }
  if (out.view.followed) {
    press_at_log(out, key, data);
    return out;
  }
  switch (key.what) {
  case key_kind::letter:
    press_letter(out, key.letter, data);
    break;
  case key_kind::enter:
    open_row(out.view, data);
    break;
  case key_kind::escape:
  case key_kind::backspace:
    leave_last(out.view);
    break;
  case key_kind::tab:
    out.view.opened = false;
    out.view.pane = pane_in_hand(data, out.view) == top_pane::actors
                      ? top_pane::daemons
                      : top_pane::actors;
    break;
  default:
    move_selection(out.view, key.what, data);
    break;
  }
  return out;
}

} // namespace graphmill
