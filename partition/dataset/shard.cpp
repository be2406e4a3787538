#include "partition/dataset/shard.hpp"

#include "partition/dataset/dataset_names.hpp"
#include "partition/dataset/digest.hpp"
#include "partition/dataset/proved_arrays.hpp"
#include "partition/files/json_text.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

namespace graphmill {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// Bytes of `partitions.json`: far more than any book needs, and little enough
/// to be read as a whole.
constexpr std::size_t largest_book = std::size_t{1} << 28;

/// What `partitions.json` says, checked.
struct partition_book {
  dataset_info info;
  std::vector<std::vector<node_id>> offsets;
  std::vector<std::string> part_digests;
  /// [part][node type], by `proved_array`.
  std::vector<std::vector<std::array<std::optional<block_digest>, 3>>> roots;
};

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
  if (version < 0)
    return fail(ec::invalid_data, "{}: \"format_version\" is no number", where);
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

/// Files of older versions have no digest of themselves.
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

result<std::vector<node_id>> read_seeds(const fs::path& path,
                                        const node_type_info& type,
                                        std::int64_t size) {
  if (size == 0)
    return std::vector<node_id>{};
  GRAPHMILL_TRY(const auto array, npy_array::open(path));
  GRAPHMILL_TRYV(array.expect_shape({size}));
  GRAPHMILL_TRY(const auto ids, array.as<std::int64_t>());
  std::vector<node_id> seeds{ids.begin(), ids.end()};
  for (auto id : seeds)
    if (id < 0 || id >= type.count)
      return fail(ec::invalid_data, "{}: {} is no node: \"{}\" has {} nodes",
                  path.string(), id, type.name, type.count);
  return seeds;
}

/// Whether the folder of a part belongs to the graph: its types and counts are
/// compared with those of the book. (Its arrays have been compared with its own
/// counts when it was opened.)
result<void> check_part(const dataset_info& part, const dataset_info& whole,
                        std::span<const std::vector<node_id>> offsets,
                        part_id number, const fs::path& folder) {
  const auto alien = [&folder](std::string_view name) {
    return fail(ec::invalid_data,
                "{} is not a part of this graph: {}: partition the dataset "
                "again",
                folder.string(), name);
  };
  if (part.node_types.size() != whole.node_types.size()
      || part.edge_types.size() != whole.edge_types.size())
    return alien("it has other types");
  for (std::size_t t = 0; t < whole.node_types.size(); ++t) {
    const auto& mine = part.node_types[t];
    const auto& type = whole.node_types[t];
    if (mine.name != type.name || mine.feature_width != type.feature_width
        || mine.feature_type != type.feature_type
        || mine.class_count != type.class_count)
      return alien(fmt::format("node type {} differs", t));
    if (mine.count != offsets[t][number + 1] - offsets[t][number])
      return alien(
        fmt::format("it has {} nodes of type \"{}\"", mine.count, type.name));
  }
  for (std::size_t e = 0; e < whole.edge_types.size(); ++e) {
    const auto& mine = part.edge_types[e];
    const auto& type = whole.edge_types[e];
    if (mine.name != type.name || mine.source != type.source
        || mine.destination != type.destination)
      return alien(fmt::format("edge type {} differs", e));
  }
  return ok();
}

/// The mappings behind a shard.
struct opened_part {
  dataset data;
  std::vector<npy_array> more; ///< Arrays that only parts have.

  /// The tree over an array, if there is one.
  result<std::span<const block_digest>> open_tree(const fs::path& path,
                                                  const block_layout& layout) {
    std::error_code unreadable;
    if (!fs::exists(path, unreadable))
      return std::span<const block_digest>{};
    const auto nodes = nodes_of_tree(layout.blocks());
    GRAPHMILL_TRY(auto array, npy_array::open(path));
    GRAPHMILL_TRYV(array.expect_shape({nodes, std::ssize(block_digest{})}));
    GRAPHMILL_TRYV(array.expect_type(dtype::uint8));
    const std::span<const block_digest> digests{
      reinterpret_cast<const block_digest*>(array.data()),
      static_cast<std::size_t>(nodes)};
    more.push_back(std::move(array)); // The mapping stays where it is.
    return digests;
  }

  result<std::span<const std::int64_t>> open(const fs::path& path,
                                             std::int64_t size) {
    GRAPHMILL_TRY(auto array, npy_array::open(path));
    GRAPHMILL_TRYV(array.expect_shape({size}));
    GRAPHMILL_TRY(const auto values, array.as<std::int64_t>());
    more.push_back(std::move(array)); // The mapping stays where it is.
    return values;
  }
};

result<node_shard> node_view(opened_part& part, node_type_id t) {
  const auto& arrays = part.data.nodes(t);
  node_shard out;
  if (arrays.features)
    out.features = arrays.features->data();
  if (arrays.labels) {
    GRAPHMILL_TRY(out.labels, arrays.labels->as<std::int64_t>());
  }
  return out;
}

result<edge_shard> edge_view(opened_part& part, edge_type_id e) {
  const auto& arrays = part.data.edges(e);
  edge_shard out;
  GRAPHMILL_TRY(out.indptr, arrays.indptr.as<std::int64_t>());
  GRAPHMILL_TRY(out.in_degrees, arrays.in_degrees.as<std::int32_t>());
  GRAPHMILL_TRY(out.out_degrees, arrays.out_degrees.as<std::int32_t>());
  out.indices = {arrays.indices.data(), arrays.indices.size(),
                 arrays.indices.type() == dtype::int64};
  return out;
}

} // namespace

