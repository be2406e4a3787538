#include "partition/importers/rmat/rmat.hpp"

#include "partition/importers/rmat/rmat_edges.hpp"
#include "tests/partition/importers/read_dataset.hpp"
#include "tests/support/temp_folder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

using namespace graphmill;
using namespace graphmill::test;

namespace {

rmat_options small_options() {
  rmat_options options;
  options.scale = 10;
  options.edges = 10000;
  options.feature_width = 16;
  options.class_count = 4;
  options.seed = 3;
  return options;
}

/// Share of nodes that are nearest to the mean of their own class, measured on
/// the nodes that have not gone into the means.
double nearest_mean_accuracy(const std::vector<float>& points,
                             const std::vector<std::int64_t>& labels,
                             std::size_t classes) {
  const auto width = points.size() / labels.size();
  const auto half = labels.size() / 2;
  std::vector<double> means(classes * width);
  std::vector<double> counts(classes);
  for (std::size_t i = 0; i < half; ++i) {
    ++counts[labels[i]];
    for (std::size_t k = 0; k < width; ++k)
      means[labels[i] * width + k] += points[i * width + k];
  }
  std::size_t right = 0;
  for (auto i = half; i < labels.size(); ++i) {
    auto best = std::numeric_limits<double>::infinity();
    std::size_t guess = 0;
    for (std::size_t c = 0; c < classes; ++c) {
      double far = 0;
      for (std::size_t k = 0; k < width; ++k) {
        const auto d = points[i * width + k] - means[c * width + k] / counts[c];
        far += d * d;
      }
      if (far < best) {
        best = far;
        guess = c;
      }
    }
    right += guess == static_cast<std::size_t>(labels[i]);
  }
  return static_cast<double>(right) / static_cast<double>(labels.size() - half);
}

/// Own features plus twice the mean of the in-neighbours' ones.
std::vector<float> with_neighbours(const std::vector<float>& own,
                                   const std::vector<edge_pair>& edges,
                                   std::size_t width) {
  std::vector<int> degrees(own.size() / width);
  for (const auto& [source, destination] : edges)
    ++degrees[destination];
  auto out = own;
  for (const auto& [source, destination] : edges)
    for (std::size_t k = 0; k < width; ++k)
      out[destination * width + k] +=
        2 * own[source * width + k] / static_cast<float>(degrees[destination]);
  return out;
}

} // namespace

CATCH_TEST_CASE("the scrambler is a bijection", "[importers][rmat]") {
  for (int bits = 1; bits <= 12; ++bits) {
    CATCH_INFO(bits << " bits");
    const id_scrambler scramble{bits, 99};
    std::set<std::uint64_t> images;
    const auto count = std::uint64_t{1} << bits;
    for (std::uint64_t id = 0; id < count; ++id)
      images.insert(scramble(id));
    CATCH_CHECK(images.size() == count);
    CATCH_CHECK(*images.rbegin() < count);
  }
}

CATCH_TEST_CASE("R-MAT edges are in range and no loops", "[importers][rmat]") {
  for (const auto a : {0.57, 1.0}) {
    auto options = small_options();
    options.a = a;
    options.b = options.c = a == 1.0 ? 0.0 : 0.19;
    for (int scale = 1; scale <= 10; ++scale) {
      options.scale = scale;
      const rmat_edges edges{options};
      for (std::int64_t e = 0; e < 200; ++e) {
        const auto [source, destination] = edges(e);
        CATCH_REQUIRE(source != destination);
        CATCH_REQUIRE(std::min(source, destination) >= 0);
        CATCH_REQUIRE(std::max(source, destination) < node_id{1} << scale);
      }
    }
  }
}

CATCH_TEST_CASE("an R-MAT graph has exact counts and skewed degrees",
                "[importers][rmat]") {
  const temp_folder out;
  const auto info = value_of(import_rmat(small_options(), out.path()));
  const auto got = value_of(dataset::open(out.path()));
  CATCH_CHECK(info.node_types[0].count == 1024);
  CATCH_CHECK(info.edge_types[0].count == 10000);
  CATCH_CHECK(info.node_types[0].split_counts
              == std::array<std::int64_t, 3>{102, 51, 51});

  const auto edges = edges_of(got, 0);
  std::vector<int> in(1024);
  std::vector<int> out_degrees(1024);
  for (const auto& [source, destination] : edges) {
    ++in[destination];
    ++out_degrees[source];
  }
  // Ids are scrambled: the first half of them has about half of the edges.
  const auto low = std::count_if(edges.begin(), edges.end(),
                                 [](auto edge) { return edge.second < 512; });
  CATCH_CHECK(low > 3500);
  CATCH_CHECK(low < 6500);
  for (auto* degrees : {&in, &out_degrees}) {
    std::sort(degrees->rbegin(), degrees->rend());
    CATCH_CHECK(degrees->front() > 20 * 10000 / 1024);
    const auto top = std::accumulate(degrees->begin(), degrees->begin() + 102,
                                     std::int64_t{0});
    CATCH_CHECK(top > 4500); // A tenth of the nodes has half of the edges.
    CATCH_CHECK(degrees->back() == 0);
  }
}

