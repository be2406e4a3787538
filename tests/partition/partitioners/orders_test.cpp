#include "partition/dataset/shard.hpp"
#include "partition/files/npy/npy.hpp"
#include "partition/partitioners/partition_dataset.hpp"
#include "tests/partition/partitioners/graphs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace fs = std::filesystem;

namespace {

/// Papers in three parts.
struct ordered_papers {
  ordered_papers() {
    fs::create_directory(folder / "data");
    write_random(folder / "data", 5);
    const auto data = value_of(dataset::open(folder / "data"));
    value_of(prepare_partitions(
      data, {.parts = 3, .method = partition_method::random}, parts));
    target = data.info().target;
    const auto& type = data.info().node_types[target];
    file = parts / order_file(type);
    originals = parts / "part-1/nodes" / type.name / "original_ids.npy";
    found = value_of(order());
  }

  result<std::vector<node_id>> order() const {
    return value_of(partitioned_graph::open(parts)).order(target);
  }

  /// Writes over an element of the map.
  void damage(std::int64_t at, std::int32_t value) const {
    const auto array = value_of(npy_array::open(file));
    std::vector<std::int32_t> ids(found.begin(), found.end());
    ids[static_cast<std::size_t>(at)] = value;
    fs::remove(file);
    auto writer = value_of(npy_writer::create(file, dtype::int32));
    value_of(writer.append_bytes(std::as_bytes(std::span{ids})));
    value_of(writer.finish());
  }

  temp_folder folder;
  fs::path parts = folder / "parts";
  node_type_id target = 0;
  fs::path file;      ///< The map.
  fs::path originals; ///< Of a part.
  std::vector<node_id> found;
};

bool says(const error& reason, const std::string& part) {
  CATCH_INFO(reason.message);
  return reason.message.find(part) != std::string::npos;
}

} // namespace

CATCH_TEST_CASE("a plain dataset stands in its own order",
                "[partition][order]") {
  temp_folder folder;
  fs::create_directory(folder / "data");
  write_random(folder / "data", 5, {.papers = 7, .train = 2});
  const auto graph = value_of(partitioned_graph::open(folder / "data"));
  CATCH_CHECK(value_of(graph.order(graph.info().target))
              == std::vector<node_id>{0, 1, 2, 3, 4, 5, 6});
}

CATCH_TEST_CASE("parts tell their order where there is no map",
                "[partition][order]") {
  const ordered_papers papers;
  fs::remove_all(papers.file.parent_path());
  CATCH_CHECK(value_of(papers.order()) == papers.found);
  fs::remove(papers.originals);
  const auto missing = error_of(papers.order());
  CATCH_CHECK(missing.code == ec::not_found);
  CATCH_CHECK(says(missing, "copy order/ from where the dataset was"));
  CATCH_CHECK(says(missing, "partition the dataset again"));
}

CATCH_TEST_CASE("a map is enough without parts", "[partition][order]") {
  const ordered_papers papers;
  for (int p = 0; p < 3; ++p)
    fs::remove_all(papers.parts / ("part-" + std::to_string(p)));
  CATCH_CHECK(value_of(papers.order()) == papers.found);
}

CATCH_TEST_CASE("a damaged map is refused", "[partition][order]") {
  for (const auto value : {-1, 300, 1 << 30}) {
    const ordered_papers papers;
    papers.damage(4, value);
    const auto damaged = error_of(papers.order());
    CATCH_CHECK(damaged.code == ec::invalid_data);
    CATCH_CHECK(says(damaged, "its digest is"));
  }
  // A part's array has no digest that is looked at.
  const ordered_papers papers;
  fs::remove_all(papers.file.parent_path());
  const auto array = value_of(npy_array::open(papers.originals));
  const auto ids = value_of(array.as<node_id>());
  std::vector<node_id> twice(ids.begin(), ids.end());
  twice[1] = twice[0];
  fs::remove(papers.originals);
  auto writer = value_of(npy_writer::create(papers.originals, dtype::int64));
  value_of(writer.append_bytes(std::as_bytes(std::span{twice})));
  value_of(writer.finish());
  const auto damaged = error_of(papers.order());
  CATCH_CHECK(damaged.code == ec::invalid_data);
  CATCH_CHECK(says(damaged, "original_ids.npy is damaged: node"));
}
