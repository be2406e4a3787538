#pragma once

#include "actors/commands/top/top_model.hpp"

#include <optional>

namespace graphmill {

/// A key as a terminal tells it.
struct top_key {
  enum class kind : std::uint8_t {
    letter, ///< A printable character of ASCII.
    enter,
    escape,
    backspace,
    tab,
    up,
    down,
    page_up,
    page_down,
    first,
    last,
    resize, ///< No key: the terminal has another size.
  };
  kind what = kind::letter;
  char letter = ' ';
};

/// What becomes of a key.
struct top_step {
  top_view view;
  std::optional<top_command> command; ///< To be carried out.
  bool end = false;
};

/// The longest filter, in bytes.
inline constexpr std::size_t longest_top_filter = 64;

/// What a key does. What changes something in the cluster is first asked for
/// (`top_view::asked`), and carried out after y alone.
top_step press(top_view view, const top_key& key, const top_data& data);

} // namespace graphmill
