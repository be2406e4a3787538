#include "actors/commands/engine/prediction_nodes.hpp"

#include "messages/words/number_text.hpp"
#include "partition/files/file_io.hpp"
#include "partition/files/npy/npy.hpp"
#include "pipelines/definition/yaml/problem.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace graphmill {

namespace {

namespace fs = std::filesystem;

/// A text of ids that is larger than this is a .npy by mistake.
constexpr std::size_t most_list_bytes = std::size_t{1} << 30;

template <class T>
result<std::vector<node_id>> ids_of(const npy_array& array) {
  GRAPHMILL_TRY(const auto values, array.as<T>());
  return std::vector<node_id>(values.begin(), values.end());
}

result<std::vector<node_id>> ids_of_array(const fs::path& file) {
  GRAPHMILL_TRY(const auto array, npy_array::open(file));
  GRAPHMILL_TRYV(array.expect_shape({-1}));
  return array.type() == dtype::int32 ? ids_of<std::int32_t>(array)
                                      : ids_of<std::int64_t>(array);
}

std::string_view without_blanks(std::string_view line) {
  const auto first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos)
    return {};
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

/// Lines without anything in them count, too, so that errors name the line that
/// an editor shows.
result<std::vector<node_id>> ids_of_text(const fs::path& file) {
  GRAPHMILL_TRY(const auto text, read_text(file, most_list_bytes));
  std::vector<node_id> out;
  std::string_view rest = text;
  for (std::int64_t number = 1; !rest.empty(); ++number) {
    const auto end = std::min(rest.find('\n'), rest.size());
    const auto line = without_blanks(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.empty())
      continue;
    const auto id = number_from<node_id>(line);
    if (!id)
      return fail(ec::invalid_argument,
                  "{}, line {}: {} is no id of a node: write one number in a "
                  "line, without a header, or save a .npy of int64",
                  file.string(), number, in_quotes(line));
    out.push_back(*id);
  }
  return out;
}

} // namespace

result<std::vector<node_id>> read_node_list(const fs::path& file,
                                            const node_type_info& type) {
  GRAPHMILL_TRY(auto out, file.extension() == ".npy" ? ids_of_array(file)
                                                     : ids_of_text(file));
  if (out.empty())
    return fail(ec::invalid_argument, "{} names no node", file.string());
  std::size_t unknown = 0;
  std::size_t first = 0;
  for (auto i = out.size(); i-- > 0;)
    if (out[i] < 0 || out[i] >= type.count) {
      ++unknown;
      first = i;
    }
  if (unknown > 0)
    return fail(ec::not_found,
                "{} names nodes of type {} that there are not: {} of {}, first "
                "{} as number {} of the list; ids go from 0 to {}",
                file.string(), in_quotes(type.name), unknown, out.size(),
                out[first], first + 1, type.count - 1);
  return out;
}

} // namespace graphmill
