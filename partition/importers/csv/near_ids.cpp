#include "partition/importers/csv/near_ids.hpp"

#include "messages/base/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace graphmill {

namespace {

constexpr std::size_t most_bytes_of_near = 60;

/// The letters of U+00C0 to U+017F without their accents; '.' of others.
constexpr char32_t first_accented = 0xC0;
constexpr std::string_view without_accents =
  "AAAAAA.CEEEEIIII.NOOOOO..UUUUY..aaaaaa.ceeeeiiii.nooooo..uuuuy.y"
  "AaAaAaCcCcCcCcDd..EeEeEeEeEeGgGgGgGgHh..IiIiIiIiI...JjKk.LlLlLl."
  "...NnNnNn...OoOoOo..RrRrRrSsSsSsSsTtTt..UuUuUuUuUuUuWwYyYZzZzZz.";

/// What ids may differ in and look the same.
struct likeness {
  bool blanks = false; ///< Also those that are not seen.
  bool accents = false;
  bool zeros = false; ///< Before the first digit, or ".0" behind the last.
  bool capitals = false;
};

/// Takes a character from the front of a text in UTF-8, which is valid.
char32_t take_character(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t bytes = first < 0x80   ? 1
                            : first < 0xE0 ? 2
                            : first < 0xF0 ? 3
                                           : 4;
  char32_t out = bytes == 1 ? first : first & (0x7Fu >> bytes);
  for (std::size_t i = 1; i < bytes && i < text.size(); ++i)
    out = out << 6 | (static_cast<unsigned char>(text[i]) & 0x3Fu);
  text.remove_prefix(std::min(bytes, text.size()));
  return out;
}

bool is_unseen(char32_t c) {
  constexpr auto blanks = std::to_array<char32_t>(
    {' ', '\t', 0xA0, 0x200B, 0x200C, 0x200D, 0x202F, 0x2060, 0xFEFF});
  return std::ranges::find(blanks, c) != blanks.end();
}

bool is_accent(char32_t c) {
  return c >= 0x300 && c < 0x370;
}

/// An id without what likeness leaves out.
std::u32string folded(std::string_view id, const likeness& of) {
  std::u32string out;
  while (!id.empty()) {
    auto c = take_character(id);
    if ((of.blanks && is_unseen(c)) || (of.accents && is_accent(c)))
      continue;
    if (const auto at = c - first_accented; of.accents && c >= first_accented
                                            && at < without_accents.size()
                                            && without_accents[at] != '.')
      c = static_cast<char32_t>(without_accents[at]);
    if (of.capitals && c >= 'A' && c <= 'Z')
      c += 'a' - 'A';
    out += c;
  }
  if (!of.zeros)
    return out;
  if (out.ends_with(U".0"))
    out.resize(out.size() - 2);
  const auto first = out.find_first_not_of(U'0');
  out.erase(0, first == out.npos ? std::max<std::size_t>(out.size(), 1) - 1
                                 : first);
  return out;
}

} // namespace

std::string near_id_hint(const id_map& ids, std::string_view id) {
  constexpr likeness any{true, true, true, true};
  const auto wanted = folded(id, any);
  for (node_id node = 0; node < ids.size(); ++node) {
    const auto there = ids.name(node);
    if (folded(there, any) != wanted)
      continue;
    std::string_view differ = "several ways";
    for (const auto& [of, what] :
         {std::pair{likeness{.blanks = true}, "blanks that are not seen"},
          std::pair{likeness{.accents = true}, "how accents are written"},
          std::pair{likeness{.zeros = true}, "zeros"},
          std::pair{likeness{.capitals = true}, "capital letters"}})
      if (folded(there, of) == folded(id, of))
        differ = what;
    return fmt::format(
      "; \"{}\" is, which differs in {}",
      shortened(printable(std::string{there}), most_bytes_of_near), differ);
  }
  return {};
}

} // namespace graphmill