std::string file_of(proved_array which) {
  switch (which) {
  case proved_array::features:
    return "features.npy";
  case proved_array::labels:
    return "labels.npy";
  case proved_array::original_ids:
    break;
  }
  return "original_ids.npy";
}

std::string tree_file_of(proved_array which) {
  return fs::path{file_of(which)}.stem().string() + ".blocks.npy";
}

result<partitioned_graph> partitioned_graph::open(const fs::path& folder) {
  const auto book_path = folder / "partitions.json";
  partitioned_graph graph;
  graph.folder_ = folder;
  std::error_code unreadable;
  graph.partitioned_ = fs::exists(book_path, unreadable);
  if (unreadable)
    return fail_errno(unreadable.value(), "cannot look into {}",
                      folder.string());
  partition_book book;
  if (graph.partitioned_) {
    GRAPHMILL_TRY(book, read_book(book_path));
  } else {
    GRAPHMILL_TRY(book.info, read_dataset_info(folder));
    for (const auto& type : book.info.node_types)
      book.offsets.push_back({0, type.count});
  }
  const auto& target = book.info.node_types[book.info.target];
  const auto seed_folder =
    folder / (graph.partitioned_ ? "seeds" : "nodes") / target.name;
  for (auto which : all_splits) {
    const auto i = static_cast<std::size_t>(which);
    GRAPHMILL_TRY(
      graph.seeds_[i],
      read_seeds(seed_folder / fmt::format("{}.npy", file_stem(which)), target,
                 target.split_counts[i]));
  }
  graph.parts_ = std::ssize(book.offsets[0]) - 1;
  graph.offsets_ = std::move(book.offsets);
  graph.part_digests_ = std::move(book.part_digests);
  graph.roots_ = std::move(book.roots);
  graph.info_ = std::make_shared<const dataset_info>(std::move(book.info));
  return graph;
}

part_id partitioned_graph::owner(node_type_id type, node_id global) const {
  const auto& cuts = offsets_[type];
  const auto after = std::upper_bound(cuts.begin() + 1, cuts.end() - 1, global);
  return static_cast<part_id>(after - cuts.begin() - 1);
}

std::optional<block_digest>
partitioned_graph::root_of(part_id part, node_type_id type,
                           proved_array which) const {
  if (!proves_rows())
    return std::nullopt;
  return roots_[static_cast<std::size_t>(part)][static_cast<std::size_t>(type)]
               [static_cast<std::size_t>(which)];
}

result<std::shared_ptr<const shard>>
partitioned_graph::open_shard(part_id part) const {
  if (part < 0 || part >= part_count())
    return fail(ec::invalid_argument, "there is no part {} of {}", part,
                part_count());
  const auto at =
    partitioned_ ? folder_ / fmt::format("part-{}", part) : folder_;
  GRAPHMILL_TRY(auto data, dataset::open(at));
  GRAPHMILL_TRYV(check_part(data.info(), *info_, offsets_, part, at));
  if (partitioned_ && data.info().digest != part_digests_[part])
    return fail(ec::invalid_data,
                "{} is of another partitioning: its digest is {}, but "
                "partitions.json says {}: partition the dataset again",
                at.string(), data.info().digest, part_digests_[part]);
  auto opened = std::make_shared<opened_part>(opened_part{std::move(data), {}});
  auto out = std::make_shared<shard>();
  out->part_ = part;
  out->info_ = info_;
  out->owner_ = opened;
  const auto& info = opened->data.info();
  for (node_type_id t = 0; t < std::ssize(info.node_types); ++t) {
    GRAPHMILL_TRY(auto nodes, node_view(*opened, t));
    nodes.begin = offsets_[t][part];
    nodes.end = offsets_[t][part + 1];
    if (partitioned_) {
      GRAPHMILL_TRY(nodes.original_ids,
                    opened->open(node_folder(at, info, t) / "original_ids.npy",
                                 nodes.end - nodes.begin));
      for (auto which : all_proved_arrays) {
        const auto layout =
          layout_of(info.node_types[t], nodes.end - nodes.begin, which);
        GRAPHMILL_TRY(
          nodes.trees[static_cast<std::size_t>(which)],
          opened->open_tree(node_folder(at, info, t) / tree_file_of(which),
                            layout));
      }
    }
    out->nodes_.push_back(nodes);
  }
  for (edge_type_id e = 0; e < std::ssize(info.edge_types); ++e) {
    GRAPHMILL_TRY(auto edges, edge_view(*opened, e));
    if (partitioned_) {
      GRAPHMILL_TRY(
        edges.original_begin,
        opened->open(edge_folder(at, info, e) / "original_begin.npy",
                     std::ssize(edges.indptr) - 1));
    }
    out->edges_.push_back(edges);
  }
  return std::shared_ptr<const shard>{std::move(out)};
}

} // namespace graphmill
