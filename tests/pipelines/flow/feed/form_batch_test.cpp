#include "pipelines/flow/feed/form_batch.hpp"

#include "messages/base/random.hpp"
#include "partition/dataset/chosen_task.hpp"
#include "pipelines/flow/batch_size.hpp"
#include "tests/partition/sampling/support.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

namespace graphmill::test::formed {

namespace {

using numbers = std::vector<std::int64_t>;

/// A batch as the fetcher leaves it, without features and labels.
fetched_batch fetched(const cut_graph& graph, const sampling_scheme& scheme,
                      const batch_seeds& seeds) {
  fetched_batch out;
  out.graph = value_of(sample(*graph.graph, graph.shards, scheme, 7, seeds));
  for (std::size_t t = 0; t < out.graph.nodes.size(); ++t) {
    auto& ids = out.embedding_rows.emplace_back();
    for (const auto id : out.graph.nodes[t].ids)
      ids.push_back(graph.original[t][static_cast<std::size_t>(id)]);
    out.features.emplace_back();
    out.degrees.emplace_back();
  }
  return out;
}

fetched_batch fetched(const cut_graph& graph, const sampling_scheme& scheme,
                      const std::vector<node_id>& originals) {
  std::vector<node_id> seeds;
  for (const auto id : originals)
    seeds.push_back(graph.to_global[graph.graph->info().target][id]);
  return fetched(graph, scheme, target_seeds(graph.graph->info(), seeds));
}

numbers list_of(const formed_array& array) {
  const auto* from = static_cast<const std::int64_t*>(array.data);
  const auto size = array.rows * (array.columns == 0 ? 1 : array.columns);
  return from == nullptr ? numbers{} : numbers(from, from + size);
}

/// The arrays by name and type; those of one batch in one form.
std::map<std::string, numbers> named(const formed_batch& batch,
                                     const batch_form& form,
                                     const dataset_info& info) {
  std::map<std::string, numbers> out;
  const auto slots = slots_of(form, info);
  CATCH_REQUIRE(slots.size() == batch.arrays.size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const auto name =
      std::string{slots[i].name} + std::to_string(slots[i].type);
    const auto& array = batch.arrays[i];
    if (slots[i].element == dtype::int64) {
      out[name] = list_of(array);
    } else if (slots[i].name.starts_with("edge_label")
               || slots[i].name == "edge_age") {
      const auto* from = static_cast<const float*>(array.data);
      out[name] = {from, from + (from == nullptr ? 0 : array.rows)};
    }
  }
  return out;
}

/// Rows of a task, by original ids.
struct plain_rows {
  std::vector<std::array<node_id, 2>> ends;
  std::vector<std::int32_t> relations; ///< Empty: all are the first.
  std::vector<float> weights;          ///< Empty: there are none.
  negative_lists negatives{};          ///< Of all rows.
};

dataset_info with_task(const cut_graph& graph, edge_task_info task) {
  auto info = graph.graph->info();
  info.tasks = {std::move(task)};
  return value_of(choose_task(info, info.tasks.front().name));
}

/// All rows as a batch, in the ids of a graph.
seed_batch batch_of_rows(plain_rows rows, const cut_graph& graph,
                         const dataset_info& info) {
  const auto& types = chosen_task(info)->edge_types;
  std::array<std::vector<node_id>, 2> nodes;
  std::array<std::vector<node_type_id>, 2> node_types;
  std::vector<seed_row> all;
  const auto global = [&graph](node_type_id type, node_id id) {
    return id == negative_lists::none
             ? id
             : graph.to_global[static_cast<std::size_t>(type)]
                              [static_cast<std::size_t>(id)];
  };
  const auto each = rows.negatives.of_each();
  for (std::size_t r = 0; r < rows.ends.size(); ++r) {
    all.push_back(std::ssize(all));
    const auto relation =
      rows.relations.empty() ? 0 : static_cast<std::size_t>(rows.relations[r]);
    const auto& type =
      info.edge_types[static_cast<std::size_t>(types[relation])];
    node_types[0].push_back(type.source);
    node_types[1].push_back(type.destination);
    for (std::size_t c = 0; c < 2; ++c)
      nodes[c].push_back(global(node_types[c].back(), rows.ends[r][c]));
    for (std::size_t k = 0; k < each; ++k) {
      auto& id = rows.negatives.nodes[r * each + k];
      id = global(k < rows.negatives.wrong_destinations ? type.destination
                                                        : type.source,
                  id);
    }
  }
  seed_table table{
    {{0, nodes[0], node_types[0]}, {0, nodes[1], node_types[1]}}};
  auto& edges = table.edges.emplace();
  edges.relations = rows.relations;
  edges.weights = rows.weights;
  return batch_of(table, all, info, rows.negatives);
}

const edge_task_info links{.name = "link", .edge_types = {0}};

} // namespace

CATCH_TEST_CASE("the cycle of six as pairs and as lists",
                "[pipelines][form_batch]") {
  const auto graph = whole(cycle(6));
  const auto& info = graph.graph->info();
  const auto scheme = scheme_of(cycle(6), {-1, -1});
  batch_form form;
  form.edge_ids = true;
  auto batch =
    value_of(form_batch(fetched(graph, scheme, {2, 3}), numbers{8, 5}, nullptr,
                        form, info, nullptr));
  auto arrays = named(batch, form, info);
  // Nodes 2, 3, then 1, 4, then 0, 5; each has its two neighbours.
  CATCH_CHECK(arrays["n_id0"] == numbers{2, 3, 1, 4, 0, 5});
  CATCH_CHECK(arrays["edge_index0"]
              == numbers{2, 1, 0, 3, 4, 0, 1, 5, 0, 0, 1, 1, 2, 2, 3, 3});
  CATCH_CHECK(arrays["e_id0"] == numbers{4, 5, 6, 7, 2, 3, 8, 9});
  CATCH_CHECK(arrays["input_id0"] == numbers{8, 5});
  CATCH_CHECK(batch.found == std::vector<numbers>{{2, 4, 6}});
  CATCH_CHECK(batch.edges == std::vector<numbers>{{4, 4}});

  form.layout = edge_layout::csr;
  batch = value_of(form_batch(fetched(graph, scheme, {2, 3}), numbers{8, 5},
                              nullptr, form, info, nullptr));
  arrays = named(batch, form, info);
  CATCH_CHECK(arrays["indptr0"] == numbers{0, 2, 4, 6, 8});
  CATCH_CHECK(arrays["indices0"] == numbers{2, 1, 0, 3, 4, 0, 1, 5});
}

CATCH_TEST_CASE("nodes of trees have rows", "[pipelines][form_batch]") {
  auto graph = cycle(6);
  graph.edges[0].times.assign(6, {10, 20});
  const auto data = whole(graph);
  const auto& info = data.graph->info();
  auto scheme = scheme_of(graph, {-1});
  scheme.time = {.used = true, .disjoint = true};
  // All of node 3 is before 30, and one edge of node 2 before 20.
  const batch_seeds seeds{.nodes = {{2, 3}},
                          .until = {20, 30},
                          .row_numbers = {8, 5},
                          .trees = {{0, 1}}};
  batch_form form;
  form.trees = true;
  auto batch = fetched(data, scheme, seeds);
  const auto booked = bytes_of(batch.graph, info, needs_of(form, info));
  CATCH_CHECK(booked
              == bytes_of(batch.graph, info, needs_of(batch_form{}, info))
                   + 5 * 12);
  auto made = value_of(
    form_batch(std::move(batch), numbers{8, 5}, nullptr, form, info, nullptr));
  const auto arrays = named(made, form, info);
  CATCH_CHECK(arrays.at("n_id0") == numbers{2, 3, 1, 2, 4});
  CATCH_CHECK(arrays.at("batch0") == numbers{0, 1, 0, 1, 1});
  CATCH_CHECK(arrays.at("edge_index0") == numbers{2, 3, 4, 0, 1, 1});

  // The first two edges of node 3 are of the times 10 and 20.
  form.ages = true;
  scheme.ages = true;
  batch = fetched(data, scheme, seeds);
  CATCH_CHECK(needs_of(form, info).ages);
  auto units = info;
  units.ticks_per_second = 1;
  made = value_of(form_batch(std::move(batch), numbers{8, 5}, nullptr, form,
                             units, nullptr, seeds.until));
  const auto aged = named(made, form, info);
  CATCH_CHECK(aged.at("seed_time0") == numbers{20, 30});
  CATCH_CHECK(aged.at("edge_age0") == numbers{10, 20, 10});
  CATCH_CHECK(aged.at("edge_index0") == arrays.at("edge_index0"));
  // Ages are in seconds, and times stay in the unit of the dataset.
  units.ticks_per_second = 10;
  made = value_of(form_batch(fetched(data, scheme, seeds), numbers{8, 5},
                             nullptr, form, units, nullptr, seeds.until));
  const auto of_seconds = named(made, form, units);
  CATCH_CHECK(of_seconds.at("seed_time0") == numbers{20, 30});
  CATCH_CHECK(of_seconds.at("edge_age0") == numbers{1, 2, 1});
  const auto timeless = form_batch(fetched(data, scheme, seeds), numbers{8, 5},
                                   nullptr, form, info, nullptr);
  CATCH_REQUIRE(!timeless);
  CATCH_CHECK_THAT(timeless.error().message, contains("0 of them have times"));
  form.ages = false;
  scheme.ages = false;

  auto broken = fetched(data, scheme, seeds);
  broken.graph.nodes[0].trees.resize(4);
  const auto refused =
    form_batch(std::move(broken), numbers{8, 5}, nullptr, form, info, nullptr);
  CATCH_REQUIRE(!refused);
  CATCH_CHECK_THAT(refused.error().message, contains("in whose tree they are"));
}

CATCH_TEST_CASE("pairs of trees have the times of their rows",
                "[pipelines][form_batch]") {
  auto graph = cycle(6);
  graph.edges[0].times.assign(6, {10, 20});
  const auto data = whole(graph);
  const auto info = with_task(data, links);
  batch_form form;
  form.trees = form.ages = true;
  plain_rows plain{.ends = {{2, 3}, {4, 5}}};
  plain.negatives = {.wrong_destinations = 1, .nodes = {0, 1}};
  form.wrong_destinations = true;
  const auto rows = batch_of_rows(plain, data, info);
  const numbers until{15, 25};
  const auto batch_in = [&](link_row_form layout) {
    form.rows = layout;
    auto batch = fetched(data, scheme_of(graph, {0}), rows);
    auto& nodes = batch.graph.nodes[0];
    nodes.trees.resize(nodes.ids.size());
    std::fill_n(nodes.trees.data(), nodes.trees.size(), 0);
    return named(value_of(form_batch(std::move(batch), numbers{0, 1}, &rows,
                                     form, info, nullptr, until)),
                 form, info);
  };
  CATCH_CHECK(batch_in(link_row_form::pairs).at("edge_label_time0")
              == numbers{15, 25, 15, 25});
  CATCH_CHECK(batch_in(link_row_form::triplets).at("seed_time0")
              == numbers{15, 25});
}

CATCH_TEST_CASE("a form does not depend on parts", "[pipelines][form_batch]") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CATCH_CAPTURE(seed);
    const auto graph = random_graph(seed);
    const auto seeds = random_seeds(graph, seed);
    const auto scheme = scheme_of(graph, {3, 2});
    batch_form form;
    form.edge_ids = true;
    form.layout = seed % 2 == 0 ? edge_layout::coo : edge_layout::csr;
    std::vector<std::map<std::string, numbers>> made;
    for (const auto& cut_up :
         {whole(graph), cut(graph, 3, random_assignment(graph, 3, seed))})
      made.push_back(
        named(value_of(form_batch(fetched(cut_up, scheme, seeds), seeds,
                                  nullptr, form, cut_up.graph->info(),
                                  buffer_pool::make(1 << 20))),
              form, cut_up.graph->info()));
    CATCH_CHECK(made[0] == made[1]);
  }
}

