#include "partition/dataset/meaning/type_name.hpp"

#include "partition/dataset/dataset_names.hpp"

#include <sodium.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include <fmt/format.h>

namespace graphmill {

namespace {

constexpr std::string_view hash_mark = "--";
constexpr std::size_t hash_digits = 12;
constexpr std::size_t longest_stem = 62;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
         || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

/// Whether a text ends like a derived name.
bool ends_like_derived(std::string_view text) {
  const auto end = hash_mark.size() + hash_digits;
  if (text.size() < end
      || text.substr(text.size() - end, hash_mark.size()) != hash_mark)
    return false;
  return std::ranges::all_of(
    text.substr(text.size() - hash_digits),
    [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

/// For people: what of a text can stand in a name, and '-' for runs of others.
std::string stem_of(std::string_view text) {
  std::string stem;
  for (const auto c : text) {
    const auto next = is_plain(c) ? c : '-';
    const auto repeats = (next == '-' || next == '_') && stem.ends_with(next);
    if (!repeats && stem.size() < longest_stem)
      stem += next;
  }
  const auto begin = stem.find_first_not_of("_.-");
  if (begin == stem.npos)
    return "name";
  return stem.substr(begin, stem.find_last_not_of("_.-") - begin + 1);
}

std::string hash_of(std::string_view text) {
  std::array<unsigned char, crypto_generichash_BYTES> hash{};
  crypto_generichash(hash.data(), hash.size(),
                     reinterpret_cast<const unsigned char*>(text.data()),
                     text.size(), nullptr, 0);
  std::string digits;
  for (std::size_t i = 0; i < hash_digits / 2; ++i)
    digits += fmt::format("{:02x}", hash[i]);
  return digits;
}

} // namespace

std::string type_name_for(std::string_view original) {
  if (check_name(original, "") && !ends_like_derived(original))
    return std::string{original};
  return fmt::format("{}{}{}", stem_of(original), hash_mark, hash_of(original));
}

} // namespace graphmill
