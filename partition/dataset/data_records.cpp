#include "partition/dataset/data_records.hpp"

#include "partition/dataset/dataset_names.hpp"
#include "partition/dataset/digest.hpp"
#include "partition/dataset/proved_arrays.hpp"
#include "partition/dataset/task_checks.hpp"
#include "partition/files/content_hash.hpp"
#include "partition/files/file_io.hpp"
#include "partition/files/json_text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace graphmill {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

using records = std::vector<digest_record>;
using digest_table = std::map<std::string, std::string>;

constexpr std::size_t largest_json = std::size_t{1} << 28;

/// What a JSON file says of a folder.
struct folder_book {
  std::optional<digest_table> digests; ///< None: written before there were any.
  std::string dataset; ///< The dataset.json of the whole graph, if it has that.
  /// That the file is still what was read here: arrays are checked against what
  /// it says, and it may be put right while they stay as they are.
  digest_record itself;
};

/// @param field The name of its table of digests.
result<folder_book> read_folder_book(const fs::path& file, const char* field) {
  GRAPHMILL_TRY(const auto stamp,
                stamp_file(file)); // Before: a change must show.
  GRAPHMILL_TRY(const auto text, read_text(file, largest_json));
  content_hash hash;
  hash.update(text);
  folder_book out;
  out.itself = {file, hash.digest(), {{.file = file, .stamp = stamp}}};
  out.itself.pieces.front().bytes = text.size();
  GRAPHMILL_TRY(const auto about, parse_json(text, file.string()));
  try {
    if (about.contains(field))
      out.digests = about[field].get<digest_table>();
    if (about.contains("dataset"))
      out.dataset = about["dataset"].dump();
  } catch (const json::exception& broken) {
    return fail(ec::invalid_data, "{} is broken: {}", file.string(),
                broken.what());
  }
  return out;
}

std::string name_within(const fs::path& folder, const fs::path& file) {
  return file.lexically_normal()
    .lexically_relative(folder.lexically_normal())
    .string();
}

result<digest_record::piece> piece_of(std::string text,
                                      const npy_array& array) {
  GRAPHMILL_TRY(const auto stamp, stamp_file(array.path()));
  return digest_record::piece{.text = std::move(text),
                              .file = array.path(),
                              .stamp = stamp,
                              .offset = static_cast<std::uint64_t>(
                                array.data() - array.file().bytes().data()),
                              .bytes = array.bytes().size()};
}

/// Empty if there is none.
std::string digest_in(const digest_table& digests, const fs::path& folder,
                      const fs::path& file) {
  const auto at = digests.find(name_within(folder, file));
  return at == digests.end() ? std::string{} : at->second;
}

/// A record of each array. One that the table lacks has no digest in it.
result<records> table_records(std::span<const npy_array* const> arrays,
                              const digest_table& digests,
                              const fs::path& folder) {
  records out;
  for (const auto* array : arrays) {
    GRAPHMILL_TRY(auto piece, piece_of({}, *array));
    out.push_back({array->path(),
                   digest_in(digests, folder, array->path()),
                   {std::move(piece)}});
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
    GRAPHMILL_TRY(auto piece, piece_of(std::move(text), *array));
    out.pieces.push_back(std::move(piece));
  }
  return records{std::move(out)};
}

/// The digest of all is also over what dataset.json says of the arrays, which
/// those of the arrays are not, so one record has both: the files are read
/// once. What it is not over, or all if there is none, has records of its own.
result<records> records_of_all_and_each(const dataset& data,
                                        const digest_table& digests) {
  GRAPHMILL_TRY(auto records, record_of_all(data, content_of(data)));
  std::set<fs::path> covered;
  for (auto& whole : records) {
    whole.path = data.folder() / "dataset.json";
    for (auto& piece : whole.pieces) {
      if (piece.file.empty())
        continue;
      piece.digest = digest_in(digests, data.folder(), piece.file);
      if (!piece.digest.empty())
        covered.insert(piece.file);
    }
  }
  auto rest = arrays_of(data);
  std::erase_if(rest, [&covered](const npy_array* array) {
    return covered.contains(array->path());
  });
  // First, as they are what is wrong when both are.
  GRAPHMILL_TRY(auto out, table_records(rest, digests, data.folder()));
  std::ranges::move(records, std::back_inserter(out));
  return out;
}

/// Whether a name of a table is one in these folders, whatever the table says.
bool is_name_in(const fs::path& name,
                std::initializer_list<std::string_view> folders) {
  return !name.empty() && name.is_relative() && name.lexically_normal() == name
         && std::ranges::find(folders, name.begin()->string()) != folders.end();
}

