#include "partition/dataset/dataset.hpp"
#include "partition/dataset/dataset_names.hpp"
#include "partition/writing/dataset_writer.hpp"
#include "partition/writing/prepare.hpp"
#include "tests/partition/dataset/example.hpp"
#include "tests/support/child.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"
#include "tests/support/tiny_disk.hpp"

#include <random>
#include <string>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace fs = std::filesystem;

namespace {

/// What `open` says after one replacement in dataset.json.
error open_with(const std::string& from, const std::string& to) {
  temp_folder folder;
  value_of(write_example(folder.path()));
  auto text = content_of(folder / "dataset.json");
  const auto at = text.find(from);
  CATCH_REQUIRE(at != std::string::npos);
  put_text(folder / "dataset.json", text.replace(at, from.size(), to));
  return error_of(dataset::open(folder.path()));
}

} // namespace

CATCH_TEST_CASE("a folder that is no dataset", "[partition][dataset]") {
  temp_folder folder;
  const auto empty = error_of(dataset::open(folder.path()));
  CATCH_CHECK(empty.code == ec::not_found);
  CATCH_CHECK(has(empty.message, "is not a dataset"));
  CATCH_CHECK(error_of(dataset::open(folder / "missing")).code
              == ec::not_found);
}

CATCH_TEST_CASE("a dataset of a newer format", "[partition][dataset]") {
  const auto newer =
    open_with("\"format_version\": 1", "\"format_version\": 8");
  CATCH_CHECK(newer.code == ec::version_mismatch);
  CATCH_CHECK(has(newer.message, "has format version 8; this Graphmill reads "
                                 "up to 7"));
}

CATCH_TEST_CASE("unknown fields are left alone", "[partition][dataset]") {
  temp_folder folder;
  value_of(write_example(folder.path()));
  auto text = content_of(folder / "dataset.json");
  put_text(folder / "dataset.json",
           "{\"colour\": {\"a\": [1]}," + text.substr(1));
  value_of(dataset::open(folder.path()));
}

CATCH_TEST_CASE("a wrong dataset.json is refused with a reason",
                "[partition][dataset]") {
  struct row {
    std::string from;
    std::string to;
    std::string reason;
  };
  const std::vector<row> table{
    {"{", "", "is broken"},
    {"\"format_version\": 1", "\"format_version\": -1", "format_version"},
    {"\"format_version\": 1", "\"format_version\": \"1\"", "format_version"},
    {"\"format_version\": 1", "\"version\": 1", "format_version"},
    {"\"target\": \"paper\"", "\"target\": \"x\"", "no node type"},
    {"\"target\": \"paper\"", "\"target\": 3", "\"target\" should be a s"},
    {"\"count\": 4", "\"count\": 4.5", "\"count\" should be an integer"},
    {"\"count\": 4", "\"count\": 99999999999999999999", "\"count\""},
    {"\"count\": 4", "\"count\": 1", "\"train\" should be"},
    {"\"count\": 4", "\"count\": 281474976710656",
     "281474976710656 nodes of paper with 8 bytes of features each are more "
     "than the 1125899906842624 bytes"},
    {"\"count\": 5", "\"count\": 6", "shape [5]; [6] expected"},
    {"\"feature_width\": 2", "\"feature_width\": 3", "[4, 3] expected"},
    {"\"float32\"", "\"float64\"", "float32 or float16"},
    {"\"float32\"", "\"float16\"", "holds float32; float16 expected"},
    {"\"class_count\": 2", "\"class_count\": 3", "3 classes, but 2 names"},
    {"\"class_count\": 2", "\"class_count\": 2, \"labels\": \"heights\"",
     "\"labels\" should be \"multi_label\""},
    {"\"class_count\": 2", "\"class_count\": 2, \"labels\": \"multi_label\"",
     "holds int64; uint8 expected"},
    {"\"source\": \"paper\"", "\"source\": \"x\"", "no node type \"x\""},
    {"\"name\": \"author\"", "\"name\": \"paper\"", "no node type"},
    {"\"name\": \"author\"", "\"name\": \"../x\"", "cannot name a type"},
    {"\"name\": \"paper\"",
     "\"label_sets\": [{\"name\": \"x\"}], \"name\": \"paper\"",
     "label set x of paper has no classes"},
    {"\"name\": \"paper\"",
     "\"label_sets\": [{\"name\": \"x\", \"class_count\": 2, "
     "\"splits\": {\"train\": 5}}], \"name\": \"paper\"",
     "label_sets[0].splits: \"train\" should be"},
    {"\"name\": \"paper\"",
     "\"label_sets\": [{\"name\": \"x\", \"class_count\": 2}], "
     "\"name\": \"paper\"",
     "labels.x.npy"},
    {"\"name\": \"paper\"",
     "\"label_sets\": [{\"class_count\": 2}], \"name\": \"paper\"",
     "\"name\" should be a string"},
    {"\"name\": \"paper\"", "\"label_sets\": 7, \"name\": \"paper\"",
     "\"label_sets\" should be a list of at most 256"},
    {"\"train\": 2", "\"train\": 5", "\"train\" should be an integer from"},
    {"\"train\": 2", "\"train\": 1", "shape [2]; [1] expected"},
    {"\"test\": 0", "\"test\": 1", "test.npy"},
    {"\"node_types\": [", "\"node_types\": [7, ", "node_types[0] should be"},
    {"\"node_types\": [", "\"node_typos\": [", "no node type"},
  };
  for (const auto& [from, to, reason] : table) {
    const auto problem = open_with(from, to);
    CATCH_INFO(from << " -> " << to << ": " << problem.message);
    CATCH_CHECK(has(problem.message, reason));
  }
}

