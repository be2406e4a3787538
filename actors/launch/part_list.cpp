#include "actors/launch/part_list.hpp"

#include "messages/words/number_text.hpp"
#include "partition/dataset/shard.hpp"

#include <algorithm>

namespace graphmill {

namespace {

constexpr std::string_view no_parts = "none";
constexpr std::string_view any_part = "any";

result<part_id> parse_part(std::string_view text, std::string_view whole) {
  const auto value = number_from<part_id>(text);
  if (!value || *value < 0 || *value >= most_parts)
    return fail(ec::invalid_argument,
                "`{}` in `{}` is no part: give parts and ranges, as in 0,2-4",
                text, whole);
  return *value;
}

} // namespace

result<std::vector<part_id>> parse_parts(std::string_view text) {
  std::vector<part_id> out;
  if (text == no_parts)
    return out;
  auto rest = text;
  for (auto more = true; more;) {
    const auto comma = rest.find(',');
    const auto item = rest.substr(0, comma);
    const auto dash = item.find('-');
    GRAPHMILL_TRY(const auto first, parse_part(item.substr(0, dash), text));
    auto last = first;
    if (dash != std::string_view::npos) {
      GRAPHMILL_TRY(last, parse_part(item.substr(dash + 1), text));
    }
    if (last < first)
      return fail(ec::invalid_argument, "the range `{}` ends before it begins",
                  item);
    for (auto part = first; part <= last; ++part)
      out.push_back(part);
    more = comma != std::string_view::npos;
    if (more)
      rest = rest.substr(comma + 1);
    if (out.size() > static_cast<std::size_t>(most_parts))
      return fail(ec::invalid_argument, "`{}` names too many parts", text);
  }
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

result<std::optional<std::vector<part_id>>>
parse_served_parts(std::string_view text) {
  std::optional<std::vector<part_id>> out;
  if (text != any_part) {
    GRAPHMILL_TRY(out, parse_parts(text));
  }
  return out;
}

std::string to_part_text(std::span<const part_id> parts) {
  std::string out;
  for (std::size_t i = 0; i < parts.size();) {
    auto last = i;
    while (last + 1 < parts.size() && parts[last + 1] == parts[last] + 1)
      ++last;
    if (!out.empty())
      out += ',';
    out += std::to_string(parts[i]);
    // Two in a row are shorter as a list of two.
    if (last > i)
      out += (last == i + 1 ? ',' : '-') + std::to_string(parts[last]);
    i = last + 1;
  }
  return out;
}

std::vector<part_id> deal_parts(part_id parts, std::uint32_t index,
                                std::uint32_t daemons) {
  if (parts <= 0)
    return {};
  const auto turn =
    static_cast<part_id>(daemons > static_cast<std::uint32_t>(parts)
                           ? index % static_cast<std::uint32_t>(parts)
                           : index);
  std::vector<part_id> out;
  for (std::int64_t part = turn; part < parts; part += daemons)
    out.push_back(static_cast<part_id>(part));
  return out;
}

} // namespace graphmill
