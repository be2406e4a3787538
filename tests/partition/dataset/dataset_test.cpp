#include "partition/dataset/dataset.hpp"
#include "partition/writing/dataset_writer.hpp"
#include "tests/partition/dataset/example.hpp"
#include "tests/partition/importers/npy/array_list.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <vector>

using namespace graphmill;
using namespace graphmill::test;

CATCH_TEST_CASE("what is written is what is read", "[partition][dataset]") {
  temp_folder folder;
  const auto info = value_of(write_example(folder.path()));
  const auto data = value_of(dataset::open(folder.path()));
  CATCH_CHECK(data.info().name == "example");
  CATCH_CHECK(data.info().digest == info.digest);
  CATCH_CHECK(data.info().digest.size() == 32);
  CATCH_CHECK(data.info().edge_type_name(0) == "paper__cites__paper");
  CATCH_CHECK(data.info().find_edge_type("by") == 1);
  CATCH_CHECK_FALSE(data.info().find_edge_type("likes").has_value());
  CATCH_CHECK(data.info().find_node_type("author") == 1);

  const auto& papers = data.info().node_types[0];
  CATCH_CHECK(papers.count == 4);
  CATCH_CHECK(papers.class_names == std::vector<std::string>{"a", "b"});
  CATCH_CHECK(papers.split_counts == std::array<std::int64_t, 3>{2, 1, 0});
  CATCH_CHECK(list<std::int64_t>(*data.nodes(0).labels)
              == std::vector<std::int64_t>{0, 1, -1, 1});
  CATCH_CHECK(list<std::int64_t>(*data.nodes(0).splits[0])
              == std::vector<std::int64_t>{3, 0});
  CATCH_CHECK_FALSE(data.nodes(0).splits[2].has_value());
  CATCH_CHECK(list<float>(*data.nodes(0).features)
              == std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7});
  CATCH_CHECK_FALSE(data.nodes(1).features.has_value());

  // cites: 0->1 2->1 0->1 3->0 1->1, so 1 has in order 0 2 0 1.
  const auto& cites = data.edges(0);
  CATCH_CHECK(list<std::int64_t>(cites.indptr)
              == std::vector<std::int64_t>{0, 1, 5, 5, 5});
  CATCH_CHECK(list<std::int32_t>(cites.indices)
              == std::vector<std::int32_t>{3, 0, 2, 0, 1});
  CATCH_CHECK(list<std::int32_t>(cites.in_degrees)
              == std::vector<std::int32_t>{1, 4, 0, 0});
  CATCH_CHECK(list<std::int32_t>(cites.out_degrees)
              == std::vector<std::int32_t>{2, 1, 1, 1});
  CATCH_CHECK(data.info().edge_types[0].max_in_degree == 4);
  CATCH_CHECK(data.info().edge_types[0].count == 5);
}