CATCH_TEST_CASE("merged edges are those of all types, row by row",
                "[pipelines][form_batch]") {
  auto graph = cycle(6);
  graph.edges.push_back({0, "back", 0, {{3}, {}, {5, 4}, {}, {}, {}}});
  const auto data = whole(graph);
  const auto& info = data.graph->info();
  batch_form form;
  form.merged = true;
  const auto batch =
    value_of(form_batch(fetched(data, scheme_of(graph, {-1}), {2, 0}), {},
                        nullptr, form, info, nullptr));
  auto arrays = named(batch, form, info);
  CATCH_CHECK(arrays["n_id0"] == numbers{2, 0, 1, 3, 5, 4});
  CATCH_CHECK(arrays["edge_index0"]
              == numbers{2, 3, 4, 5, 4, 2, 3, 0, 0, 0, 0, 1, 1, 1});
  CATCH_CHECK(arrays["edge_type0"] == numbers{0, 0, 1, 1, 0, 0, 1});
  CATCH_CHECK(batch.edges == std::vector<numbers>{{7}});
}

CATCH_TEST_CASE("edge types of several node types cannot be merged",
                "[pipelines][form_batch]") {
  auto graph = cycle(6);
  graph.nodes.push_back({"other", 2});
  const auto data = whole(graph);
  batch_form form;
  form.merged = true;
  const auto reason =
    error_of(form_batch(fetched(data, scheme_of(graph, {-1}), {2}), {}, nullptr,
                        form, data.graph->info(), nullptr));
  CATCH_CHECK(reason.code == ec::invalid_argument);
}

