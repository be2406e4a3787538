#include "pipelines/flow/negatives.hpp"

#include "messages/base/random.hpp"
#include "partition/dataset/chosen_task.hpp"
#include "partition/dataset/shard.hpp"
#include "partition/writing/dataset_writer.hpp"
#include "pipelines/flow/epoch_plan.hpp"
#include "pipelines/flow/step_seeds.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

namespace graphmill::test::negatives {

namespace {

/// Rows of links in original ids: users (type 1) buy items (type 0), and know
/// users.
struct plain_links {
  std::vector<std::int64_t> counts{7, 12};
  std::vector<std::int32_t> relations;
  std::vector<std::array<node_id, 2>> rows;
  std::vector<std::array<std::vector<node_id>, 2>> known; ///< Of each row.
  std::size_t given = 0;
  std::vector<node_id> negatives; ///< [rows, given]
};

/// The same cut into parts: global ids by original id, of each type.
struct cut_links {
  dataset_info info;
  link_negatives::node_orders orders;
  std::vector<std::vector<node_id>> originals;
  // Behind the table.
  std::array<std::vector<node_id>, 2> nodes;
  std::array<std::vector<node_type_id>, 2> types;
  std::vector<std::int32_t> relations;
  std::vector<edge_id> ids;
  std::vector<node_id> negatives;
  std::vector<std::int64_t> known_rows;
  std::vector<std::int64_t> known_begins{0};
  std::vector<node_id> known;
  seed_table table;

  cut_links(const plain_links& from, std::uint64_t seed, split which) {
    info.node_types = {{.name = "item", .count = from.counts[0]},
                       {.name = "user", .count = from.counts[1]}};
    info.edge_types = {{.source = 1, .name = "buys", .destination = 0},
                       {.source = 1, .name = "knows", .destination = 1}};
    info.tasks = {{.name = "links", .edge_types = {0, 1}}};
    info.tasks[0].negative_counts[static_cast<std::size_t>(which)] =
      static_cast<std::int64_t>(from.given);
    info = value_of(choose_task(info, "links"));
    number(from, seed);
    edge_rows edges;
    edges.which = which;
    edges.ends = {{1, 0}, {1, 1}};
    relations = from.relations;
    for (std::size_t r = 0; r < from.rows.size(); ++r) {
      ids.push_back(100 + static_cast<edge_id>(r));
      for (std::size_t c = 0; c < 2; ++c) {
        types[c].push_back(
          edges.ends[static_cast<std::size_t>(relations[r])][c]);
        nodes[c].push_back(global(types[c].back(), from.rows[r][c]));
      }
      for (std::size_t k = 0; k < from.given; ++k)
        negatives.push_back(
          global(types[1].back(), from.negatives[r * from.given + k]));
      if (from.known.empty())
        continue;
      for (const std::size_t c : {1, 0}) { // Destinations first.
        known_rows.push_back(std::ssize(known_begins) - 1);
        std::vector<node_id> own;
        for (const auto id : from.known[r][c == 1 ? 0 : 1])
          own.push_back(global(types[c].back(), id));
        std::sort(own.begin(), own.end());
        known.insert(known.end(), own.begin(), own.end());
        known_begins.push_back(std::ssize(known));
      }
    }
    edges.relations = relations;
    edges.ids = ids;
    edges.negatives = negatives;
    edges.given = from.given;
    if (!from.known.empty())
      edges.known = {known_rows, known_begins, known};
    for (std::size_t c = 0; c < 2; ++c)
      table.columns.push_back({edges.ends[0][c], nodes[c], types[c]});
    table.edges = edges;
  }
  cut_links(const cut_links&) = delete;
  cut_links& operator=(const cut_links&) = delete;

  node_id global(node_type_id type, node_id original) const {
    const auto& order = orders[static_cast<std::size_t>(type)];
    return order ? (*order)[static_cast<std::size_t>(original)] : original;
  }
  node_id original(node_type_id type, node_id id) const {
    return id == negative_lists::none
             ? id
             : originals[static_cast<std::size_t>(type)]
                        [static_cast<std::size_t>(id)];
  }

