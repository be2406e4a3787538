#include "actors/commands/engine/table_ids.hpp"

#include "partition/dataset/dataset_names.hpp"
#include "partition/files/json_text.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

std::string_view text_in(const mapped_file& file) {
  const auto bytes = file.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

} // namespace

result<std::shared_ptr<const table_ids>>
table_ids::open(const fs::path& dataset, const dataset_info& info,
                node_type_id type) {
  const auto folder = node_folder(dataset, info, type);
  const auto ids = folder / ids_file;
  const auto names = folder / "node_names.txt";
  std::error_code unknown;
  const auto json = !fs::exists(ids, unknown);
  const auto& path = json ? names : ids;
  if (!fs::exists(path, unknown))
    return std::shared_ptr<const table_ids>{};
  const auto count = info.node_types[static_cast<std::size_t>(type)].count;
  auto out = std::make_shared<table_ids>();
  out->file_ = path;
  out->json_ = json;
  GRAPHMILL_TRY(out->text_, mapped_file::open(path));
  const auto text = text_in(out->text_);
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text.find('\n', at);
    if (end == std::string_view::npos || std::ssize(out->ends_) == count)
      break;
    out->ends_.push_back(end);
    at = end + 1;
  }
  const auto read = out->ends_.empty() ? 0 : out->ends_.back() + 1;
  if (std::ssize(out->ends_) != count || read != text.size())
    return fail(ec::invalid_data,
                "{} does not have one line for each of {} nodes: import the "
                "tables again, or move the file away to go without its ids",
                path.string(), count);
  return std::shared_ptr<const table_ids>{std::move(out)};
}

std::string table_ids::of(node_id node) const {
  const auto at = static_cast<std::size_t>(node);
  const auto begin = at == 0 ? 0 : ends_[at - 1] + 1;
  std::string line{text_in(text_).substr(begin, ends_[at] - begin)};
  if (!json_ || !line.starts_with('"'))
    return line;
  const auto value = parse_json(line, "a name");
  return value && value.value().is_string() ? value.value().get<std::string>()
                                            : line;
}

} // namespace graphmill