/// Of the files of seeds and tasks that are used, and of others that the table
/// has.
result<records> records_of_seeds(const fs::path& folder) {
  GRAPHMILL_TRY(const auto book,
                read_folder_book(folder / "partitions.json", "seed_digests"));
  records out{book.itself};
  if (!book.digests)
    return out;
  GRAPHMILL_TRY(const auto info,
                parse_dataset_info(book.dataset, book.itself.path.string()));
  std::set<fs::path> names;
  for (const auto& [name, digest] : *book.digests)
    if (is_name_in(name, {"seeds", "tasks"}))
      names.insert(name);
  const auto& target = info.node_types[info.target];
  for (auto which : all_splits)
    if (target.split_counts[static_cast<std::size_t>(which)] != 0)
      names.insert(fs::path{"seeds"} / target.name
                   / fmt::format("{}.npy", file_stem(which)));
  for (const auto& task : info.tasks) {
    GRAPHMILL_TRY(const auto opened, open_task(folder, task));
    for (auto which : all_splits)
      if (const auto& rows = opened.splits[static_cast<std::size_t>(which)])
        for (const auto& [name, array] : rows->all())
          names.insert(task_file(task.name, file_stem(which), name));
  }
  for (const auto& name : names) {
    GRAPHMILL_TRY(const auto array, npy_array::open(folder / name));
    GRAPHMILL_TRY(auto found,
                  table_records(std::array{&array}, *book.digests, folder));
    std::ranges::move(found, std::back_inserter(out));
  }
  return out;
}

/// Of the maps between original and global ids, and of times of nodes, that are
/// here: a daemon with a copy of its own parts may lack them.
result<records> records_of_orders(const fs::path& folder) {
  GRAPHMILL_TRY(const auto book,
                read_folder_book(folder / "partitions.json", "order_digests"));
  records out;
  if (!book.digests)
    return out;
  for (const auto& [name, digest] : *book.digests) {
    std::error_code unreadable;
    if (!is_name_in(name, {"order", "originals", "times"})
        || !fs::exists(folder / name, unreadable))
      continue;
    GRAPHMILL_TRY(const auto array, npy_array::open(folder / name));
    GRAPHMILL_TRY(auto found,
                  table_records(std::array{&array}, *book.digests, folder));
    std::ranges::move(found, std::back_inserter(out));
  }
  return out;
}

/// The trees of digests that the table of a part names. Older parts have none.
result<std::vector<npy_array>> trees_of(const dataset& part,
                                        const digest_table& digests) {
  std::vector<npy_array> out;
  const auto& info = part.info();
  for (node_type_id t = 0; t < std::ssize(info.node_types); ++t)
    for (auto which : all_proved_arrays) {
      const auto file =
        node_folder(part.folder(), info, t) / tree_file_of(which);
      if (!digests.contains(name_within(part.folder(), file)))
        continue;
      GRAPHMILL_TRY(auto array, npy_array::open(file));
      out.push_back(std::move(array));
    }
  return out;
}

/// What the arrays say, and the file that says what they are.
result<records> with_book(const folder_book& book, result<records> arrays) {
  if (arrays && !arrays.value().empty())
    arrays.value().push_back(book.itself);
  return arrays;
}

} // namespace

result<std::vector<digest_record>> records_of(const dataset& data) {
  GRAPHMILL_TRY(
    const auto book,
    read_folder_book(data.folder() / "dataset.json", "array_digests"));
  return with_book(book, book.digests
                           ? records_of_all_and_each(data, *book.digests)
                           : record_of_all(data, content_of(data)));
}

result<std::vector<digest_record>> records_of_part(const fs::path& whole,
                                                   part_id part) {
  const auto folder = whole / fmt::format("part-{}", part);
  GRAPHMILL_TRY(const auto data, dataset::open(folder));
  GRAPHMILL_TRY(const auto book,
                read_folder_book(folder / "dataset.json", "array_digests"));
  const auto& info = data.info();
  std::vector<npy_array> original_ids;
  for (node_type_id t = 0; t < std::ssize(info.node_types); ++t) {
    GRAPHMILL_TRY(auto array, npy_array::open(node_folder(folder, info, t)
                                              / "original_ids.npy"));
    original_ids.push_back(std::move(array));
  }
  std::vector<npy_array> original_begin;
  for (edge_type_id t = 0; t < std::ssize(info.edge_types); ++t) {
    GRAPHMILL_TRY(auto array, npy_array::open(edge_folder(folder, info, t)
                                              / "original_begin.npy"));
    original_begin.push_back(std::move(array));
  }
  if (!book.digests)
    return with_book(
      book,
      record_of_all(data, content_of_part(data, original_ids, original_begin)));
  GRAPHMILL_TRY(auto trees, trees_of(data, *book.digests));
  auto arrays = arrays_of(data);
  for (const auto* more : {&original_ids, &original_begin, &trees})
    for (const auto& array : *more)
      arrays.push_back(&array);
  return with_book(book, table_records(arrays, *book.digests, folder));
}

result<std::vector<digest_record>> records_in(const fs::path& folder,
                                              std::span<const part_id> parts) {
  std::error_code unreadable;
  if (!fs::exists(folder / "partitions.json", unreadable)) {
    GRAPHMILL_TRY(const auto data, dataset::open(folder));
    return records_of(data);
  }
  GRAPHMILL_TRY(auto out, records_of_seeds(folder));
  GRAPHMILL_TRY(auto orders, records_of_orders(folder));
  std::ranges::move(orders, std::back_inserter(out));
  for (auto part : parts) {
    GRAPHMILL_TRY(auto more, records_of_part(folder, part));
    out.insert(out.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
  }
  return out;
}

} // namespace graphmill