  /// The negatives of each row in original ids, by its position.
  void add(const negative_lists& lists, std::span<const seed_row> rows,
           std::map<seed_row, std::vector<node_id>>& out) const {
    CATCH_REQUIRE(lists.nodes.size() == rows.size() * lists.of_each());
    for (std::size_t r = 0; r < rows.size(); ++r) {
      auto& of_row = out[rows[r]];
      CATCH_REQUIRE(of_row.empty());
      for (std::size_t k = 0; k < lists.of_each(); ++k) {
        const auto single = lists.wrong_destinations + lists.wrong_sources;
        const auto end = k < single ? std::size_t{k < lists.wrong_destinations}
                                    : (k - single) % 2;
        of_row.push_back(original(table.columns[end].type_of(rows[r]),
                                  lists.nodes[r * lists.of_each() + k]));
      }
    }
  }

private:
  /// @param seed 0: nothing is cut.
  void number(const plain_links& from, std::uint64_t seed) {
    for (std::size_t t = 0; t < from.counts.size(); ++t) {
      std::vector<node_id> order(static_cast<std::size_t>(from.counts[t]));
      std::iota(order.begin(), order.end(), node_id{0});
      random_stream draws{stream_key(seed, purpose::partition, 0, t), 0};
      for (auto left = order.size(); seed != 0 && left > 1; --left)
        std::swap(order[left - 1],
                  order[draws.below(static_cast<std::uint32_t>(left))]);
      auto& back = originals.emplace_back(order.size());
      for (std::size_t i = 0; i < order.size(); ++i)
        back[static_cast<std::size_t>(order[i])] = static_cast<node_id>(i);
      orders.push_back(seed == 0
                         ? nullptr
                         : std::make_shared<const std::vector<node_id>>(order));
    }
  }
};

plain_links random_links(std::uint64_t seed, std::size_t rows) {
  plain_links out;
  random_stream draws{stream_key(seed, purpose::generate, 0, 0), 3};
  for (std::size_t r = 0; r < rows; ++r) {
    const auto relation = draws.below(2);
    out.relations.push_back(static_cast<std::int32_t>(relation));
    const auto below = [&](std::size_t type) {
      return static_cast<node_id>(
        draws.below(static_cast<std::uint32_t>(out.counts[type])));
    };
    out.rows.push_back({below(1), below(relation)});
  }
  return out;
}

definition links_of(negative_kind kind, std::uint32_t count,
                    corrupted_end corrupt,
                    negative_weight weight = negative_weight::uniform) {
  definition out;
  out.seed = 5;
  out.task = "links";
  out.negatives = {kind, count, corrupt, weight};
  out.evaluate.negatives = 4;
  return out;
}

std::vector<seed_row> all_rows(const seed_table& table) {
  std::vector<seed_row> out(static_cast<std::size_t>(table.rows()));
  std::iota(out.begin(), out.end(), seed_row{0});
  return out;
}

} // namespace

CATCH_TEST_CASE("negatives are the same for any ranks, parts and order",
                "[flow][negatives]") {
  const auto plain = random_links(1, 97);
  for (const auto weight : {negative_weight::uniform, negative_weight::degree})
    for (const auto corrupt :
         {corrupted_end::destination, corrupted_end::source,
          corrupted_end::both, corrupted_end::pair}) {
      const auto def = links_of(negative_kind::per_edge, 3, corrupt, weight);
      std::map<seed_row, std::vector<node_id>> expected;
      for (const std::uint64_t cut : {0, 1, 2, 3})
        for (const rank_id ranks : {1, 2, 4})
          for (const std::int64_t batch : {1000, 32, 7}) {
            const cut_links links{plain, cut, split::train};
            const link_negatives source{def, links.info, links.orders,
                                        links.table};
            epoch_plan_options options{batch, ranks, seed_order::local, {}};
            options.owner = [cut](seed_row row) {
              return static_cast<part_id>(
                mix64(cut + static_cast<std::uint64_t>(row)) % 5);
            };
            const epoch_plan plan{links.table.rows(), options, def.seed,
                                  phase::train, 2};
            std::map<seed_row, std::vector<node_id>> out;
            for (std::int64_t step = 0; step < plan.steps(); ++step)
              for (const auto& rows : plan.split(step)) {
                const auto lists =
                  source.of(links.table, rows, phase::train, 2, step);
                const auto twice = corrupt == corrupted_end::both
                                   || corrupt == corrupted_end::pair;
                CATCH_REQUIRE(lists.of_each() == (twice ? 6 : 3));
                links.add(lists, rows, out);
              }
            if (expected.empty())
              expected = out;
            CATCH_REQUIRE(out == expected);
          }
      CATCH_CHECK(expected.size() == 97);
    }
}

CATCH_TEST_CASE("negatives change with epochs, and not with the other end",
                "[flow][negatives]") {
  const auto plain = random_links(2, 40);
  const cut_links links{plain, 0, split::train};
  const auto rows = all_rows(links.table);
  const auto of = [&](corrupted_end corrupt, std::int32_t epoch) {
    return link_negatives{links_of(negative_kind::per_edge, 5, corrupt),
                          links.info, links.orders, links.table}
      .of(links.table, rows, phase::train, epoch, 0);
  };
  const auto destinations = of(corrupted_end::destination, 0);
  const auto sources = of(corrupted_end::source, 0);
  const auto both = of(corrupted_end::both, 0);
  CATCH_CHECK(destinations.wrong_sources == 0);
  CATCH_CHECK(sources.wrong_destinations == 0);
  CATCH_CHECK(of(corrupted_end::both, 1).nodes != both.nodes);
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::size_t k = 0; k < 5; ++k) {
      CATCH_REQUIRE(both.nodes[10 * r + k] == destinations.nodes[5 * r + k]);
      CATCH_REQUIRE(both.nodes[10 * r + 5 + k] == sources.nodes[5 * r + k]);
      CATCH_REQUIRE(
        destinations.nodes[5 * r + k]
        < plain.counts[static_cast<std::size_t>(plain.relations[r])]);
      CATCH_REQUIRE(sources.nodes[5 * r + k] < plain.counts[1]);
    }
}

CATCH_TEST_CASE("wrong pairs are the wrong sources and destinations of both",
                "[flow][negatives]") {
  const auto plain = random_links(8, 40);
  const cut_links links{plain, 0, split::train};
  const auto rows = all_rows(links.table);
  for (const auto weight :
       {negative_weight::uniform, negative_weight::degree}) {
    const auto of = [&](corrupted_end corrupt) {
      return link_negatives{
        links_of(negative_kind::per_edge, 5, corrupt, weight), links.info,
        links.orders, links.table}
        .of(links.table, rows, phase::train, 3, 1);
    };
    const auto both = of(corrupted_end::both);
    const auto pairs = of(corrupted_end::pair);
    CATCH_CHECK(pairs.wrong_pairs == 5);
    CATCH_CHECK(pairs.wrong_destinations + pairs.wrong_sources == 0);
    CATCH_REQUIRE(pairs.nodes.size() == both.nodes.size());
    for (std::size_t r = 0; r < rows.size(); ++r)
      for (std::size_t k = 0; k < 5; ++k) {
        CATCH_REQUIRE(pairs.nodes[10 * r + 2 * k]
                      == both.nodes[10 * r + 5 + k]);
        CATCH_REQUIRE(pairs.nodes[10 * r + 2 * k + 1]
                      == both.nodes[10 * r + k]);
      }
  }
}

