#include "partition/partitioners/parts_writer.hpp"

#include "partition/partitioners/pass_writer.hpp"

#include <algorithm>

namespace graphmill {

namespace fs = std::filesystem;

result<std::vector<written_part>>
write_parts(const graph_view& graph, std::span<const part_id> assignment,
            const renumbering& numbers, const fs::path& folder,
            monitor& watch) {
  pass_writer writer{graph, assignment, numbers, watch};
  const auto parts = static_cast<part_id>(numbers.offsets[0].size()) - 1;
  std::vector<written_part> written;
  for (part_id first = 0; first < parts; first += parts_per_pass) {
    GRAPHMILL_TRYV(
      writer.write(first, std::min(parts, first + parts_per_pass), folder));
    for (const auto& part : writer.outputs())
      written.push_back(part.written);
  }
  return written;
}

} // namespace graphmill