CATCH_TEST_CASE("planted labels can be read from own and neighbours' features",
                "[importers][rmat]") {
  const temp_folder out;
  auto options = small_options();
  options.scale = 12;
  options.edges = 100000;
  value_of(import_rmat(options, out.path()));
  const auto got = value_of(dataset::open(out.path()));
  const auto labels = labels_of(got);
  const auto own = features_of(got);
  const auto alone = nearest_mean_accuracy(own, labels, 4);
  const auto both = nearest_mean_accuracy(
    with_neighbours(own, edges_of(got, 0), 16), labels, 4);
  CATCH_CHECK(both > 0.85);
  CATCH_CHECK(alone < both - 0.1);
  CATCH_CHECK(alone > 0.3);
  for (std::int64_t c = 0; c < 4; ++c) {
    const auto members = std::count(labels.begin(), labels.end(), c);
    CATCH_CHECK(members > 4096 / 4 / 3);
    CATCH_CHECK(members < 4096 / 4 * 3);
  }
}

CATCH_TEST_CASE("the seed decides an R-MAT dataset", "[importers][rmat]") {
  std::array<std::string, 3> digests;
  for (std::size_t i = 0; i < digests.size(); ++i) {
    const temp_folder out;
    auto options = small_options();
    options.seed = i == 2 ? 4 : 3;
    digests[i] = value_of(import_rmat(options, out.path())).digest;
  }
  CATCH_CHECK(digests[0] == digests[1]);
  CATCH_CHECK(digests[0] != digests[2]);
}

CATCH_TEST_CASE("R-MAT can add reverse edges", "[importers][rmat]") {
  const temp_folder out;
  auto options = small_options();
  options.reverse = true;
  value_of(import_rmat(options, out.path()));
  const auto got = value_of(dataset::open(out.path()));
  auto forward = edges_of(got, "links");
  auto reverse = edges_of(got, "rev_links");
  for (auto& edge : reverse)
    std::swap(edge.first, edge.second);
  std::sort(forward.begin(), forward.end());
  std::sort(reverse.begin(), reverse.end());
  CATCH_CHECK(forward == reverse);
}

CATCH_TEST_CASE("weights of R-MAT change nothing else",
                "[importers][rmat][weights]") {
  auto options = small_options();
  options.reverse = true;
  const temp_folder plain_out;
  value_of(import_rmat(options, plain_out.path()));
  options.weights = true;
  const temp_folder out;
  const auto info = value_of(import_rmat(options, out.path()));
  const temp_folder again;
  CATCH_CHECK(value_of(import_rmat(options, again.path())).digest
              == info.digest);
  const auto plain = value_of(dataset::open(plain_out.path()));
  const auto data = value_of(dataset::open(out.path()));
  CATCH_CHECK_FALSE(plain.info().edge_types[0].weighted);
  CATCH_CHECK(edges_of(data, "links") == edges_of(plain, "links"));
  CATCH_CHECK(labels_of(data) == labels_of(plain));
  std::array<double, 2> sums{};
  for (edge_type_id type : {0, 1}) {
    const auto weights =
      value_of(data.edges(type).weighted->weights.as<float>());
    for (auto weight : weights) {
      CATCH_REQUIRE(weight > 0);
      CATCH_REQUIRE(weight <= 2);
      sums[static_cast<std::size_t>(type)] += weight;
    }
  }
  CATCH_CHECK(sums[0] == sums[1]); // Of the reverse edges.
  CATCH_CHECK(std::abs(sums[0] / 10000 - 1) < 0.05);
}

CATCH_TEST_CASE("R-MAT options are checked", "[importers][rmat]") {
  const temp_folder out;
  std::vector<rmat_options> wrong(8, small_options());
  wrong[0].scale = 0;
  wrong[1].scale = 31;
  wrong[2].edges = -1;
  wrong[3].a = 0.9;
  wrong[4].b = std::nan("");
  wrong[5].feature_width = 0;
  wrong[6].class_count = 1;
  wrong[7].fractions = {0.9, 0.2, 0.0};
  for (const auto& options : wrong)
    CATCH_CHECK(error_of(import_rmat(options, out.path())).code
                == ec::invalid_argument);
  CATCH_CHECK(std::filesystem::is_empty(out.path()));
}