CATCH_TEST_CASE("links that are known later are drawn as little",
                "[flow][negatives]") {
  const auto plain = random_links(9, 60);
  const cut_links links{plain, 0, split::train};
  const auto& task = links.info.tasks[0];
  std::vector<std::vector<unknown_pairs::pair>> known(2);
  for (std::size_t r = 0; r < plain.rows.size(); ++r)
    known[static_cast<std::size_t>(plain.relations[r])].emplace_back(
      plain.rows[r][0], plain.rows[r][1]);
  auto few = known;
  few[0].resize(5);
  auto later = value_of(unknown_pairs::make(links.info, task, few));
  CATCH_CHECK(later.known(0) <= 5);
  later.add(0, known[0]);
  const auto whole = value_of(unknown_pairs::make(links.info, task, known));
  CATCH_CHECK(later.known(0) == whole.known(0));
  for (std::uint64_t i = 0; i < 100; ++i) {
    random_stream one{stream_key(1, purpose::test_negatives, 0, 0), i};
    random_stream other{stream_key(1, purpose::test_negatives, 0, 0), i};
    CATCH_CHECK(later.draw(0, one) == whole.draw(0, other));
  }
}

CATCH_TEST_CASE("evaluations draw no pair that is a link of any split",
                "[flow][negatives]") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CATCH_INFO("seed " << seed);
    // From few links to nearly all pairs, and then all of a type.
    auto plain = random_links(seed, 20 + 15 * seed);
    if (seed == 39)
      for (node_id user = 0; user < 12; ++user)
        for (node_id item = 0; item < 7; ++item) {
          plain.relations.push_back(0);
          plain.rows.push_back({user, item});
        }
    std::vector<std::vector<unknown_pairs::pair>> known(2);
    std::set<std::array<node_id, 3>> links_of_any;
    for (std::size_t r = 0; r < plain.rows.size(); ++r) {
      const auto relation = static_cast<std::size_t>(plain.relations[r]);
      known[relation].emplace_back(plain.rows[r][0], plain.rows[r][1]);
      links_of_any.insert(
        {plain.relations[r], plain.rows[r][0], plain.rows[r][1]});
    }
    std::array<int, 2> left{12 * 7, 12 * 11};
    for (const auto& [relation, source, destination] : links_of_any)
      if (relation == 0 || source != destination)
        --left[static_cast<std::size_t>(relation)];
    CATCH_REQUIRE((seed != 39 || left[0] == 0));
    // The rows that are evaluated are some of them.
    plain.rows.resize(20);
    plain.relations.resize(20);
    const auto def = links_of(negative_kind::per_edge, 1, corrupted_end::pair);
    std::map<seed_row, std::vector<node_id>> expected;
    for (const std::uint64_t cut : {0, 1, 2}) {
      const cut_links links{plain, cut, split::validation};
      const link_negatives source{
        def, links.info, links.orders, links.table,
        std::make_shared<const unknown_pairs>(value_of(
          unknown_pairs::make(links.info, links.info.tasks[0], known)))};
      const auto rows = all_rows(links.table);
      std::map<seed_row, std::vector<node_id>> out;
      for (std::size_t first = 0; first < rows.size(); first += 7) {
        const auto own = std::span{rows}.subspan(
          first, std::min<std::size_t>(7, rows.size() - first));
        const auto lists = source.of(links.table, own, phase::validation,
                                     static_cast<std::int32_t>(first), 3);
        CATCH_REQUIRE(lists.wrong_pairs == 4);
        links.add(lists, own, out);
      }
      if (expected.empty())
        expected = out;
      CATCH_REQUIRE(out == expected);
    }
    for (const auto& [row, ids] : expected) {
      const auto relation = plain.relations[static_cast<std::size_t>(row)];
      CATCH_REQUIRE(ids.size() == 8);
      for (std::size_t k = 0; k < 8; k += 2) {
        const auto none = left[static_cast<std::size_t>(relation)] == 0;
        CATCH_REQUIRE((ids[k] == negative_lists::none) == none);
        CATCH_REQUIRE((ids[k + 1] == negative_lists::none) == none);
        CATCH_REQUIRE_FALSE(
          links_of_any.contains({relation, ids[k], ids[k + 1]}));
        CATCH_REQUIRE((none || relation == 0 || ids[k] != ids[k + 1]));
      }
    }
  }
}

