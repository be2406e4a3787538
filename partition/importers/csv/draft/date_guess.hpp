#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// Finds the patterns by which all dates of a column can be read, such as
/// "%d.%m.%Y" for 31.05.2024. Knows days, months and years in numbers, in any
/// usual order, with dots, slashes or dashes between them, and a time behind
/// them. Value type.
class date_guess {
public:
  void add(std::string_view field);

  /// The patterns that read that many fields. Several: the order is unclear.
  std::vector<std::string> patterns(std::int64_t fields) const;

private:
  std::map<std::string, std::int64_t, std::less<>> read_; ///< By pattern.
};

} // namespace graphmill