CATCH_TEST_CASE("links of the cycle of six with negatives",
                "[pipelines][form_batch]") {
  const auto graph = whole(cycle(6));
  auto task = links;
  task.weighted = true;
  const auto info = with_task(graph, task);
  constexpr auto none = negative_lists::none;
  const auto rows = batch_of_rows(
    {{{2, 3}, {3, 4}}, {}, {0.5F, 2}, {2, 1, {0, none, 3, 2, 5, 2}}}, graph,
    info);
  // Nodes 2, 3, 0, 4, 5 in this order. Negatives of the first edge are 2-0, and
  // 3-3; of the second 3-2, 3-5, and 2-4.
  CATCH_REQUIRE(rows.nodes
                == std::vector<std::vector<node_id>>{{2, 3, 0, 4, 5}});
  batch_form form;
  form.wrong_destinations = form.wrong_sources = true;
  const auto made = [&] {
    return named(
      value_of(form_batch(fetched(graph, scheme_of(cycle(6), {0}), rows),
                          numbers{8, 6}, &rows, form, info, nullptr)),
      form, info);
  };
  auto arrays = made();
  CATCH_CHECK(arrays["n_id0"] == numbers{2, 3, 0, 4, 5});
  CATCH_CHECK(arrays["edge_label_index0"]
              == numbers{0, 1, 0, 1, 1, 1, 0, 1, 3, 2, 1, 0, 4, 3});
  CATCH_CHECK(arrays["edge_label0"] == numbers{1, 1, 0, 0, 0, 0, 0});
  CATCH_CHECK(arrays["input_id0"] == numbers{8, 6});
  CATCH_CHECK(!arrays.contains("y0"));
  CATCH_CHECK(!arrays.contains("src_index0"));

  form.rows = link_row_form::triplets;
  arrays = made();
  CATCH_CHECK(arrays["src_index0"] == numbers{0, 1});
  CATCH_CHECK(arrays["dst_pos_index0"] == numbers{1, 3});
  CATCH_CHECK(arrays["dst_neg_index0"] == numbers{2, -1, 0, 4});
  CATCH_CHECK(arrays["src_neg_index0"] == numbers{1, 0});
  CATCH_CHECK(arrays["input_id0"] == numbers{8, 6});
  CATCH_CHECK(!arrays.contains("edge_label_index0"));
  CATCH_CHECK(!arrays.contains("edge_label0"));
}