CATCH_TEST_CASE("all unknown pairs have the same chance, and no others any",
                "[flow][negatives]") {
  dataset_info info;
  info.node_types = {{.name = "item", .count = 4},
                     {.name = "user", .count = 3}};
  info.edge_types = {{.source = 1, .name = "buys", .destination = 0},
                     {.source = 1, .name = "knows", .destination = 1}};
  const edge_task_info task{.name = "links", .edge_types = {0, 1}};
  using pair = unknown_pairs::pair;
  const std::vector<std::vector<pair>> known{
    {{0, 0}, {0, 1}, {2, 3}, {0, 1}, {1, 2}}, {{0, 1}, {1, 1}, {2, 1}}};
  const auto pairs = value_of(unknown_pairs::make(info, task, known));
  random_stream draws{stream_key(3, purpose::generate, 0, 0), 0};
  for (const std::size_t relation : {0, 1}) {
    std::map<pair, int> drawn;
    constexpr int total = 40'000;
    for (int i = 0; i < total; ++i)
      ++drawn[pairs.draw(relation, draws).value()];
    const std::size_t wanted = relation == 0 ? 12 - 4 : 6 - 2;
    CATCH_CHECK(drawn.size() == wanted);
    double chi = 0;
    for (const auto& [one, count] : drawn) {
      CATCH_CHECK(one.first < 3);
      CATCH_CHECK(one.second < (relation == 0 ? 4u : 3u));
      CATCH_CHECK((relation == 0 || one.first != one.second));
      CATCH_CHECK(std::find(known[relation].begin(), known[relation].end(), one)
                  == known[relation].end());
      const auto expected = double(total) / double(wanted);
      chi += (count - expected) * (count - expected) / expected;
    }
    CATCH_CHECK(chi < 24.4); // Of seven degrees of freedom, one in a thousand.
  }
  // Of a type that is its own reverse, each row stands for two.
  auto undirected = task;
  undirected.reverse_types = {std::nullopt, 1};
  const auto fewer = value_of(unknown_pairs::make(info, undirected, known));
  std::set<pair> left;
  for (int i = 0; i < 1000; ++i)
    left.insert(fewer.draw(1, draws).value());
  CATCH_CHECK(left == std::set<pair>{{0, 2}, {2, 0}});
  info.node_types[0].count = std::int64_t{1} << 40;
  info.node_types[1].count = std::int64_t{1} << 40;
  CATCH_CHECK_THAT(error_of(unknown_pairs::make(info, task, {{}, {}})).message,
                   contains("less than 2^64 pairs"));
}

CATCH_TEST_CASE("the negatives of a row are those that its stream draws",
                "[flow][negatives]") {
  const auto plain = random_links(3, 9);
  const cut_links links{plain, 0, split::train};
  const auto def = links_of(negative_kind::per_edge, 2, corrupted_end::both);
  const link_negatives source{def, links.info, links.orders, links.table};
  const auto lists =
    source.of(links.table, std::vector<seed_row>{8}, phase::train, 4, 3);
  const auto key = stream_key(5, purpose::train_negatives, 4, 0);
  random_stream destinations{key, 8, 0};
  random_stream sources{key, 8, 1};
  const auto count = static_cast<std::uint32_t>(
    plain.counts[static_cast<std::size_t>(plain.relations[8])]);
  CATCH_CHECK(lists.nodes
              == std::vector<node_id>{destinations.below(count),
                                      destinations.below(count),
                                      sources.below(12), sources.below(12)});
}

CATCH_TEST_CASE("joint negatives are those of the step, of each type of an end",
                "[flow][negatives]") {
  const auto plain = random_links(4, 60);
  const auto def = links_of(negative_kind::joint, 6, corrupted_end::both);
  std::vector<negative_lists> expected;
  for (const std::uint64_t cut : {0, 1, 2}) {
    const cut_links links{plain, cut, split::train};
    const link_negatives source{def, links.info, links.orders, links.table};
    std::vector<negative_lists> out;
    for (std::int64_t step = 0; step < 3; ++step)
      for (const seed_row row : {0, 7, 33}) { // Of three ranks.
        auto lists = source.of(links.table, std::vector<seed_row>{row},
                               phase::train, 1, step);
        CATCH_REQUIRE(lists.of_each() == 0);
        for (auto* ends : {&lists.joint_destinations, &lists.joint_sources})
          for (std::size_t t = 0; t < ends->size(); ++t)
            for (auto& id : (*ends)[t])
              id = links.original(static_cast<node_type_id>(t), id);
        CATCH_REQUIRE(lists.joint_destinations[0].size() == 6);
        CATCH_REQUIRE(lists.joint_destinations[1].size() == 6);
        CATCH_REQUIRE(lists.joint_sources[0].empty()); // Items buy nothing.
        CATCH_REQUIRE(lists.joint_sources[1].size() == 6);
        CATCH_REQUIRE(lists.joint_sources[1] != lists.joint_destinations[1]);
        out.push_back(std::move(lists));
      }
    CATCH_CHECK(out[0] == out[1]);
    CATCH_CHECK(out[0] == out[2]);
    CATCH_CHECK(out[0] != out[3]);
    if (expected.empty())
      expected = out;
    CATCH_CHECK(out == expected);
  }
}

