#pragma once

#include <string_view>

namespace graphmill {

/// Gives each item of a field to `visit`, without the blanks around it.
/// @param separator Empty: the whole field is one item.
template <class Visit>
void for_each_item(std::string_view field, std::string_view separator,
                   Visit visit) {
  const auto trim = [](std::string_view text) {
    const auto begin = text.find_first_not_of(" \t");
    return begin == text.npos
             ? std::string_view{}
             : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
  };
  for (;;) {
    const auto end = separator.empty() ? field.npos : field.find(separator);
    visit(trim(field.substr(0, end)));
    if (end == field.npos)
      return;
    field.remove_prefix(end + separator.size());
  }
}

} // namespace graphmill