CATCH_TEST_CASE("bytes of arrays cannot overflow", "[partition][dataset]") {
  auto info = example_info();
  auto& type = info.node_types[0];
  // 2^48 nodes of 4 bytes each are 2^50 bytes.
  type.count = most_items;
  type.feature_width = 1;
  value_of(check_info(info, "here"));
  CATCH_CHECK(type.feature_bytes() == most_array_bytes);
  type.feature_width = most_columns; // 2^74 bytes.
  CATCH_CHECK(has(error_of(check_info(info, "here")).message,
                  "67108864 bytes of features each"));
  type.sparse_features = true; // Which has no row of so many bytes.
  value_of(check_info(info, "here"));
  CATCH_CHECK(type.feature_bytes() == (most_array_bytes << 1) + 8);
  type.labels = label_kind::multi_label;
  type.class_count = traits_of(type.labels).most; // 2^64 bytes.
  type.class_names.clear();
  CATCH_CHECK(has(error_of(check_info(info, "here")).message,
                  "65536 bytes of labels each"));
  type.class_count = 4;
  value_of(check_info(info, "here"));
}

CATCH_TEST_CASE("a missing, truncated or foreign array is named",
                "[partition][dataset]") {
  temp_folder folder;
  value_of(write_example(folder.path()));
  for (const auto& entry : fs::recursive_directory_iterator{folder.path()}) {
    if (entry.path().extension() != ".npy")
      continue;
    const auto path = entry.path();
    CATCH_INFO(path);
    const auto whole = content_of(path);
    const auto names_it = [&] {
      return has(error_of(dataset::open(folder.path())).message, path.string());
    };
    fs::remove(path);
    CATCH_CHECK(names_it());
    put_text(path, whole.substr(0, whole.size() - 1));
    CATCH_CHECK(names_it());
    put_text(path, whole + "x");
    CATCH_CHECK(names_it());
    value_of(write_npy<std::int16_t>(path, std::vector<std::int16_t>(3)));
    CATCH_CHECK(names_it());
    put_text(path, whole);
  }
  value_of(dataset::open(folder.path()));
}

CATCH_TEST_CASE("indptr must span the edges", "[partition][dataset]") {
  temp_folder folder;
  value_of(write_example(folder.path()));
  value_of(write_npy<std::int64_t>(folder / "edges" / "paper__cites__paper"
                                     / "indptr.npy",
                                   std::vector<std::int64_t>{0, 1, 5, 5, 6}));
  CATCH_CHECK(has(error_of(dataset::open(folder.path())).message,
                  "goes from 0 to 6; from 0 to 5 expected"));
}

CATCH_TEST_CASE("random changes of dataset.json never do harm",
                "[partition][dataset]") {
  constexpr std::uint32_t seed = 99;
  CATCH_INFO("seed " << seed);
  std::mt19937 random{seed};
  temp_folder folder;
  value_of(write_example(folder.path()));
  const auto whole = content_of(folder / "dataset.json");
  for (int round = 0; round < 1500; ++round) {
    auto text = whole;
    for (int change = 0; change < 3; ++change)
      text[random() % text.size()] =
        "0123456789-.\"{}[],:x\x80\xff"[random() % 22];
    if (round % 5 == 0)
      text.resize(random() % text.size());
    put_text(folder / "dataset.json", text);
    (void)dataset::open(folder.path());
  }
  put_text(folder / "dataset.json", std::string(100000, '['));
  CATCH_CHECK_FALSE(dataset::open(folder.path()).has_value());
}

// Copying, comparing and printing such values would overflow the stack.
CATCH_TEST_CASE("deeply nested values of dataset.json are refused",
                "[partition][dataset]") {
  const auto nested =
    std::string(300'000, '[') + std::string(300'000, ']') + ",";
  for (const std::string at :
       {"\"node_types\": [", "\"edge_types\": [", "\"class_names\": ["})
    CATCH_CHECK(has(open_with(at, at + nested).message, "nested deeper"));
  CATCH_CHECK(
    has(open_with("{", "{\"unknown\": " + nested).message, "nested deeper"));
}

CATCH_TEST_CASE("a full disk is an error and leaves nothing",
                "[partition][writer]") {
  temp_folder folder;
  const auto fill = [](const fs::path& at) -> result<bool> {
    dataset_info info;
    info.node_types = {{.name = "n", .count = 100000, .feature_width = 1}};
    info.edge_types = {{.name = "e"}};
    GRAPHMILL_TRY(auto writer, dataset_writer::create(at, info, {}));
    const std::vector<node_id> ids(100000);
    for (int i = 0; i < 3; ++i) {
      GRAPHMILL_TRYV(writer.append_edges(0, ids, ids));
    }
    GRAPHMILL_TRYV(writer.append_features(0, std::vector<float>(100000)));
    GRAPHMILL_TRYV(writer.finish());
    return true;
  };
  // Enough for: nothing, part of the spool, the spool, some of the arrays.
  for (std::size_t bytes : {4096u, 1u << 20, 3u << 20, 9u << 18, 20u << 20}) {
    CATCH_INFO(bytes << " bytes");
    const auto code = code_of_child([&] {
      if (!mount_tiny_disk(folder.path(), bytes))
        return 77;
      auto made = prepare_folder(folder / "data", fill);
      if (made)
        return 0;
      if (!fs::is_empty(folder.path()))
        return 76;
      return static_cast<int>(made.error().code);
    });
    if (code == 77) {
      CATCH_WARN("cannot mount a small disk: not root, or not allowed");
      return;
    }
    CATCH_CHECK(code
                == (bytes > 10u << 20 ? 0 : static_cast<int>(ec::no_space)));
  }
}