CATCH_TEST_CASE("evaluations draw no known links", "[flow][negatives]") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CATCH_INFO("seed " << seed);
    auto plain = random_links(seed, 30);
    random_stream draws{stream_key(seed, purpose::generate, 1, 0), 0};
    for (std::size_t r = 0; r < plain.rows.size(); ++r) {
      auto& known = plain.known.emplace_back();
      const std::array types{static_cast<std::size_t>(plain.relations[r]),
                             std::size_t{1}};
      for (std::size_t end = 0; end < 2; ++end) {
        // None but the row's own, many, all but one, or all.
        const auto way = draws.below(4);
        const auto spared =
          draws.below(static_cast<std::uint32_t>(plain.counts[types[end]]));
        for (node_id id = 0; id < plain.counts[types[end]]; ++id)
          if (id == plain.rows[r][1 - end] || (way == 1 && draws.below(5) != 0)
              || (way == 2 && id != spared) || way == 3)
            known[end].push_back(id);
      }
    }
    const auto def = links_of(negative_kind::joint, 3, corrupted_end::both);
    std::map<seed_row, std::vector<node_id>> expected;
    for (const std::uint64_t cut : {0, 1, 2}) {
      const cut_links links{plain, cut, split::validation};
      const link_negatives source{def, links.info, links.orders, links.table};
      const auto rows = all_rows(links.table);
      std::map<seed_row, std::vector<node_id>> out;
      for (const std::size_t ranks : {1, 2, 4}) {
        std::map<seed_row, std::vector<node_id>> now;
        for (std::size_t r = 0; r < ranks; ++r) {
          const auto own = std::span{rows}.subspan(r * rows.size() / ranks,
                                                   (r + 1) * rows.size() / ranks
                                                     - r * rows.size() / ranks);
          // Of any epoch and step.
          links.add(source.of(links.table, own, phase::validation,
                              static_cast<std::int32_t>(r), 9),
                    own, now);
        }
        CATCH_REQUIRE((out.empty() || out == now));
        out = now;
      }
      if (expected.empty())
        expected = out;
      CATCH_REQUIRE(out == expected);
    }
    for (const auto& [row, ids] : expected) {
      const auto r = static_cast<std::size_t>(row);
      CATCH_REQUIRE(ids.size() == 8);
      for (std::size_t k = 0; k < 8; ++k) {
        const auto end = k < 4 ? 0U : 1U;
        const auto& known = plain.known[r][end];
        const auto type = end == 0 ? plain.relations[r] : 1;
        const auto all =
          std::ssize(known) == plain.counts[static_cast<std::size_t>(type)];
        CATCH_REQUIRE((ids[k] == negative_lists::none) == all);
        CATCH_REQUIRE(std::find(known.begin(), known.end(), ids[k])
                      == known.end());
      }
    }
  }
}

CATCH_TEST_CASE(
  "evaluations in which all negatives are known links are refused",
  "[flow][negatives]") {
  // User 0 buys both items, one of them in the test; user 1 buys the other one.
  const auto graph_with = [](const temp_folder& folder, std::int64_t items) {
    dataset_info info;
    info.name = "shop";
    info.node_types = {{.name = "item", .count = items},
                       {.name = "user", .count = 3}};
    info.edge_types = {{.source = 1, .name = "buys", .destination = 0}};
    info.tasks = {
      {.name = "links", .edge_types = {0}, .reverse_types = {std::nullopt}}};
    auto writer = value_of(dataset_writer::create(folder.path(), info, {}));
    const std::vector<node_id> users{0, 1, 0};
    const std::vector<node_id> bought{0, 0, 1};
    value_of(writer.append_edges(0, users, bought));
    value_of(writer.set_task(
      0, {.choose = [](std::span<const task_edge>) -> result<task_rows> {
        return task_rows{{{0, 1}, {}, {2}}};
      }}));
    value_of(writer.finish());
    return std::make_shared<const partitioned_graph>(value_of(
      value_of(partitioned_graph::open(folder.path())).with_task("links")));
  };
  temp_folder two;
  temp_folder three;
  const auto full = graph_with(two, 2);
  const auto def = [](corrupted_end end) {
    return links_of(negative_kind::per_edge, 2, end);
  };
  for (const auto end : {corrupted_end::destination, corrupted_end::both})
    CATCH_CHECK_THAT(
      error_of(link_negatives::make(full, def(end))).message,
      contains(
        "no test edge of \"shop\" has a negative: the source of each has "
        "known links to all nodes of its type"));
  value_of(link_negatives::make(full, def(corrupted_end::source)));
  value_of(link_negatives::make(full, def(corrupted_end::pair)));
  value_of(
    link_negatives::make(graph_with(three, 3), def(corrupted_end::both)));
}

CATCH_TEST_CASE("all other nodes are negatives if as many are wanted",
                "[flow][negatives]") {
  auto plain = random_links(5, 1);
  plain.relations = {0};
  plain.rows = {{3, 2}};
  auto& known = plain.known.emplace_back();
  known[0] = {2, 5};
  known[1] = {3, 4};
  auto def = links_of(negative_kind::per_edge, 1, corrupted_end::both);
  def.evaluate.negatives = 9; // Of 7 items and 12 users.
  for (const std::uint64_t cut : {0, 1}) {
    const cut_links links{plain, cut, split::test};
    const link_negatives source{def, links.info, links.orders, links.table};
    const auto lists =
      source.of(links.table, std::vector<seed_row>{0}, phase::test, 0, 0);
    CATCH_REQUIRE_FALSE(lists.full);
    CATCH_REQUIRE(lists.wrong_destinations == 9);
    std::map<seed_row, std::vector<node_id>> out;
    links.add(lists, std::vector<seed_row>{0}, out);
    out[0].resize(9);
    CATCH_CHECK(out[0] == std::vector<node_id>{0, 1, 3, 4, 6, -1, -1, -1, -1});
  }
}

CATCH_TEST_CASE("links in groups on paper", "[flow][negatives]") {
  plain_links plain;
  plain.relations = {0, 1, 0, 0, 0, 1};
  plain.rows = {{4, 6}, {4, 6}, {4, 2}, {9, 2}, {4, 6}, {4, 0}};
  const cut_links links{plain, 0, split::test};
  const link_groups groups{links.table};
  const auto of = [&groups](seed_row row) {
    const auto found = groups.of(row);
    return std::vector<node_id>{found.begin(), found.end()};
  };
  CATCH_CHECK(of(0) == std::vector<node_id>{2, 6});
  CATCH_CHECK(of(1) == std::vector<node_id>{0, 6});
  CATCH_CHECK(of(2) == std::vector<node_id>{2, 6});
  CATCH_CHECK(of(3) == std::vector<node_id>{2});
  CATCH_CHECK(of(4).empty()); // It repeats row 0.
  CATCH_CHECK(of(5) == std::vector<node_id>{0, 6});
}