CATCH_TEST_CASE("what a row has goes to each of its pairs",
                "[pipelines][form_batch]") {
  auto graph = cycle(6);
  graph.edges.push_back({0, "back", 0, {{}, {}, {}, {}, {}, {}}});
  const auto data = whole(graph);
  const auto info =
    with_task(data, {.name = "link", .edge_types = {1, 0}, .weighted = true});
  const auto rows = batch_of_rows(
    {{{0, 1}, {1, 2}, {2, 0}}, {0, 1, 0}, {2, 3, 4}, {1, 0, {5, 0, 1}}}, data,
    info);
  // Nodes 0, 1, 5, 2.
  batch_form form;
  form.wrong_destinations = true;
  const auto made = [&] {
    return named(
      value_of(form_batch(fetched(data, scheme_of(graph, {0}), rows),
                          numbers{4, 5, 6}, &rows, form, info, nullptr)),
      form, info);
  };
  auto arrays = made();
  CATCH_CHECK(arrays["edge_label_index1"] == numbers{0, 3, 0, 3, 1, 0, 2, 1});
  CATCH_CHECK(arrays["edge_label_weight1"] == numbers{2, 4, 2, 4});
  CATCH_CHECK(arrays["input_id1"] == numbers{4, 6});
  CATCH_CHECK(arrays["edge_label_index0"] == numbers{1, 1, 3, 0});
  CATCH_CHECK(arrays["edge_label_weight0"] == numbers{3, 3});
  CATCH_CHECK(arrays["edge_label0"] == numbers{1, 0});
  CATCH_CHECK(arrays["input_id0"] == numbers{5});

  form.merged = true;
  arrays = made();
  CATCH_CHECK(arrays["edge_label_index0"]
              == numbers{0, 1, 3, 0, 1, 3, 1, 3, 0, 2, 0, 1});
  CATCH_CHECK(arrays["edge_label_weight0"] == numbers{2, 3, 4, 2, 3, 4});
  CATCH_CHECK(arrays["edge_label_type0"] == numbers{1, 0, 1, 1, 0, 1});
  CATCH_CHECK(arrays["input_id0"] == numbers{4, 5, 6});

  form.rows = link_row_form::triplets;
  arrays = made();
  CATCH_CHECK(arrays["dst_neg_index0"] == numbers{2, 0, 1});
  CATCH_CHECK(arrays["edge_label_weight0"] == numbers{2, 3, 4});
  CATCH_CHECK(arrays["edge_label_type0"] == numbers{1, 0, 1});
}

