#include "actors/base/phase_steps.hpp"
#include "actors/cluster/coordinator/runs/prediction_arrays.hpp"
#include "partition/files/file_io.hpp"
#include "partition/files/npy/npy_header.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace graphmill::test {

namespace {

/// Ten nodes in steps of four, over three trainers: 0 and 1, 2, 3; 4 and 5, 6,
/// 7; 8, 9, none.
const prediction_shape ten_nodes{
  .rows = 10, .columns = 2, .batch_size = 4, .ranks = 3};

struct told_nodes {
  std::int64_t step = 0;
  rank_id rank = 0;
  std::vector<node_id> nodes;
};
const std::vector<told_nodes>& all_told() {
  static const std::vector<told_nodes> all{
    {0, 0, {0, 1}}, {0, 1, {2}}, {0, 2, {3}}, {1, 0, {4, 5}}, {1, 1, {6}},
    {1, 2, {7}},    {2, 0, {8}}, {2, 1, {9}}, {2, 2, {}}};
  return all;
}

/// Of node i: i and 4.5, of which the second is larger up to node 4.
std::vector<float> logits_of_nodes(std::span<const node_id> nodes) {
  std::vector<float> out;
  for (const auto node : nodes) {
    out.push_back(static_cast<float>(node));
    out.push_back(4.5f);
  }
  return out;
}

result<void> tell(prediction_arrays& to, const told_nodes& what) {
  return to.take({phase::test, 0, what.step, what.rank}, what.nodes,
                 logits_of_nodes(what.nodes));
}

/// What a file of an array is to hold.
template <class T>
std::string array_file(dtype type, std::vector<std::int64_t> shape,
                       const std::vector<T>& values) {
  auto out = format_npy_header(type, shape);
  out.append(reinterpret_cast<const char*>(values.data()),
             values.size() * sizeof(T));
  return out;
}

std::string content(const temp_folder& folder, const std::string& name) {
  return value_of(read_text(folder / name, 4096));
}

} // namespace