CATCH_TEST_CASE("where all nodes are ranked, a batch has them once, and rows "
                "what is known",
                "[flow][negatives]") {
  auto plain = random_links(9, 30);
  random_stream draws{stream_key(9, purpose::generate, 1, 0), 0};
  for (std::size_t r = 0; r < plain.rows.size(); ++r) {
    auto& lists = plain.known.emplace_back();
    for (const std::size_t end : {0, 1}) {
      std::set<node_id> some{plain.rows[r][1 - end]};
      const auto type = end == 0 ? plain.relations[r] : 1;
      for (int k = 0; k < 3; ++k)
        some.insert(draws.below(static_cast<std::uint32_t>(
          plain.counts[static_cast<std::size_t>(type)])));
      lists[end].assign(some.begin(), some.end());
    }
  }
  for (const auto corrupt :
       {corrupted_end::destination, corrupted_end::source, corrupted_end::both})
    for (const std::uint64_t cut : {0, 1, 2}) {
      auto def = links_of(negative_kind::per_edge, 1, corrupt);
      def.evaluate.negatives = 4294967295;
      const cut_links links{plain, cut, split::test};
      const link_negatives source{def, links.info, links.orders, links.table};
      const std::vector<seed_row> rows{7, 3, 29};
      const auto lists = source.of(links.table, rows, phase::test, 3, 5);
      CATCH_REQUIRE(lists.full);
      CATCH_CHECK(lists.of_each() == 0);
      const auto& full = *lists.full;
      CATCH_CHECK(full.destinations == (corrupt != corrupted_end::source));
      CATCH_CHECK(full.sources == (corrupt != corrupted_end::destination));
      CATCH_CHECK(full.groups.size() == (full.destinations ? 3U : 0U));
      CATCH_REQUIRE(full.known.size() == 6);
      for (std::size_t r = 0; r < rows.size(); ++r)
        for (const std::size_t end : {0, 1}) {
          const auto row = static_cast<std::size_t>(rows[r]);
          const auto type = end == 0 ? plain.relations[row] : 1;
          std::set<node_id> got;
          for (const auto node : full.known[2 * r + end])
            got.insert(links.original(type, node));
          CATCH_CHECK(std::vector<node_id>{got.begin(), got.end()}
                      == plain.known[row][end]);
        }
      const auto batch = batch_of(links.table, rows, links.info, lists);
      const auto bound = seed_bound(def, links.info, phase::test, 3);
      for (const node_type_id type : {0, 1}) {
        const auto t = static_cast<std::size_t>(type);
        CATCH_CHECK(std::ssize(batch.nodes[t]) <= bound[t]);
        if (full.nodes->counts[t] == 0)
          continue;
        CATCH_CHECK(bound[t] == plain.counts[t]);
        CATCH_REQUIRE(std::ssize(batch.nodes[t]) == plain.counts[t]);
        for (local_id id = 0; id < plain.counts[t]; ++id) {
          const auto node = batch.nodes[t][static_cast<std::size_t>(id)];
          CATCH_CHECK(links.original(type, node) == id);
          CATCH_CHECK(full.nodes->original(type, node) == id);
        }
      }
      // Of items: sources alone are users.
      CATCH_CHECK((full.nodes->counts[0] == 0) == !full.destinations);
      for (std::size_t r = 0; r < rows.size(); ++r)
        if (full.destinations)
          CATCH_CHECK(batch.locals[2 * r + 1]
                      == plain.rows[static_cast<std::size_t>(rows[r])][1]);
      CATCH_CHECK(batch.row_bytes()
                  <= row_bound(def, links.info, phase::test, 3));
      // A rank that has no row of a step needs no nodes.
      const auto none = batch_of(links.table, {}, links.info,
                                 source.of(links.table, {}, phase::test, 0, 0));
      CATCH_CHECK_FALSE(none.full);
      CATCH_CHECK(none.nodes[1].empty());
      // Training draws as ever.
      CATCH_CHECK_FALSE(source.of(links.table, rows, phase::train, 0, 0).full);
    }
}

CATCH_TEST_CASE("given negatives are taken, and in evaluations before others",
                "[flow][negatives]") {
  auto plain = random_links(6, 5);
  plain.relations.assign(5, 0);
  for (auto& row : plain.rows)
    row[1] %= 7;
  plain.given = 2;
  plain.negatives = {0, 1, 2, 3, 4, 5, 6, 0, 1, 2};
  const auto def = links_of(negative_kind::given, 9, corrupted_end::both);
  for (const auto which : {split::train, split::test}) {
    const cut_links links{plain, 2, which};
    const link_negatives source{def, links.info, links.orders, links.table};
    const std::vector<seed_row> rows{4, 1};
    const auto lists =
      source.of(links.table, rows,
                which == split::train ? phase::train : phase::test, 0, 0);
    std::map<seed_row, std::vector<node_id>> out;
    links.add(lists, rows, out);
    CATCH_CHECK(lists.wrong_sources == 0);
    CATCH_CHECK(out[4] == std::vector<node_id>{1, 2});
    CATCH_CHECK(out[1] == std::vector<node_id>{2, 3});
  }
}