CATCH_TEST_CASE("negatives that all rows share are one list",
                "[pipelines][form_batch]") {
  const auto graph = whole(cycle(6));
  const auto info = with_task(graph, links);
  plain_rows plain{{{2, 3}, {3, 4}}};
  plain.negatives.joint_destinations = {{5, 3, 0}};
  const auto rows = batch_of_rows(plain, graph, info);
  batch_form form;
  form.wrong_destinations = true;
  form.rows = link_row_form::triplets;
  const auto batch =
    value_of(form_batch(fetched(graph, scheme_of(cycle(6), {0}), rows),
                        numbers{8, 6}, &rows, form, info, nullptr));
  // Nodes 2, 3, 4, 5, 0.
  auto arrays = named(batch, form, info);
  CATCH_CHECK(arrays["dst_neg_index0"] == numbers{3, 1, 4});
  CATCH_CHECK(arrays["dst_pos_index0"] == numbers{1, 2});
}

CATCH_TEST_CASE("negatives of which both ends are wrong",
                "[pipelines][form_batch]") {
  const auto graph = whole(cycle(6));
  const auto info = with_task(graph, links);
  constexpr auto none = negative_lists::none;
  plain_rows plain{{{2, 3}, {3, 4}}};
  plain.negatives.wrong_pairs = 2;
  plain.negatives.nodes = {0, 5, 3, 3, none, none, 4, 2};
  const auto rows = batch_of_rows(plain, graph, info);
  // Nodes 2, 3, 0, 5, 4.
  batch_form form;
  form.wrong_destinations = form.wrong_sources = true;
  const auto made = [&] {
    return named(
      value_of(form_batch(fetched(graph, scheme_of(cycle(6), {0}), rows),
                          numbers{8, 6}, &rows, form, info, nullptr)),
      form, info);
  };
  auto arrays = made();
  CATCH_CHECK(arrays["edge_label_index0"]
              == numbers{0, 1, 2, 1, 4, 1, 4, 3, 1, 0});
  CATCH_CHECK(arrays["edge_label0"] == numbers{1, 1, 0, 0, 0});
  form.rows = link_row_form::triplets;
  arrays = made();
  CATCH_CHECK(arrays["src_neg_index0"] == numbers{2, 1, -1, 4});
  CATCH_CHECK(arrays["dst_neg_index0"] == numbers{3, 1, -1, 0});
}

CATCH_TEST_CASE("edges with labels have no negatives",
                "[pipelines][form_batch]") {
  const auto graph = whole(cycle(6));
  auto task = links;
  task.kind = edge_task_kind::edge_class;
  task.class_count = 4;
  auto info = with_task(graph, task);
  auto rows = batch_of_rows({{{2, 3}, {3, 4}}}, graph, info);
  rows.classes = {3, -1};
  batch_form form;
  const auto batch = [&] {
    return value_of(form_batch(fetched(graph, scheme_of(cycle(6), {0}), rows),
                               numbers{8, 6}, &rows, form, info, nullptr));
  };
  auto arrays = named(batch(), form, info);
  CATCH_CHECK(arrays["edge_label0"] == numbers{3, -1});
  CATCH_CHECK(arrays["edge_label_index0"] == numbers{0, 1, 1, 2});

  form.labels = false; // Edges that a user names.
  arrays = named(batch(), form, info);
  CATCH_CHECK(!arrays.contains("edge_label0"));
  CATCH_CHECK(arrays["edge_label_index0"] == numbers{0, 1, 1, 2});

  form.labels = true;
  task.kind = edge_task_kind::edge_labels;
  task.class_count = 3;
  info = with_task(graph, task);
  rows.classes.clear();
  rows.label_rows = {1, 0, 1, 0, 0, 1};
  const auto formed = batch();
  const auto slots = slots_of(form, info);
  for (std::size_t i = 0; i < slots.size(); ++i)
    if (slots[i].name == "edge_label") {
      const auto& array = formed.arrays[i];
      CATCH_CHECK(slots[i].element == dtype::uint8);
      CATCH_CHECK((array.rows == 2 && array.columns == 3));
      const auto* from = static_cast<const std::uint8_t*>(array.data);
      CATCH_CHECK(std::vector<std::uint8_t>(from, from + 6) == rows.label_rows);
    }
}