CATCH_TEST_CASE("rows of predictions are where their nodes are",
                "[cluster][predictions]") {
  temp_folder folder;
  prediction_arrays arrays{folder.path(), ten_nodes};
  auto last = all_told();
  std::reverse(last.begin(), last.end());
  for (const auto& told : last) {
    value_of(tell(arrays, told));
    for (const auto& name : names_in(folder.path()))
      CATCH_CHECK(name.ends_with(".tmp"));
  }
  value_of(arrays.commit());
  CATCH_CHECK(names_in(folder.path())
              == std::vector<std::string>{"logits.npy", "predictions.npy"});
  const std::vector<node_id> nodes{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  CATCH_CHECK(content(folder, "logits.npy")
              == array_file(dtype::float32, {10, 2}, logits_of_nodes(nodes)));
  CATCH_CHECK(content(folder, "predictions.npy")
              == array_file<std::int64_t>(dtype::int64, {10},
                                          {1, 1, 1, 1, 1, 0, 0, 0, 0, 0}));
}

CATCH_TEST_CASE("predictions of several labels are those above 0",
                "[cluster][predictions]") {
  temp_folder folder;
  prediction_arrays arrays{folder.path(),
                           {2, 3, task_of(label_kind::multi_label), 8, 1}};
  const std::vector<float> logits{0.5f, 0, -1, -2, 3, 4};
  value_of(
    arrays.take({phase::test, 0, 0, 0}, std::vector<node_id>{0, 1}, logits));
  value_of(arrays.commit());
  CATCH_CHECK(content(folder, "logits.npy")
              == array_file(dtype::float32, {2, 3}, logits));
  CATCH_CHECK(
    content(folder, "predictions.npy")
    == array_file<std::uint8_t>(dtype::uint8, {2, 3}, {1, 0, 0, 0, 1, 1}));
}

CATCH_TEST_CASE("predictions of numbers are what came out",
                "[cluster][predictions]") {
  const std::vector<float> values{0.5f, 0, -1, -2};
  for (const std::int64_t width : {1, 2}) {
    const auto count = 4 / width;
    temp_folder folder;
    prediction_arrays arrays{
      folder.path(), {count, width, task_of(label_kind::regression), 8, 1}};
    std::vector<node_id> nodes(static_cast<std::size_t>(count));
    std::iota(nodes.begin(), nodes.end(), 0);
    value_of(arrays.take({phase::test, 0, 0, 0}, nodes, values));
    value_of(arrays.commit());
    CATCH_CHECK(content(folder, "logits.npy")
                == array_file(dtype::float32, {count, width}, values));
    CATCH_CHECK(content(folder, "predictions.npy")
                == (width == 1
                      ? array_file(dtype::float32, {count}, values)
                      : array_file(dtype::float32, {count, width}, values)));
  }
}

CATCH_TEST_CASE("outputs of nodes lie where the nodes are",
                "[cluster][predictions]") {
  // Five users, who know each other and buy two items; then items of shops.
  prediction_shape shape{.columns = 4, .batch_size = 4, .ranks = 2};
  shape.edges = true;
  shape.blocks = {
    {.relation = 1, .types = {0, 0}, .counts = {5, 5}},
    {.relation = 2, .types = {1, 2}, .counts = {2, 3}, .first = 3},
    {.relation = 3, .types = {0, 3}, .counts = {0, 1}, .first = 6}};
  shape.types = {{"user", "user"}, {"item", "shop"}, {"user", "town"}};
  shape.rows = rows_of(shape.blocks);
  CATCH_CHECK(shape.rows == 7);
  CATCH_CHECK(shape.count() == 11);
  const auto value = [](node_type_id type, node_id node, int column) {
    return static_cast<float>(100 * type + 10 * node + column);
  };
  const auto edges = edges_of(shape.blocks);
  std::vector<std::array<node_type_id, 2>> types(3, {0, 0});
  types.insert(types.end(), 3, {1, 2});
  types.push_back({0, 3});
  const auto ends_of = [&](std::size_t row) {
    std::vector<float> out;
    for (std::size_t end = 0; end < 2; ++end)
      for (int column = 0; column < 2; ++column)
        out.push_back(
          value(types[row][end],
                end == 0 ? edges[row].source : edges[row].destination, column));
    return out;
  };
  temp_folder folder;
  prediction_arrays arrays{folder.path(), shape};
  // Steps of four rows, which two ranks share.
  for (const auto& [step, rank, rows] :
       {std::tuple{1, 1, std::vector<node_id>{6}},
        std::tuple{0, 1, std::vector<node_id>{2, 3}},
        std::tuple{1, 0, std::vector<node_id>{4, 5}},
        std::tuple{0, 0, std::vector<node_id>{0, 1}}}) {
    std::vector<float> told;
    for (const auto row : rows) {
      const auto ends = ends_of(static_cast<std::size_t>(row));
      told.insert(told.end(), ends.begin(), ends.end());
    }
    value_of(arrays.take({phase::test, 0, step, static_cast<rank_id>(rank)},
                         rows, told));
  }
  value_of(arrays.commit());
  CATCH_CHECK(
    names_in(folder.path())
    == std::vector<std::string>{"embeddings.item.npy", "embeddings.shop.npy",
                                "embeddings.town.npy", "embeddings.user.npy"});
  for (const auto& [name, type, nodes] :
       {std::tuple{"user", 0, 5}, std::tuple{"item", 1, 2},
        std::tuple{"shop", 2, 3}, std::tuple{"town", 3, 1}}) {
    std::vector<float> rows;
    for (node_id node = 0; node < nodes; ++node)
      for (int column = 0; column < 2; ++column)
        rows.push_back(value(static_cast<node_type_id>(type), node, column));
    CATCH_CHECK(content(folder, std::string{"embeddings."} + name + ".npy")
                == array_file(dtype::float32, {nodes, 2}, rows));
  }
}

CATCH_TEST_CASE("a rank tells its own nodes, and all of them",
                "[cluster][predictions]") {
  temp_folder folder;
  prediction_arrays arrays{folder.path(), ten_nodes};
  for (const auto& wrong :
       {told_nodes{0, 1, {3}}, told_nodes{0, 0, {1, 0}}, told_nodes{0, 0, {0}},
        told_nodes{2, 2, {9}}, told_nodes{0, 3, {0}}, told_nodes{0, -1, {0}},
        told_nodes{3, 0, {}}, told_nodes{-1, 0, {0}}}) {
    CATCH_INFO(wrong.step << ", " << wrong.rank);
    CATCH_CHECK(error_of(tell(arrays, wrong)).code == ec::invalid_data);
  }
  const std::vector<float> one{1};
  CATCH_CHECK(
    error_of(arrays.take({phase::test, 0, 0, 1}, std::vector<node_id>{2}, one))
      .message
    == "rank 1 told 1 logits of 1 nodes in step 1, and not 2 of each "
       "of the nodes 2 to 2, which are its own");
  CATCH_CHECK(names_in(folder.path()).empty());
  for (std::size_t i = 1; i < all_told().size(); ++i)
    value_of(tell(arrays, all_told()[i]));
  CATCH_CHECK(error_of(arrays.commit()).message
              == "trainers told the logits of 8 nodes, and there are 10");
  arrays.drop();
  CATCH_CHECK(names_in(folder.path()).empty());
}

CATCH_TEST_CASE("a rank tells of each step once", "[cluster][predictions]") {
  temp_folder folder;
  prediction_arrays arrays{folder.path(), ten_nodes};
  // All but one row, and another one again: as many rows as there are nodes.
  for (const auto i : {1, 7, 4, 0, 5, 2, 6, 3, 8})
    if (i != 2)
      value_of(tell(arrays, all_told()[static_cast<std::size_t>(i)]));
  for (const auto i : {1, 5, 7, 8}) {
    const auto& told = all_told()[static_cast<std::size_t>(i)];
    const auto said = error_of(tell(arrays, told));
    CATCH_CHECK(said.code == ec::invalid_data);
    CATCH_CHECK(said.message
                == "rank " + std::to_string(told.rank) + " told of step "
                     + std::to_string(told.step + 1) + " twice");
  }
  CATCH_CHECK(error_of(arrays.commit()).message
              == "trainers told the logits of 9 nodes, and there are 10");
  value_of(tell(arrays, all_told()[2]));
  value_of(arrays.commit());
}

CATCH_TEST_CASE("a conductor has predictions written",
                "[cluster][predictions]") {
  temp_folder folder;
  const auto arrays =
    std::make_shared<prediction_arrays>(folder.path(), ten_nodes);
  std::vector<std::pair<std::int64_t, std::int64_t>> progress;
  run_observer observer;
  observer.on_step = [&progress](const phase_request& pass, std::int64_t done,
                                 const batch_metrics&) {
    progress.emplace_back(done, pass.steps);
  };
  prediction_arrays::observe(arrays, observer);
  phase_request piece;
  piece.steps = 2;
  observer.on_begin(piece);
  observer.on_step(piece, 1, {});
  CATCH_CHECK(progress == decltype(progress){{1, 3}}); // Of the whole pass.
  const auto tell_all = [&observer](std::int64_t shifted) {
    for (const auto& told : all_told()) {
      step_result result;
      result.key = {phase::test, 0, told.step, told.rank};
      result.original_seeds =
        std::make_shared<std::vector<node_id>>(told.nodes);
      for (auto& node : *result.original_seeds)
        node += shifted;
      result.output = std::make_shared<batch_output>();
      result.output->logits = logits_of_nodes(told.nodes);
      observer.on_output(result);
    }
  };
  CATCH_SECTION("until all are there") {
    tell_all(0);
    value_of(observer.on_phase({}));
    value_of(arrays->commit());
  }
  CATCH_SECTION("and ends a run that tells what is wrong") {
    tell_all(1);
    const auto said = error_of(observer.on_phase({}));
    CATCH_CHECK(said.code == ec::invalid_data);
    CATCH_CHECK(said.message.find("rank 0 told 4 logits of 2 nodes in step 1")
                == 0);
    CATCH_CHECK(error_of(arrays->commit()).message == said.message);
  }
}

} // namespace graphmill::test
