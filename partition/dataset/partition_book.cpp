#include "partition/dataset/partition_book.hpp"

#include "partition/dataset/dataset_names.hpp"
#include "partition/dataset/digest.hpp"
#include "partition/dataset/proved_arrays.hpp"
#include "partition/dataset/shard.hpp"
#include "partition/files/json_text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace graphmill {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// Bytes of `partitions.json`: far more than any book needs, and little enough
/// to be read as a whole.
constexpr std::size_t largest_book = std::size_t{1} << 28;

/// Of one part. @param about Roots by path of the array.
result<std::vector<std::array<std::optional<block_digest>, 3>>>
read_roots(const json& about, std::size_t part, const partition_book& book,
           const std::string& where) {
  std::vector<std::array<std::optional<block_digest>, 3>> out;
  for (std::size_t t = 0; t < book.info.node_types.size(); ++t) {
    const auto& type = book.info.node_types[t];
    const auto& cuts = book.offsets[t];
    auto& roots = out.emplace_back();
    for (auto which : all_proved_arrays) {
      if (!has_array(type, which) || cuts[part] == cuts[part + 1])
        continue;
      const auto path = fmt::format("nodes/{}/{}", type.name, file_of(which));
      const auto text = about.at(path).get<std::string>();
      auto& root = roots[static_cast<std::size_t>(which)];
      root = parse_block_digest(text);
      if (!root)
        return fail(ec::invalid_data,
                    "{}: the digest of the blocks of {} of part {} is \"{}\", "
                    "not 64 hexadecimal digits",
                    where, path, part, text);
    }
  }
  return out;
}

result<std::vector<node_id>> read_offsets(const json& offsets,
                                          const node_type_info& type,
                                          std::size_t parts,
                                          const std::string& where) {
  std::vector<node_id> cuts;
  for (const auto& cut : offsets.at(type.name))
    cuts.push_back(integer_of(cut).value_or(-1));
  if (cuts.size() != parts + 1 || cuts.front() != 0 || cuts.back() != type.count
      || !std::is_sorted(cuts.begin(), cuts.end()))
    return fail(ec::invalid_data,
                "{}: the offsets of \"{}\" should be {} ascending numbers from "
                "0 to {}",
                where, type.name, parts + 1, type.count);
  return cuts;
}

result<partition_book> read_book(const json& in, const std::string& where) {
  const auto version = integer_of(in.at("format_version")).value_or(-1);
  if (version < 1)
    return fail(ec::invalid_data,
                "{}: \"format_version\" is no number from 1 on", where);
  if (version > partitions_format_version)
    return fail(ec::version_mismatch,
                "{} has format version {}; this Graphmill reads up to {}: use "
                "a newer one or partition the dataset again",
                where, version, partitions_format_version);
  const auto parts = integer_of(in.at("parts")).value_or(0);
  if (parts < 1 || parts > most_parts)
    return fail(ec::invalid_data, "{}: \"parts\" is {}, not in 1..{}", where,
                in.at("parts").dump(), most_parts);
  partition_book book;
  GRAPHMILL_TRY(book.info, parse_dataset_info(in.at("dataset").dump(), where));
  for (const auto& type : book.info.node_types) {
    GRAPHMILL_TRY(auto cuts,
                  read_offsets(in.at("offsets"), type,
                               static_cast<std::size_t>(parts), where));
    book.offsets.push_back(std::move(cuts));
  }
  book.part_digests = in.at("part_digests").get<std::vector<std::string>>();
  if (std::ssize(book.part_digests) != parts)
    return fail(ec::invalid_data, "{}: {} digests for {} parts", where,
                book.part_digests.size(), parts);
  if (in.contains("order_digests"))
    book.order_digests =
      in["order_digests"].get<std::map<std::string, std::string>>();
  if (!in.contains("block_digests"))
    return book; // Of an older Graphmill.
  const auto& blocks = in["block_digests"];
  if (std::ssize(blocks) != parts)
    return fail(ec::invalid_data, "{}: digests of blocks of {} parts of {}",
                where, blocks.size(), parts);
  for (std::size_t p = 0; p < blocks.size(); ++p) {
    GRAPHMILL_TRY(auto roots, read_roots(blocks[p], p, book, where));
    book.roots.push_back(std::move(roots));
  }
  return book;
}

} // namespace

result<partition_book> read_book(const fs::path& path) {
  GRAPHMILL_TRY(const auto book, read_json(path, largest_book));
  try {
    GRAPHMILL_TRY(auto out, read_book(book, path.string()));
    if (book.contains(own_digest_field)
        && book.at(own_digest_field) != own_digest(book))
      return fail(ec::invalid_data,
                  "{} is damaged: it does not have its own digest: copy it "
                  "again, or partition the dataset again",
                  path.string());
    return out;
  } catch (const json::exception& broken) {
    return fail(ec::invalid_data, "{} is broken: {}", path.string(),
                broken.what());
  }
}

} // namespace graphmill