CATCH_TEST_CASE("an alias table draws by its weights", "[flow][negatives]") {
  const std::vector<double> weights{1, 0, 3, 0.5, 0, 5.5};
  const alias_table table{weights};
  std::vector<int> drawn(weights.size());
  random_stream draws{stream_key(9, purpose::generate, 0, 0), 0};
  constexpr int total = 200'000;
  for (int i = 0; i < total; ++i)
    ++drawn[table.draw(draws)];
  double chi = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto expected = weights[i] / 10 * total;
    if (expected == 0)
      CATCH_CHECK(drawn[i] == 0);
    else
      chi += (drawn[i] - expected) * (drawn[i] - expected) / expected;
  }
  CATCH_CHECK(chi < 16.3); // Of three degrees of freedom, one in a thousand.
  // Of a single one, and of none that has a weight.
  const alias_table single{std::vector<double>{0, 2, 0}};
  const alias_table equal{std::vector<double>{0, 0}};
  std::set<std::size_t> of_equal;
  for (int i = 0; i < 100; ++i) {
    CATCH_REQUIRE(single.draw(draws) == 1);
    of_equal.insert(equal.draw(draws));
  }
  CATCH_CHECK(of_equal.size() == 2);
}

CATCH_TEST_CASE("nodes without a training edge are not drawn by degree",
                "[flow][negatives]") {
  plain_links plain;
  plain.relations = {0, 0, 1, 0};
  plain.rows = {{0, 1}, {0, 2}, {0, 3}, {11, 2}};
  const auto def = links_of(negative_kind::per_edge, 1000, corrupted_end::both,
                            negative_weight::degree);
  const cut_links links{plain, 3, split::train};
  const link_negatives source{def, links.info, links.orders, links.table};
  std::map<seed_row, std::vector<node_id>> out;
  const auto rows = all_rows(links.table);
  links.add(source.of(links.table, rows, phase::train, 0, 0), rows, out);
  std::map<node_id, int> items;
  std::map<node_id, int> users;
  for (const auto& [row, ids] : out)
    for (std::size_t k = 0; k < ids.size(); ++k)
      ++(k < 1000 && plain.relations[static_cast<std::size_t>(row)] == 0
           ? items
           : users)[ids[k]];
  CATCH_REQUIRE(items.size() == 2);
  CATCH_REQUIRE(users.size() == 3);
  const auto share = [](std::map<node_id, int>& of, node_id id) {
    double sum = 0;
    for (const auto& [node, count] : of)
      sum += count;
    return of[id] / sum;
  };
  // Degrees of items are 1 and 2; of users 3, 1 and 1.
  CATCH_CHECK(std::abs(share(items, 2) - 1.6818 / 2.6818) < 0.03);
  CATCH_CHECK(std::abs(share(users, 0) - 2.2795 / 4.2795) < 0.03);
}

CATCH_TEST_CASE("a batch of links has its negatives behind its ends",
                "[flow][negatives][seed_batch]") {
  plain_links plain;
  plain.relations = {1, 0};
  plain.rows = {{4, 9}, {4, 6}};
  const cut_links links{plain, 0, split::train};
  negative_lists lists{2, 1, {9, 0, 4, 6, negative_lists::none, 11}};
  lists.joint_destinations = {{6, 1}, {}};
  lists.joint_sources = {{}, {4, 2}};
  const auto batch =
    batch_of(links.table, std::vector<seed_row>{0, 1}, links.info, lists);
  CATCH_CHECK(batch.nodes
              == std::vector<std::vector<node_id>>{{6, 1}, {4, 9, 0, 11, 2}});
  CATCH_CHECK(batch.columns == 5);
  CATCH_CHECK(batch.rows() == 2);
  CATCH_CHECK(batch.locals
              == std::vector<local_id>{0, 1, 1, 2, 0, 0, 0, 0, -1, 3});
  CATCH_CHECK(batch.relations == std::vector<std::int32_t>{1, 0});
  CATCH_CHECK(batch.edge_ids == std::vector<edge_id>{100, 101});
  CATCH_CHECK(batch.joint_destinations
              == std::vector<std::vector<local_id>>{{0, 1}, {}});
  CATCH_CHECK(batch.joint_sources
              == std::vector<std::vector<local_id>>{{}, {0, 4}});
  CATCH_CHECK(batch.weights.empty());
  CATCH_CHECK(batch.classes.empty());
}

CATCH_TEST_CASE("a batch of links has wrong pairs behind its ends",
                "[flow][negatives][seed_batch]") {
  plain_links plain;
  plain.relations = {1, 0};
  plain.rows = {{4, 9}, {4, 6}};
  const cut_links links{plain, 0, split::train};
  negative_lists lists;
  lists.wrong_pairs = 1;
  lists.nodes = {9, 0, 0, 3};
  const auto batch =
    batch_of(links.table, std::vector<seed_row>{0, 1}, links.info, lists);
  CATCH_CHECK(batch.nodes
              == std::vector<std::vector<node_id>>{{6, 3}, {4, 9, 0}});
  CATCH_CHECK(batch.columns == 4);
  CATCH_CHECK(batch.wrong_pairs == 1);
  CATCH_CHECK(batch.locals == std::vector<local_id>{0, 1, 1, 2, 0, 0, 2, 1});
}

