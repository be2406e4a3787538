#include "partition/data_records.hpp"

#include "partition/dataset_names.hpp"
#include "partition/digest.hpp"
#include "partition/file_io.hpp"

#include <nlohmann/json.hpp>

#include <iterator>
#include <map>
#include <string>
#include <system_error>
#include <utility>

namespace graphmill {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

using records = std::vector<digest_record>;
using digest_table = std::map<std::string, std::string>;

constexpr std::size_t largest_json = std::size_t{1} << 28;

/// A table of digests in a JSON file; empty if it has none.
result<digest_table> read_digests(const fs::path& file, const char* field) {
  TRY(const auto text, read_text(file, largest_json));
  try {
    const auto about = json::parse(text);
    return about.contains(field) ? about[field].get<digest_table>()
                                 : digest_table{};
  } catch (const json::exception& broken) {
    return fail(ec::invalid_data, "{} is broken: {}", file.string(),
                broken.what());
  }
}

result<digest_record::piece> piece_of(std::string text,
                                      const npy_array& array) {
  TRY(const auto stamp, stamp_file(array.path()));
  return digest_record::piece{
    .text = std::move(text),
    .file = array.path(),
    .stamp = stamp,
    .offset = static_cast<std::uint64_t>(array.data()
                                         - array.file().bytes().data()),
    .bytes =
      static_cast<std::uint64_t>(array.size()) * size_of(array.type())};
}

/// A record of each array that has one.
result<records> table_records(std::span<const npy_array* const> arrays,
                              const digest_table& digests,
                              const fs::path& folder) {
  records out;
  for (const auto* array : arrays) {
    const auto at =
      digests.find(array->path().lexically_relative(folder).string());
    if (at == digests.end())
      continue;
    TRY(auto piece, piece_of({}, *array));
    out.push_back({array->path(), at->second, {std::move(piece)}});
  }
  return out;
}

/// One record of all arrays, if there is one.
result<records> record_of_all(const dataset& data,
                              std::vector<digest_piece> content) {
  if (data.info().digest.empty())
    return records{};
  digest_record out{data.folder(), data.info().digest, {}};
  for (auto& [text, array] : content) {
    if (array == nullptr) {
      out.pieces.push_back({.text = std::move(text)});
      continue;
    }
    TRY(auto piece, piece_of(std::move(text), *array));
    out.pieces.push_back(std::move(piece));
  }
  return records{std::move(out)};
}

/// Those that lie below the folder, whatever the table says.
result<records> records_of_seeds(const fs::path& folder) {
  const auto book = folder / "partitions.json";
  TRY(const auto digests, read_digests(book, "seed_digests"));
  std::vector<npy_array> seeds;
  for (const auto& [name, digest] : digests)
    if (const fs::path path{name}; path.is_relative() && *path.begin() == "seeds"
                                   && path.lexically_normal() == path) {
      TRY(auto array, npy_array::open(folder / path));
      seeds.push_back(std::move(array));
    }
  std::vector<const npy_array*> arrays;
  for (const auto& array : seeds)
    arrays.push_back(&array);
  return table_records(arrays, digests, folder);
}

} // namespace

result<std::vector<digest_record>> records_of(const dataset& data) {
  TRY(const auto digests,
      read_digests(data.folder() / "dataset.json", "array_digests"));
  if (digests.empty())
    return record_of_all(data, content_of(data));
  return table_records(arrays_of(data), digests, data.folder());
}

result<std::vector<digest_record>> records_of_part(const fs::path& dataset,
                                                   part_id part) {
  const auto folder = dataset / fmt::format("part-{}", part);
  TRY(const auto data, graphmill::dataset::open(folder));
  TRY(const auto digests, read_digests(folder / "dataset.json", //
                                       "array_digests"));
  const auto& info = data.info();
  std::vector<npy_array> original_ids;
  for (node_type_id t = 0; t < std::ssize(info.node_types); ++t) {
    TRY(auto array,
        npy_array::open(node_folder(folder, info, t) / "original_ids.npy"));
    original_ids.push_back(std::move(array));
  }
  std::vector<npy_array> original_begin;
  for (edge_type_id t = 0; t < std::ssize(info.edge_types); ++t) {
    TRY(auto array,
        npy_array::open(edge_folder(folder, info, t) / "original_begin.npy"));
    original_begin.push_back(std::move(array));
  }
  if (digests.empty())
    return record_of_all(data,
                         content_of_part(data, original_ids, original_begin));
  auto arrays = arrays_of(data);
  for (const auto* more : {&original_ids, &original_begin})
    for (const auto& array : *more)
      arrays.push_back(&array);
  return table_records(arrays, digests, folder);
}

result<std::vector<digest_record>>
records_in(const fs::path& folder, std::span<const part_id> parts) {
  std::error_code unreadable;
  if (!fs::exists(folder / "partitions.json", unreadable)) {
    TRY(const auto data, dataset::open(folder));
    return records_of(data);
  }
  TRY(auto out, records_of_seeds(folder));
  for (auto part : parts) {
    TRY(auto more, records_of_part(folder, part));
    out.insert(out.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
  }
  return out;
}

} // namespace graphmill
