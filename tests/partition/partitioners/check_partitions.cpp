#include "tests/partition/partitioners/check_partitions.hpp"

#include "partition/dataset/proved_arrays.hpp"
#include "partition/dataset/shard.hpp"
#include "tests/support/result.hpp"

#include <nlohmann/json.hpp>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <span>
#include <string>

namespace graphmill::test {

namespace fs = std::filesystem;
using nlohmann::json;

json read_json(const fs::path& path) {
  std::ifstream in{path};
  return json::parse(in);
}

namespace {

std::vector<std::int64_t> ints(const npy_array& array) {
  if (array.type() == dtype::int32) {
    const auto values = value_of(array.as<std::int32_t>());
    return {values.begin(), values.end()};
  }
  const auto values = value_of(array.as<std::int64_t>());
  return {values.begin(), values.end()};
}

std::vector<std::int64_t> ints(const fs::path& path) {
  return ints(value_of(npy_array::open(path)));
}

std::string text_of(const npy_array& array, std::int64_t first,
                    std::int64_t count) {
  const auto row =
    static_cast<std::int64_t>(size_of(array.type()) * array.size()
                              / std::max<std::int64_t>(1, array.rows()));
  return {reinterpret_cast<const char*>(array.data()) + first * row,
          static_cast<std::size_t>(count * row)};
}

/// A partitioned dataset as an independent reader sees it.
struct reading {
  const dataset& source;
  fs::path folder;
  json about = read_json(folder / "partitions.json");
  int parts = about["parts"];
  std::vector<dataset> part_data;
  /// [type][global id]
  std::vector<std::vector<std::int64_t>> originals;

  reading(const dataset& data, fs::path where)
    : source(data), folder(std::move(where)) {
    for (int p = 0; p < parts; ++p)
      part_data.push_back(value_of(dataset::open(part_folder(p))));
    for (const auto& type : source.info().node_types) {
      std::vector<std::int64_t> ids;
      for (int p = 0; p < parts; ++p)
        for (auto id :
             ints(part_folder(p) / "nodes" / type.name / "original_ids.npy"))
          ids.push_back(id);
      originals.push_back(std::move(ids));
    }
  }