CATCH_TEST_CASE("the edges that the rows of a step exclude are those of all "
                "ranks",
                "[flow][negatives][seed_batch]") {
  plain_links plain;
  plain.relations = {1, 0, 1};
  plain.rows = {{4, 9}, {4, 6}, {9, 4}};
  cut_links links{plain, 0, split::train};
  // Rows 0 and 2 are the two directions of a pair, and row 1 has a reverse.
  const std::vector<std::int64_t> rows{0, 1, 2};
  const std::vector<std::int64_t> begins{0, 3, 4, 7};
  const std::vector<std::int64_t> ids{20, 21, 33, 7, 33, 21, 20};
  const std::vector<std::int32_t> types{1, 1, 1, 0, 1, 1, 1};
  const std::vector<std::uint8_t> ends{0, 0, 1, 0, 0, 1, 1};
  links.table.edges->excluded = {rows, begins, ids};
  links.table.edges->excluded_types = types;
  links.table.edges->excluded_ends = ends;
  using ranks = std::vector<std::vector<seed_row>>;
  const auto all = exclusions_of(links.table, ranks{{2}, {0, 1}}, links.info);
  CATCH_REQUIRE(all.size() == 2);
  CATCH_CHECK(all[0] == excluded_edges::of({{6, 7}}));
  CATCH_CHECK(all[1] == excluded_edges::of({{9, 20}, {9, 21}, {4, 33}}));
  CATCH_CHECK(all == exclusions_of(links.table, ranks{{0, 1, 2}}, links.info));
  const auto one = exclusions_of(links.table, ranks{{}, {1}}, links.info);
  CATCH_CHECK(one[1] == excluded_edges{});
  // Nothing that has times of its own is strictly before its row.
  time_rule time{true};
  links.info.edge_types[1].timed = true;
  const auto strict =
    exclusions_of(links.table, ranks{{2}, {0, 1}}, links.info, time);
  CATCH_CHECK(strict[0] == all[0]);
  CATCH_CHECK(strict[1] == excluded_edges{});
  const auto source = links.info.edge_types[1].source;
  links.info.node_types[static_cast<std::size_t>(source)].timed = true;
  CATCH_CHECK(
    exclusions_of(links.table, ranks{{2}, {0, 1}}, links.info, time)[1]
    == all[1]);
  // Each row has a tree of its own: rows 1 and 2 here.
  time.inclusive = time.disjoint = true;
  const auto trees =
    exclusions_of(links.table, ranks{{1, 2}}, links.info, time);
  const auto end = links.info.edge_types[1].destination;
  const auto nodes = links.info.node_types[static_cast<std::size_t>(end)].count;
  CATCH_CHECK(trees[0] == excluded_edges::of({{6, 7}}));
  CATCH_CHECK(
    trees[1]
    == excluded_edges::of({{nodes + 4, 33}, {nodes + 9, 20}, {nodes + 9, 21}}));
  // Batches have these, unless links are to see themselves.
  const std::vector<std::int64_t> times{30, 10, 20};
  links.table.times = times;
  const std::shared_ptr<const seed_table> table{std::shared_ptr<void>{},
                                                &links.table};
  const ranks by_rank{{2}, {0, 1}};
  const step_seeds shared{table, links.info, by_rank, {}, true};
  CATCH_CHECK(shared.rows(1) == by_rank[1]);
  for (const rank_id rank : {0, 1}) {
    CATCH_CHECK(shared.batch(rank, {}).excluded == all);
    CATCH_CHECK(shared.batch(rank, {}).until.empty());
  }
  const step_seeds visible{table, links.info, by_rank, {}, false};
  CATCH_CHECK(visible.batch(1, {}).excluded.empty());
  time.disjoint = false;
  const step_seeds timed{table, links.info, by_rank, time, false};
  CATCH_CHECK(timed.batch(0, {}).until == std::vector<std::int64_t>{10});
  CATCH_CHECK(timed.batch(0, {}).excluded.empty());
  time.disjoint = true;
  const step_seeds apart{table, links.info, ranks{{0}, {1, 2}}, time, true};
  CATCH_CHECK(apart.batch(1, {}).excluded == trees);
  CATCH_CHECK(apart.batch(1, {}).until == std::vector<std::int64_t>{10, 20});
  const step_seeds seen{table, links.info, ranks{{0}, {1, 2}}, time, false};
  CATCH_CHECK(seen.batch(1, {}).excluded.empty());
  links.table.edges->excluded = {};
  CATCH_CHECK(exclusions_of(links.table, ranks{{0}}, links.info).empty());
}

CATCH_TEST_CASE("batches of links are within the bound of their seeds",
                "[flow][negatives]") {
  for (const auto kind : {negative_kind::per_edge, negative_kind::joint})
    for (const auto corrupt :
         {corrupted_end::destination, corrupted_end::source,
          corrupted_end::both, corrupted_end::pair})
      for (const auto which : {phase::train, phase::test}) {
        const auto plain = random_links(7, 20);
        cut_links links{plain, 1,
                        which == phase::train ? split::train : split::test};
        if (kind == negative_kind::joint && corrupt == corrupted_end::pair)
          continue; // Refused.
        auto def = links_of(kind, 3, corrupt);
        const link_negatives source{
          def, links.info, links.orders, links.table,
          std::make_shared<const unknown_pairs>(value_of(
            unknown_pairs::make(links.info, links.info.tasks[0], {{}, {}})))};
        const auto rows = all_rows(links.table);
        const auto batch = batch_of(links.table, rows, links.info,
                                    source.of(links.table, rows, which, 0, 0));
        const auto bound = seed_bound(def, links.info, which, 20);
        for (std::size_t t = 0; t < bound.size(); ++t)
          CATCH_CHECK(std::ssize(batch.nodes[t]) <= bound[t]);
        CATCH_CHECK(batch.row_bytes() <= row_bound(def, links.info, which, 20));
        if (kind == negative_kind::joint)
          continue; // Not with trees.
        def.sampler.disjoint = true;
        const std::vector<std::int64_t> times(rows.size(), 7);
        links.table.times = times;
        const auto trees =
          batch_of(links.table, rows, links.info,
                   source.of(links.table, rows, which, 0, 0), true);
        CATCH_CHECK(trees.row_bytes() > batch.row_bytes());
        CATCH_CHECK(trees.row_bytes() <= row_bound(def, links.info, which, 20));
      }
}

} // namespace graphmill::test::negatives
