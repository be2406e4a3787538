#pragma once

#include "partition/importers/csv/text/id_map.hpp"

#include <string>
#include <string_view>

namespace graphmill {

/// What an error says behind an id that is not there: an id that is there and
/// looks the same, and how they differ, such as in capital letters, leading
/// zeros, blanks that are not seen, or how accents are written. Empty: none
/// does. Looks at all ids.
std::string near_id_hint(const id_map& ids, std::string_view id);

} // namespace graphmill
