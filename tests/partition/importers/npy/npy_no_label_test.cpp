#include "tests/partition/importers/npy/array_list.hpp"
#include "tests/partition/importers/npy/label_import.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace {

using texts = std::vector<std::string>;

} // namespace

CATCH_TEST_CASE("integers stand for no label", "[partition][import][npy]") {
  label_import take;
  const std::vector<std::int64_t> labels{1, -9999, 0};
  CATCH_CHECK(
    has(error_of(take(labels, {3})).message, "import with --no-label -9999"));
  take.no_label = {"-9999"};
  const auto data = value_of(take(labels, {3}));
  CATCH_CHECK(data.info().node_types[0].class_count == 2);
  CATCH_CHECK(list<std::int64_t>(*data.nodes(0).labels)
              == std::vector<std::int64_t>{1, -1, 0});
}

CATCH_TEST_CASE("a class of meta.json stands for no label",
                "[partition][import][npy]") {
  label_import take;
  take.meta = R"({"class_names": ["good", "unknown", "fraud"]})";
  take.no_label = {"unknown"};
  const auto data = value_of(take(std::vector<std::int64_t>{2, 1, 0}, {3}));
  CATCH_CHECK(data.info().node_types[0].class_names == texts{"good", "fraud"});
  CATCH_CHECK(list<std::int64_t>(*data.nodes(0).labels)
              == std::vector<std::int64_t>{1, -1, 0});
}

CATCH_TEST_CASE("numbers and rows of labels stand for none",
                "[partition][import][npy]") {
  label_import take;
  take.no_label = {"-9999"};
  const auto rows =
    value_of(take(std::vector<std::int64_t>{1, 1, -9999, -9999, 0, 1}, {3, 2}));
  CATCH_CHECK(list<std::uint8_t>(*rows.nodes(0).labels)
              == std::vector<std::uint8_t>{1, 1, 255, 255, 0, 1});
  take.regression = true;
  const auto numbers = value_of(take(std::vector<double>{0.5, -9999, 2}, {3}));
  const auto values = list<float>(*numbers.nodes(0).labels);
  CATCH_CHECK((values[0] == 0.5f && std::isnan(values[1]) && values[2] == 2));
}

CATCH_TEST_CASE("a folder without edges says what it holds",
                "[partition][import][npy]") {
  const temp_folder source;
  const temp_folder out;
  put_array<std::int64_t>(source / "adjacency.npy", {0, 1}, {2, 1});
  put_array<std::int64_t>(source / "y.npy", {0, 1}, {2});
  const auto said =
    error_of(import_npy({.source = source.path()}, out.path())).message;
  CATCH_CHECK(has(said, "holds neither edges.npy nor files named"));
  CATCH_CHECK(has(said, "it holds adjacency.npy, y.npy (labels.npy?)"));
}

CATCH_TEST_CASE("sparse features by the words of SciPy are told of",
                "[partition][import][npy]") {
  const temp_folder source;
  const temp_folder out;
  put_array<std::int64_t>(source / "edges.npy", {0, 1}, {2, 1});
  put_array<std::int64_t>(source / "features_indptr.npy", {0, 1, 2}, {3});
  put_array<std::int64_t>(source / "features_indices.npy", {0, 1}, {2});
  put_array<float>(source / "features_data.npy", {1, 1}, {2});
  const auto import = [&] {
    return error_of(import_npy({.source = source.path()}, out.path())).message;
  };
  CATCH_CHECK(has(import(), "features_indptr.npy is there without "
                            "features_values.npy"));
  CATCH_CHECK(has(import(), "rename features_data.npy, for what SciPy calls "
                            "data are values here"));
  std::filesystem::remove(source / "features_data.npy");
  CATCH_CHECK_FALSE(has(import(), "SciPy"));
}
