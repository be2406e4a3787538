#include "partition/dataset/dataset_names.hpp"
#include "partition/files/half.hpp"
#include "partition/sampling/rows/gather.hpp"
#include "partition/sampling/rows/hot_nodes.hpp"
#include "partition/sampling/rows/packed_rows.hpp"
#include "partition/writing/dataset_writer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <bit>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t nodes_in_all = 4;
constexpr std::int64_t width = 10;
constexpr float tiny = 1e-3f; // That float16 has not.

/// [4, 10]. Zeros with a sign are values.
std::vector<float> sparse_values() {
  std::vector<float> rows(nodes_in_all * width);
  rows[1] = 1.5f;
  rows[7] = -2.0f;
  rows[2 * width + 0] = 3.0f;
  rows[2 * width + 4] = tiny;
  rows[2 * width + 9] = -0.0f;
  rows[3 * width + 5] = 7.0f;
  return rows;
}

node_type_info sparse_type(std::int64_t most) {
  node_type_info out;
  out.name = "node";
  out.count = nodes_in_all;
  out.feature_width = width;
  out.sparse_features = true;
  out.most_row_entries = most;
  return out;
}

dataset_info write_sparse(const fs::path& folder,
                          const std::vector<float>& rows) {
  dataset_info info;
  info.name = "sparse";
  info.node_types = {sparse_type(0)};
  info.edge_types = {{.name = "to"}};
  auto writer = value_of(dataset_writer::create(folder, info, {}));
  // A call may end in the middle of a row.
  value_of(writer.append_features(0, std::span{rows}.first(13)));
  value_of(writer.append_features(0, std::span{rows}.subspan(13)));
  return value_of(writer.finish());
}

std::shared_ptr<const shard> open_whole(const fs::path& folder) {
  return value_of(value_of(partitioned_graph::open(folder)).open_shard(0));
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size()
         && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

std::vector<float> gathered(const shard& part, std::vector<node_id> ids,
                            bool packed, bool rounded) {
  const auto form = row_form::of(part.info().node_types[0]);
  const auto floats = packed ? form.floats() : form.width;
  std::vector<float> out(ids.size() * floats, 9);
  const auto gather = packed ? gather_rows : gather_features;
  value_of(gather(part, 0, ids, {}, out.data(), rounded));
  return out;
}

} // namespace

CATCH_TEST_CASE("rows are packed where that makes them shorter",
                "[partition][packed]") {
  CATCH_CHECK(row_form::of(sparse_type(0)).floats() == 3);
  CATCH_CHECK(row_form::of(sparse_type(3)).floats() == 7);
  CATCH_CHECK(row_form::of(sparse_type(4)).floats() == 9);
  CATCH_CHECK(row_form::of(sparse_type(4)).packed());
  CATCH_CHECK_FALSE(row_form::of(sparse_type(5)).packed());
  CATCH_CHECK(row_form::of(sparse_type(5)).floats() == width);
  auto dense = sparse_type(1);
  dense.sparse_features = false;
  CATCH_CHECK(row_form::of(dense).floats() == width);
  // Half of a packed row are columns, which float16 could not hold.
  CATCH_CHECK(kept_row_bytes(sparse_type(3), true) == 7 * sizeof(float));
  CATCH_CHECK(kept_row_bytes(dense, true) == width * 2);
}

CATCH_TEST_CASE("a packed row has its count, columns and values",
                "[partition][packed]") {
  const auto form = row_form::of(sparse_type(3));
  const std::vector<std::int32_t> columns{2, 7};
  const std::vector<float> values{1.5f, -2.0f};
  std::vector<float> row(form.floats(), 9);
  pack({columns, values}, form, row.data());
  std::vector<std::uint32_t> words;
  for (const auto x : row)
    words.push_back(std::bit_cast<std::uint32_t>(x));
  CATCH_CHECK(
    words == std::vector<std::uint32_t>{2, 2, 7, 0, 0x3fc00000, 0xc0000000, 0});
  CATCH_CHECK(is_sound(row.data(), form));
  std::vector<float> out(width, 9);
  unpack(row.data(), form, out.data());
  CATCH_CHECK(out == std::vector<float>{0, 0, 1.5f, 0, 0, 0, 0, -2.0f, 0, 0});
}

CATCH_TEST_CASE("a packed row that points elsewhere is not sound",
                "[partition][packed]") {
  const auto form = row_form::of(sparse_type(3));
  const auto sound = [&form](std::vector<std::uint32_t> words) {
    words.resize(form.floats());
    std::vector<float> row;
    for (const auto word : words)
      row.push_back(std::bit_cast<float>(word));
    return is_sound(row.data(), form);
  };
  CATCH_CHECK(sound({0}));
  CATCH_CHECK(sound({3, 0, 1, 9}));
  CATCH_CHECK_FALSE(sound({4, 0, 1, 2}));
  CATCH_CHECK_FALSE(sound({~0u, 0, 1, 2}));
  CATCH_CHECK_FALSE(sound({1, 10}));
  CATCH_CHECK_FALSE(sound({1, ~0u}));
  CATCH_CHECK_FALSE(sound({2, 4, 4}));
  CATCH_CHECK_FALSE(sound({2, 4, 3}));
}