  fs::path part_folder(int p) const {
    return folder / ("part-" + std::to_string(p));
  }
  std::int64_t offset(node_type_id type, int p) const {
    return about["offsets"][source.info().node_types[type].name][p];
  }
};

void check_nodes(const reading& in, node_type_id type) {
  const auto& about = in.source.info().node_types[type];
  CATCH_INFO("node type " << about.name);
  auto originals = in.originals[type];
  CATCH_REQUIRE(std::ssize(originals) == about.count);
  CATCH_CHECK(in.offset(type, 0) == 0);
  CATCH_CHECK(in.offset(type, in.parts) == about.count);
  for (int p = 0; p < in.parts; ++p) {
    const auto begin = in.offset(type, p);
    const auto end = in.offset(type, p + 1);
    const auto& part = in.part_data[p];
    CATCH_REQUIRE(part.info().node_types[type].count == end - begin);
    CATCH_CHECK(
      std::is_sorted(originals.begin() + begin, originals.begin() + end));
    for (auto i = begin; i < end; ++i) {
      const auto& from = in.source.nodes(type);
      const auto& to = part.nodes(type);
      CATCH_REQUIRE(from.features.has_value() == to.features.has_value());
      if (from.features)
        CATCH_REQUIRE(text_of(*from.features, originals[i], 1)
                      == text_of(*to.features, i - begin, 1));
      if (from.labels)
        CATCH_REQUIRE(text_of(*from.labels, originals[i], 1)
                      == text_of(*to.labels, i - begin, 1));
    }
  }
  std::sort(originals.begin(), originals.end());
  for (std::int64_t i = 0; i < about.count; ++i)
    CATCH_REQUIRE(originals[i] == i);
}

void check_edges(const reading& in, edge_type_id type) {
  const auto& about = in.source.info().edge_types[type];
  CATCH_INFO("edge type " << in.source.info().edge_type_name(type));
  const auto& whole = in.source.edges(type);
  const auto indptr = ints(whole.indptr);
  const auto indices = ints(whole.indices);
  const auto in_degrees = ints(whole.in_degrees);
  const auto out_degrees = ints(whole.out_degrees);
  std::int64_t edges = 0;
  for (int p = 0; p < in.parts; ++p) {
    const auto& part = in.part_data[p].edges(type);
    const auto begin = ints(part.indptr);
    const auto list = ints(part.indices);
    const auto first =
      ints(in.part_folder(p) / "edges" / in.source.info().edge_type_name(type)
           / "original_begin.npy");
    CATCH_CHECK(part.indices.type() == dtype::int32);
    CATCH_REQUIRE(first.size() + 1 == begin.size());
    CATCH_CHECK(in.part_data[p].info().edge_types[type].max_in_degree
                == about.max_in_degree);
    const auto owned_from = in.offset(about.destination, p);
    for (std::size_t row = 0; row < first.size(); ++row) {
      const auto node = in.originals[about.destination][owned_from + row];
      CATCH_REQUIRE(first[row] == indptr[node]);
      CATCH_REQUIRE(begin[row + 1] - begin[row]
                    == indptr[node + 1] - indptr[node]);
      CATCH_REQUIRE(ints(part.in_degrees)[row] == in_degrees[node]);
      for (auto i = begin[row]; i < begin[row + 1]; ++i)
        CATCH_REQUIRE(in.originals[about.source][list[i]]
                      == indices[first[row] + i - begin[row]]);
    }
    edges += begin.back();
    const auto degrees = ints(part.out_degrees);
    for (std::size_t row = 0; row < degrees.size(); ++row)
      CATCH_REQUIRE(
        degrees[row]
        == out_degrees[in.originals[about.source]
                                   [in.offset(about.source, p) + row]]);
  }
  CATCH_CHECK(edges == about.count);
}

void check_seeds(const reading& in) {
  const auto target = in.source.info().target;
  const auto& name = in.source.info().node_types[target].name;
  for (auto which : all_splits) {
    const auto file = std::string{file_stem(which)} + ".npy";
    const auto& array =
      in.source.nodes(target).splits[static_cast<std::size_t>(which)];
    const auto wanted = array ? ints(*array) : std::vector<std::int64_t>{};
    const auto global = ints(in.folder / "seeds" / name / file);
    CATCH_REQUIRE(global.size() == wanted.size());
    std::vector<std::vector<std::int64_t>> local(in.parts);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      CATCH_REQUIRE(in.originals[target][global[i]] == wanted[i]);
      int p = 0;
      while (global[i] >= in.offset(target, p + 1))
        ++p;
      local[p].push_back(global[i] - in.offset(target, p));
    }
    for (int p = 0; p < in.parts && array; ++p)
      CATCH_CHECK(ints(in.part_folder(p) / "nodes" / name / file) == local[p]);
  }
}

/// The maps between original and global ids.
void check_orders(const reading& in) {
  const auto graph = value_of(partitioned_graph::open(in.folder));
  for (std::size_t t = 0; t < in.originals.size(); ++t) {
    const auto file = in.source.info().node_types[t].name + ".npy";
    const auto& originals = in.originals[t];
    CATCH_CHECK(ints(in.folder / "originals" / file) == originals);
    std::vector<std::int64_t> order(originals.size());
    for (std::size_t global = 0; global < originals.size(); ++global)
      order[originals[global]] = static_cast<std::int64_t>(global);
    const auto array = value_of(npy_array::open(in.folder / "order" / file));
    CATCH_CHECK(array.type() == dtype::int32);
    CATCH_CHECK(ints(array) == order);
    CATCH_CHECK(value_of(graph.order(static_cast<node_type_id>(t))) == order);
  }
}

/// The digest of a part, from its files.
std::string digest_of(const reading& in, int p) {
  std::string bytes;
  const auto add = [&](const fs::path& path) {
    if (!fs::exists(path))
      return;
    const auto array = value_of(npy_array::open(path));
    bytes += text_of(array, 0, array.rows());
  };
  const auto& info = in.source.info();
  for (const auto& type : info.node_types)
    for (const auto* name :
         {"original_ids", "features", "labels", "train", "val", "test"})
      add(in.part_folder(p) / "nodes" / type.name
          / (std::string{name} + ".npy"));
  for (edge_type_id t = 0; t < std::ssize(info.edge_types); ++t)
    for (const auto* name :
         {"indptr", "indices", "in_degrees", "out_degrees", "original_begin"})
      add(in.part_folder(p) / "edges" / info.edge_type_name(t)
          / (std::string{name} + ".npy"));
  const auto hash = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

/// The digest of all that partitions.json says beside it.
std::string own_digest_of(const json& about) {
  auto rest = about;
  rest.erase("own_digest");
  const auto text = rest.dump();
  const auto hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

/// Each array with a row for each node has a tree, and its root stands in
/// partitions.json.
void check_blocks(const reading& in, int p) {
  const auto& roots = in.about["block_digests"][p];
  std::size_t arrays = 0;
  for (node_type_id t = 0; t < std::ssize(in.source.info().node_types); ++t) {
    const auto& type = in.part_data[p].info().node_types[t];
    for (auto which : all_proved_arrays) {
      const auto folder = in.part_folder(p) / "nodes" / type.name;
      if (!fs::exists(folder / file_of(which)))
        continue;
      ++arrays;
      const auto array = value_of(npy_array::open(folder / file_of(which)));
      const auto text = text_of(array, 0, array.rows());
      const auto tree = tree_over(std::as_bytes(std::span{text}),
                                  layout_of(type, array.rows(), which));
      const auto written =
        value_of(npy_array::open(folder / tree_file_of(which)));
      CATCH_REQUIRE(written.rows() == std::ssize(tree));
      CATCH_CHECK(text_of(written, 0, written.rows())
                  == std::string(reinterpret_cast<const char*>(tree.data()),
                                 tree.size() * sizeof(block_digest)));
      CATCH_CHECK(roots["nodes/" + type.name + "/" + file_of(which)]
                  == (tree.empty() ? "" : to_string(tree.back())));
    }
  }
  CATCH_CHECK(roots.size() == arrays);
}

void check_report(const reading& in, const partition_report& report) {
  std::int64_t cut = 0;
  for (int p = 0; p < in.parts; ++p) {
    std::set<std::pair<node_type_id, std::int64_t>> halo;
    std::int64_t here = 0;
    std::int64_t in_edges = 0;
    for (edge_type_id t = 0; t < std::ssize(in.source.info().edge_types); ++t) {
      const auto source = in.source.info().edge_types[t].source;
      for (auto id : ints(in.part_data[p].edges(t).indices)) {
        ++in_edges;
        if (id >= in.offset(source, p) && id < in.offset(source, p + 1))
          continue;
        ++here;
        halo.emplace(source, id);
      }
    }
    CATCH_CHECK(report.part_rows[p].cut_edges == here);
    CATCH_CHECK(report.part_rows[p].in_edges == in_edges);
    CATCH_CHECK(report.part_rows[p].halo == std::ssize(halo));
    CATCH_CHECK(report.part_rows[p].bytes > 0);
    cut += here;
  }
  CATCH_CHECK(report.cut_edges == cut);
  for (const auto& row : report.balance) {
    CATCH_INFO(row.constraint << ": " << row.largest << " of " << row.total);
    // 5 % of the mean, or what a whole node more makes of it.
    const auto cap = std::max(std::floor(row.mean * 1.05),
                              std::round(row.best_possible * row.mean));
    CATCH_CHECK(static_cast<double>(row.largest) <= cap);
  }
}

} // namespace

void check_partitions(const dataset& source, const fs::path& folder,
                      const partition_report& report) {
  const reading in{source, folder};
  for (node_type_id t = 0; t < std::ssize(source.info().node_types); ++t)
    check_nodes(in, t);
  for (edge_type_id t = 0; t < std::ssize(source.info().edge_types); ++t)
    check_edges(in, t);
  check_seeds(in);
  check_orders(in);
  check_report(in, report);
  CATCH_CHECK(in.about["own_digest"] == own_digest_of(in.about));
  CATCH_CHECK(in.about["source_digest"] == source.info().digest);
  CATCH_CHECK(in.about["dataset"]
              == read_json(source.folder() / "dataset.json"));
  for (int p = 0; p < in.parts; ++p) {
    CATCH_CHECK(in.about["part_digests"][p] == digest_of(in, p));
    const auto part = read_json(in.part_folder(p) / "dataset.json");
    CATCH_CHECK(part["part"] == json{{"number", p}, {"of", in.parts}});
    check_blocks(in, p);
  }
}

} // namespace graphmill::test
