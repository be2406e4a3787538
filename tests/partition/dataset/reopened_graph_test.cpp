#include "partition/dataset/reopened_graph.hpp"
#include "tests/partition/dataset/kept_example.hpp"

#include <string>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace fs = std::filesystem;

CATCH_TEST_CASE("a graph that is opened again has the seeds that lie there now",
                "[partition][shard]") {
  const kept_example f;
  const auto file = [&] {
    for (const auto& entry :
         fs::recursive_directory_iterator{f.parts / "seeds"})
      if (entry.path().filename() == "train.npy")
        return entry.path();
    return fs::path{};
  }();
  const auto sound = value_of(partitioned_graph::open(f.parts));
  flip_bit(file);
  const auto damaged = value_of(partitioned_graph::open(f.parts));
  const auto seeds = [](const partitioned_graph& of) {
    const auto ids = of.seeds(split::train);
    return std::vector<node_id>{ids.begin(), ids.end()};
  };
  CATCH_REQUIRE(seeds(sound) != seeds(damaged));
  flip_bit(file);
  CATCH_CHECK(seeds(*value_of(reopen(f.parts, damaged))) == seeds(sound));
}

CATCH_TEST_CASE("another graph in the place of one that was open is refused",
                "[partition][shard]") {
  const kept_example f;
  const auto whole = value_of(partitioned_graph::open(f.whole));
  const auto parts = value_of(partitioned_graph::open(f.parts));
  CATCH_CHECK(error_of(reopen(f.parts, whole)).code == ec::invalid_data);
  change(f.whole / "dataset.json",
         [](auto& about) { about["edge_types"][0]["max_in_degree"] = 1; });
  CATCH_CHECK(error_of(reopen(f.whole, whole))
                .message.find("what is said of its edge types")
              != std::string::npos);
  partition_options other;
  other.method = partition_method::random;
  other.seed = 9;
  fs::remove_all(f.parts);
  value_of(
    prepare_partitions(value_of(dataset::open(f.whole)), other, f.parts));
  CATCH_CHECK(error_of(reopen(f.parts, parts)).code == ec::invalid_data);
}