CATCH_TEST_CASE("sparse features are written without zeros and read with them",
                "[partition][packed]") {
  temp_folder folder;
  const auto rows = sparse_values();
  const auto info = write_sparse(folder.path(), rows);
  const auto& type = info.node_types[0];
  CATCH_CHECK(type.feature_entries == 6);
  CATCH_CHECK(type.most_row_entries == 3);
  CATCH_CHECK(type.feature_bytes() == 5 * 8 + 6 * (4 + 4));
  const auto again = value_of(read_dataset_info(folder.path()));
  CATCH_CHECK(again.format_version == 3);
  CATCH_CHECK(again.node_types[0].sparse_features);
  CATCH_CHECK(again.node_types[0].feature_entries == 6);
  CATCH_CHECK(again.node_types[0].most_row_entries == 3);
  CATCH_CHECK_FALSE(fs::exists(folder / "nodes/node/features.npy"));

  const auto part = open_whole(folder.path());
  CATCH_CHECK(part->nodes(0).features == nullptr);
  const std::vector<node_id> ids{2, 0, 3, 1, 2};
  std::vector<float> want;
  for (const auto id : ids)
    want.insert(want.end(), rows.begin() + id * width,
                rows.begin() + (id + 1) * width);
  CATCH_CHECK(same_bits(gathered(*part, ids, false, false), want));
  const auto form = row_form::of(part->info().node_types[0]);
  for (const auto rounded : {false, true}) {
    if (rounded)
      for (auto& x : want)
        x = round_to_half(x);
    const auto packed = gathered(*part, ids, true, rounded);
    std::vector<float> out(want.size(), 9);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      CATCH_REQUIRE(is_sound(packed.data() + i * form.floats(), form));
      unpack(packed.data() + i * form.floats(), form, out.data() + i * width);
    }
    CATCH_CHECK(same_bits(out, want));
    CATCH_CHECK(same_bits(gathered(*part, ids, false, rounded), want));
  }
}

CATCH_TEST_CASE("damaged sparse features are named", "[partition][packed]") {
  // In order: row 0 has columns 1, 7; row 2 0, 4, 9; row 3 5.
  const auto error_with = [](auto damage_files) {
    temp_folder folder;
    write_sparse(folder.path(), sparse_values());
    damage_files(folder.path() / "nodes" / "node");
    const auto part = open_whole(folder.path());
    std::vector<float> out(nodes_in_all * width);
    const std::vector<node_id> ids{0, 1, 2, 3};
    const auto unpacked =
      error_of(gather_features(*part, 0, ids, {}, out.data()));
    const auto packed = error_of(gather_rows(*part, 0, ids, {}, out.data()));
    CATCH_CHECK(unpacked.code == ec::invalid_data);
    CATCH_CHECK(packed.message == unpacked.message);
    return unpacked.message;
  };
  using columns = std::vector<std::int32_t>;
  const auto with_columns = [&](columns values) {
    return error_with([values = std::move(values)](const fs::path& type) {
      value_of(
        write_npy<std::int32_t>(type / sparse_indices_file, std::span{values}));
    });
  };
  const std::string of_node = "the sparse features of node ";
  const std::string end = "; `graphmill inspect` says more";
  const auto astray = " of type node do not ascend within its columns" + end;
  CATCH_CHECK(with_columns({1, 7, 0, 4, 10, 5}) == of_node + "2" + astray);
  CATCH_CHECK(with_columns({1, 7, 0, 4, 9, -1}) == of_node + "3" + astray);
  CATCH_CHECK(with_columns({7, 7, 0, 4, 9, 5}) == of_node + "0" + astray);
  const auto with_ends = [&](std::vector<std::int64_t> ends) {
    return error_with([ends = std::move(ends)](const fs::path& type) {
      value_of(
        write_npy<std::int64_t>(type / sparse_indptr_file, std::span{ends}));
    });
  };
  CATCH_CHECK(with_ends({0, 2, 1, 5, 6})
              == of_node + "1 of type node lie outside of their arrays" + end);
  CATCH_CHECK(with_ends({0, 7, 7, 7, 6})
              == of_node + "0 of type node lie outside of their arrays" + end);
  CATCH_CHECK(with_ends({0, 1, 1, 5, 6})
              == of_node + "2 of type node are more than dataset.json says"
                   + end);
  CATCH_CHECK(
    error_with([](const fs::path& type) {
      const std::vector<float> values{
        1, 2, 3, std::numeric_limits<float>::quiet_NaN(), 5, 6};
      value_of(write_npy<float>(type / sparse_values_file, std::span{values}));
    })
    == "the features of node 2 of type node are not all finite numbers; "
       "`graphmill inspect` says where");
}
