#include "pipelines/flow/feed/form_batch.hpp"

#include "messages/base/random.hpp"
#include "pipelines/flow/batch_size.hpp"
#include "tests/partition/sampling/support.hpp"

#include <map>
#include <string>
#include <utility>

namespace graphmill::test::formed {

namespace {

using numbers = std::vector<std::int64_t>;

/// A batch as the fetcher leaves it, without features and labels.
fetched_batch fetched(const cut_graph& graph, const sampling_scheme& scheme,
                      const std::vector<node_id>& originals) {
  fetched_batch out;
  std::vector<node_id> seeds;
  for (const auto id : originals)
    seeds.push_back(graph.to_global[graph.graph->info().target][id]);
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
  for (std::size_t i = 0; i < slots.size(); ++i)
    if (slots[i].element == dtype::int64)
      out[std::string{slots[i].name} + std::to_string(slots[i].type)] =
        list_of(batch.arrays[i]);
  return out;
}

} // namespace

CATCH_TEST_CASE("the cycle of six as pairs and as lists",
                "[pipelines][form_batch]") {
  const auto graph = whole(cycle(6));
  const auto& info = graph.graph->info();
  const auto scheme = scheme_of(cycle(6), {-1, -1});
  batch_form form;
  form.edge_ids = true;
  auto batch = value_of(form_batch(fetched(graph, scheme, {2, 3}),
                                   numbers{8, 5}, form, info, nullptr));
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
                              form, info, nullptr));
  arrays = named(batch, form, info);
  CATCH_CHECK(arrays["indptr0"] == numbers{0, 2, 4, 6, 8});
  CATCH_CHECK(arrays["indices0"] == numbers{2, 1, 0, 3, 4, 0, 1, 5});
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
      made.push_back(named(
        value_of(form_batch(fetched(cut_up, scheme, seeds), seeds, form,
                            cut_up.graph->info(), buffer_pool::make(1 << 20))),
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
  const auto batch = value_of(form_batch(
    fetched(data, scheme_of(graph, {-1}), {2, 0}), {}, form, info, nullptr));
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
    error_of(form_batch(fetched(data, scheme_of(graph, {-1}), {2}), {}, form,
                        data.graph->info(), nullptr));
  CATCH_CHECK(reason.code == ec::invalid_argument);
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
    const auto formed =
      value_of(form_batch(std::move(batch), seeds, form, info, nullptr));
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