CATCH_TEST_CASE("rows do not depend on parts, and their bytes are bounded",
                "[pipelines][form_batch]") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CATCH_CAPTURE(seed);
    const auto graph = random_graph(seed);
    const auto& type = graph.edges.front();
    const auto sources = graph.nodes[type.source].count;
    const auto destinations = graph.nodes[type.destination].count;
    if (sources == 0 || destinations == 0)
      continue;
    random_stream draws{stream_key(seed, purpose::generate, 0, 0), 0};
    plain_rows plain;
    plain.negatives.wrong_destinations = draws.below(3);
    plain.negatives.wrong_sources = draws.below(3);
    const auto any = [&draws](std::int64_t count) {
      return static_cast<node_id>(
        draws.below(static_cast<std::uint32_t>(count)));
    };
    numbers positions;
    for (auto left = draws.below(20); left > 0; --left) {
      positions.push_back(any(1000));
      plain.ends.push_back({any(sources), any(destinations)});
      for (std::size_t k = 0; k < plain.negatives.wrong_destinations; ++k)
        plain.negatives.nodes.push_back(any(destinations));
      for (std::size_t k = 0; k < plain.negatives.wrong_sources; ++k)
        plain.negatives.nodes.push_back(any(sources));
    }
    batch_form form;
    form.wrong_destinations = plain.negatives.wrong_destinations > 0;
    form.wrong_sources = plain.negatives.wrong_sources > 0;
    form.rows = seed % 2 == 0 ? link_row_form::pairs : link_row_form::triplets;
    std::vector<std::map<std::string, numbers>> made;
    for (const auto& cut_up :
         {whole(graph), cut(graph, 3, random_assignment(graph, 3, seed))}) {
      const auto info = with_task(cut_up, links);
      const auto rows = batch_of_rows(plain, cut_up, info);
      auto batch = fetched(cut_up, scheme_of(graph, {2}), rows);
      const auto needs = needs_of(form, info);
      const auto booked =
        bytes_of(batch.graph, info, needs) + bytes_of(rows, needs);
      const auto formed = value_of(
        form_batch(std::move(batch), positions, &rows, form, info, nullptr));
      auto held = formed.data.graph.byte_size() + rows.row_bytes();
      for (const auto& array : formed.numbers)
        held += array.span().size_bytes();
      for (const auto& array : formed.values)
        held += array.span().size_bytes();
      for (const auto& ids : formed.data.embedding_rows)
        held += ids.span().size_bytes();
      CATCH_CHECK(held <= booked);
      made.push_back(named(formed, form, info));
    }
    CATCH_CHECK(made[0] == made[1]);
  }
}

CATCH_TEST_CASE("the bytes of a form bound what its batches hold",
                "[pipelines][form_batch]") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CATCH_CAPTURE(seed);
    const auto graph = random_graph(seed);
    const auto data = whole(graph);
    const auto& info = data.graph->info();
    const auto seeds = random_seeds(graph, seed);
    const auto scheme = scheme_of(graph, {4, 3});
    batch_form form;
    form.edge_ids = true;
    auto batch = fetched(data, scheme, seeds);
    const auto booked = bytes_of(batch.graph, info, needs_of(form, info));
    const auto bound = bytes_of(bound_of(info, scheme, std::ssize(seeds)), info,
                                needs_of(form, info), scheme);
    const auto formed = value_of(
      form_batch(std::move(batch), seeds, nullptr, form, info, nullptr));
    auto held = formed.data.graph.byte_size();
    for (const auto& made : formed.numbers)
      held += made.span().size_bytes();
    held -= seeds.size() * sizeof(seed_row); // Nothing beside the rest.
    for (const auto& ids : formed.data.embedding_rows)
      held += ids.span().size_bytes();
    CATCH_CHECK(held <= booked);
    CATCH_CHECK(booked <= bound);
  }
}

} // namespace graphmill::test::formed
