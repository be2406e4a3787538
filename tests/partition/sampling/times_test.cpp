#include "partition/disk/disk_sampling.hpp"
#include "partition/files/mapped_file.hpp"
#include "partition/sampling/id_table.hpp"
#include "partition/sampling/slices.hpp"
#include "tests/partition/sampling/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/child.hpp"
#include "tests/support/temp_folder.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace graphmill::test::times {

namespace {

/// Node 0 has in-edges 0 to 4 at times 10, 20, 20, 30 and 40, node 1 has edge 5
/// at time 5.
memory_graph six_edges() {
  memory_graph graph;
  graph.nodes = {{"n", 7}};
  graph.edges = {{0, "to", 0, std::vector<std::vector<node_id>>(7)}};
  auto& type = graph.edges[0];
  type.in[0] = {1, 2, 3, 4, 5};
  type.in[1] = {6};
  type.times.resize(7);
  type.times[0] = {10, 20, 20, 30, 40};
  type.times[1] = {5};
  return graph;
}

struct question {
  std::int64_t until = 0;
  bool inclusive = false;
  bool latest = false;
  std::int64_t window = 0;
  std::int32_t fanout = -1;
  std::vector<edge_id> excluded{}; ///< From the list of node 0.
};

std::vector<edge_id> seen_by(const question& asked) {
  const auto graph = whole(six_edges());
  const std::vector<node_id> nodes{0, 1};
  const std::array until{asked.until};
  neighbour_request request{1, 1, 0, {asked.fanout}, true, nodes};
  request.time.until = until;
  request.time.inclusive = asked.inclusive;
  request.time.latest = asked.latest;
  request.time.window = asked.window;
  excluded_lists without;
  if (!asked.excluded.empty())
    without.add(0, asked.excluded);
  request.excluded = without.view();
  neighbour_reply out;
  value_of(sample_neighbours(*graph.shards[0], request, out));
  neighbour_reply from_disk;
  value_of(sample_from_disk(*graph.shards[0], request, from_disk));
  CATCH_CHECK(list(from_disk.edge_ids) == list(out.edge_ids));
  return list(out.edge_ids);
}

std::string refusal(void (*change)(neighbour_request&)) {
  const auto graph = whole(six_edges());
  static const std::vector<node_id> nodes{0, 1};
  static const std::array<std::int64_t, 1> until{25};
  neighbour_request request{1, 1, 0, {1}, true, nodes};
  request.time.until = until;
  change(request);
  neighbour_reply out;
  const auto done = sample_neighbours(*graph.shards[0], request, out);
  const auto same = sample_from_disk(*graph.shards[0], request, out);
  CATCH_CHECK(!same);
  return done ? "" : done.error().message;
}

/// Whether an edge counts for a seed.
bool counts(const time_rule& rule, std::int64_t until, std::int64_t time) {
  return (rule.inclusive ? time <= until : time < until)
         && (rule.window == 0 || time >= until - rule.window);
}

time_rule random_rule(random_stream& draws) {
  time_rule out{true};
  out.inclusive = draws.below(2) == 0;
  out.latest = draws.below(3) == 0;
  out.window = draws.below(3) == 0 ? 1 + draws.below(10) : 0;
  return out;
}

/// The age that an edge has for a seed.
float age_of(std::int64_t until, std::int64_t time) {
  return static_cast<float>(until - time);
}

/// The positions that count in the list of a node.
std::vector<std::size_t> seen_in(const memory_graph::edge_type& type,
                                 std::size_t to, const time_rule& rule,
                                 std::int64_t until, edge_level level) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < type.in[to].size(); ++i)
    if ((type.levels.empty() || type.levels[to][i] <= level)
        && (type.times.empty() || counts(rule, until, type.times[to][i])))
      out.push_back(i);
  return out;
}

/// A few rows of one to three nodes each.
batch_seeds random_rows(const memory_graph& graph, const cut_graph& parts,
                        random_stream draws) {
  batch_seeds out;
  out.nodes.resize(graph.nodes.size());
  out.trees.resize(graph.nodes.size());
  const auto rows = draws.below(6);
  std::set<std::int64_t> numbers;
  while (numbers.size() < rows)
    numbers.insert(draws.below(1000));
  for (const auto number : numbers) {
    std::set<std::pair<std::size_t, node_id>> nodes;
    for (auto left = 1 + draws.below(3); left > 0; --left) {
      const auto t = std::size_t{
        draws.below(static_cast<std::uint32_t>(graph.nodes.size()))};
      if (graph.nodes[t].count == 0)
        continue;
      const auto id =
        draws.below(static_cast<std::uint32_t>(graph.nodes[t].count));
      if (!nodes.emplace(t, id).second)
        continue;
      out.nodes[t].push_back(parts.to_global[t][id]);
      out.trees[t].push_back(static_cast<std::int32_t>(out.row_numbers.size()));
    }
    out.row_numbers.push_back(number);
    out.until.push_back(draws.below(22));
  }
  return out;
}

/// The last ones by time among positions, in the order of the list.
std::vector<std::size_t> last_of(const std::vector<std::int64_t>& times,
                                 std::vector<std::size_t> positions,
                                 std::int64_t count) {
  std::ranges::stable_sort(positions, {},
                           [&times](std::size_t i) { return times[i]; });
  positions.erase(positions.begin(), positions.end() - count);
  std::ranges::sort(positions);
  return positions;
}

/// That a batch of trees is what the definition says, edge by edge, counted.
std::size_t check_trees(const memory_graph& graph,
                        const sampling_scheme& scheme, const batch_seeds& seeds,
                        const plain_batch& batch) {
  std::size_t edges = 0;
  for (std::size_t t = 0; t < graph.nodes.size(); ++t) {
    std::set<std::pair<std::int32_t, node_id>> there;
    for (std::size_t i = 0; i < batch.nodes[t].size(); ++i)
      CATCH_REQUIRE(there.emplace(batch.trees[t][i], batch.nodes[t][i]).second);
  }
  for (std::size_t e = 0; e < graph.edges.size(); ++e) {
    const auto& type = graph.edges[e];
    const auto& lists = batch.edge_types[e];
    CATCH_REQUIRE(
      lists.ages.size()
      == (scheme.ages && !type.times.empty() ? lists.sources.size() : 0));
    for (std::size_t row = 0; row + 1 < lists.indptr.size(); ++row) {
      const auto to = batch.nodes[type.destination][row];
      const auto tree = batch.trees[type.destination][row];
      const auto& found = batch.found[type.destination];
      const auto hop =
        static_cast<int>(std::upper_bound(found.begin(), found.end(),
                                          static_cast<std::int64_t>(row))
                         - found.begin());
      const auto seen =
        seen_in(type, static_cast<std::size_t>(to), scheme.time,
                seeds.until[static_cast<std::size_t>(tree)], scheme.level);
      const auto rule = scheme.rule(hop, static_cast<edge_type_id>(e));
      const auto latest = scheme.time.latest && !type.times.empty();
      const auto count = lists.indptr[row + 1] - lists.indptr[row];
      CATCH_REQUIRE(count == rule.sources_of(std::ssize(seen)));
      const auto last =
        latest ? last_of(type.times[static_cast<std::size_t>(to)], seen, count)
               : seen;
      for (auto i = lists.indptr[row]; i < lists.indptr[row + 1];
           ++i, ++edges) {
        const auto at = static_cast<std::size_t>(i);
        const auto position = static_cast<std::size_t>(
          lists.edge_ids[at]
          - graph.first_edge(static_cast<edge_type_id>(e), to));
        const auto place = std::find(seen.begin(), seen.end(), position);
        CATCH_REQUIRE(place != seen.end());
        if (latest)
          CATCH_REQUIRE(
            position == last[static_cast<std::size_t>(i - lists.indptr[row])]);
        const auto source = static_cast<std::size_t>(lists.sources[at]);
        CATCH_REQUIRE(batch.nodes[type.source][source]
                      == type.in[static_cast<std::size_t>(to)][position]);
        CATCH_REQUIRE(batch.trees[type.source][source] == tree);
        if (scheme.ages && !type.times.empty())
          CATCH_REQUIRE(
            lists.ages[at]
            == age_of(seeds.until[static_cast<std::size_t>(tree)],
                      type.times[static_cast<std::size_t>(to)][position]));
      }
    }
  }
  return edges;
}

/// A batch whose lists are all read from disk.
plain_batch sample_by_disk(const cut_graph& graph,
                           const sampling_scheme& scheme, std::uint64_t key,
                           const batch_seeds& seeds) {
  batch_sampler sampler{*graph.graph, scheme, key, nullptr};
  value_of(sampler.start(seeds));
  while (!sampler.done()) {
    for (const auto& asked : sampler.requests()) {
      neighbour_reply out;
      value_of(sample_from_disk(*graph.shards[asked.part], asked.request, out));
      value_of(sampler.accept(asked.slot, std::move(out)));
    }
    value_of(sampler.finish_hop());
  }
  return to_plain(sampler.take(), graph);
}

/// The edges of one tree: of each type the destination and the edge, in order.
using tree_edges = std::vector<std::vector<std::pair<node_id, edge_id>>>;

std::map<std::int64_t, tree_edges> trees_of(const memory_graph& graph,
                                            const batch_seeds& seeds,
                                            const plain_batch& batch) {
  std::map<std::int64_t, tree_edges> out;
  for (std::size_t e = 0; e < graph.edges.size(); ++e) {
    const auto& lists = batch.edge_types[e];
    const auto to = graph.edges[e].destination;
    for (std::size_t row = 0; row + 1 < lists.indptr.size(); ++row)
      for (auto i = lists.indptr[row]; i < lists.indptr[row + 1]; ++i) {
        auto& tree =
          out[seeds
                .row_numbers[static_cast<std::size_t>(batch.trees[to][row])]];
        tree.resize(graph.edges.size());
        tree[e].emplace_back(batch.nodes[to][row],
                             lists.edge_ids[static_cast<std::size_t>(i)]);
      }
  }
  return out;
}

} // namespace

CATCH_TEST_CASE("edges count before the time of a seed",
                "[partition][sampling][times]") {
  using ids = std::vector<edge_id>;
  CATCH_CHECK(seen_by({20}) == ids{0, 5});
  CATCH_CHECK(seen_by({20, true}) == ids{0, 1, 2, 5});
  CATCH_CHECK(seen_by({5}).empty());
  CATCH_CHECK(seen_by({100}) == ids{0, 1, 2, 3, 4, 5});
  CATCH_CHECK(seen_by({INT64_MIN}).empty());
  CATCH_CHECK(seen_by({INT64_MAX}) == ids{0, 1, 2, 3, 4, 5});
  // A window ends before the seed and begins with it.
  CATCH_CHECK(seen_by({40, false, false, 20}) == ids{1, 2, 3});
  CATCH_CHECK(seen_by({40, true, false, 10}) == ids{3, 4});
  CATCH_CHECK(seen_by({INT64_MIN + 1, true, false, INT64_MAX}).empty());
  // The last ones.
  CATCH_CHECK(seen_by({40, false, true, 0, 2}) == ids{2, 3, 5});
  CATCH_CHECK(seen_by({40, false, true, 0, 1}) == ids{3, 5});
  CATCH_CHECK(seen_by({40, false, true, 0, 0}).empty());
  // What is excluded is none of them; what is not seen does no harm.
  CATCH_CHECK(seen_by({40, false, true, 0, 2, {3}}) == ids{1, 2, 5});
  CATCH_CHECK(seen_by({40, false, true, 0, 2, {0, 2, 4}}) == ids{1, 3, 5});
  CATCH_CHECK(seen_by({25, false, false, 0, -1, {1, 4}}) == ids{0, 2, 5});
  CATCH_CHECK(seen_by({40, false, false, 15, -1, {0, 3}}) == ids{});
}

CATCH_TEST_CASE("windows count the ticks to each of the edges, however far",
                "[partition][sampling][times]") {
  constexpr auto least = INT64_MIN;
  constexpr auto largest = INT64_MAX;
  __extension__ using wide_number = __int128;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    CATCH_INFO("seed " << seed);
    random_stream draws{stream_key(seed, purpose::split, 0, 0), 41};
    const auto time = [&draws]() -> std::int64_t {
      const auto near = static_cast<std::int64_t>(draws.below(5));
      return std::array{near, near - 2, least + near,
                        largest - near}[draws.below(4)];
    };
    std::vector<std::int64_t> times(draws.below(9)); // Many of them are equal.
    for (auto& one : times)
      one = time();
    std::sort(times.begin(), times.end());
    const std::array until{time()};
    const std::array windows{std::int64_t{0}, std::int64_t{1}, std::int64_t{2},
                             std::int64_t{5}, largest - 1,     largest};
    time_limits limits;
    limits.until = until;
    limits.inclusive = draws.below(2) == 1;
    limits.window = windows[draws.below(6)];
    std::vector<std::int64_t> expected;
    for (const auto one : times) {
      const auto age = wide_number{until[0]} - one;
      if (age >= (limits.inclusive ? 0 : 1)
          && (limits.window == 0 || age <= limits.window))
        expected.push_back(one);
    }
    const auto [first, last] = limits.of(times, 0);
    CATCH_REQUIRE(first <= last);
    CATCH_CHECK(std::vector(times.begin() + static_cast<std::ptrdiff_t>(first),
                            times.begin() + static_cast<std::ptrdiff_t>(last))
                == expected);
  }
}

CATCH_TEST_CASE("edges report their ages", "[partition][sampling][times]") {
  const auto graph = whole(six_edges());
  const std::vector<node_id> nodes{0, 1};
  const auto ages_of = [&](std::vector<std::int64_t> until, bool edge_ids,
                           std::vector<edge_id> excluded = {}) {
    neighbour_request request{1, 1, 0, {-1}, edge_ids, nodes};
    request.time.until = until;
    request.time.inclusive = true;
    request.ages = true;
    excluded_lists without;
    if (!excluded.empty())
      without.add(0, excluded);
    request.excluded = without.view();
    neighbour_reply out;
    value_of(sample_neighbours(*graph.shards[0], request, out));
    CATCH_CHECK(out.places.empty());
    CATCH_CHECK(out.edge_ids.empty() != edge_ids);
    neighbour_reply from_disk;
    value_of(sample_from_disk(*graph.shards[0], request, from_disk));
    CATCH_CHECK(list(from_disk.ages) == list(out.ages));
    return list(out.ages);
  };
  using ages = std::vector<float>;
  for (const auto edge_ids : {false, true}) {
    // One time of all lists, and one of each.
    CATCH_CHECK(ages_of({30}, edge_ids) == ages{20, 10, 10, 0, 25});
    CATCH_CHECK(ages_of({20, 100}, edge_ids) == ages{10, 0, 0, 95});
    CATCH_CHECK(ages_of({30}, edge_ids, {0, 2}) == ages{10, 0, 25});
    // As a number without a sign would have it.
    CATCH_CHECK(ages_of({INT64_MAX}, edge_ids)[0] == 0x1p63f);
  }
  auto early = six_edges();
  early.edges[0].times[0][0] = INT64_MIN;
  const auto longest = whole(early);
  neighbour_request request{1, 1, 0, {-1}, false, nodes};
  const std::vector<std::int64_t> until{INT64_MAX};
  request.time.until = until;
  request.ages = true;
  neighbour_reply out;
  value_of(sample_neighbours(*longest.shards[0], request, out));
  CATCH_CHECK(out.ages[0] == 0x1p64f);
  neighbour_reply slice;
  const std::vector<node_id> node{0};
  request.destinations = node;
  value_of(sample_slice(*graph.shards[0], request, {2, 3}, slice));
  CATCH_CHECK(list(slice.ages) == ages{0x1p63f, 0x1p63f});
  // Also of the edges from some nodes alone: those of 20, 30 and 40.
  const auto pool = buffer_pool::make(1 << 20);
  pod_vector<node_id> some{pool};
  some.append(std::vector<node_id>{2, 4, 5});
  id_table numbers{7, pool};
  pod_vector<node_id> known{pool};
  std::array<local_id, 3> places{};
  numbers.reserve(known, 3);
  numbers.number(std::as_const(some).span(), places.data(), known);
  const node_subset among{0, &known, &numbers};
  const std::vector<std::int64_t> hundred{100};
  request.time.until = hundred;
  request.among = &among;
  value_of(sample_slice(*graph.shards[0], request, {2, 1}, slice));
  CATCH_CHECK(list(slice.ages) == ages{70, 60});
  CATCH_CHECK(slice.places.empty());
  request.among = nullptr;
  request.time = {};
  CATCH_CHECK(!sample_neighbours(*graph.shards[0], request, out));
}

CATCH_TEST_CASE("a file that is shortened while a run samples by time is named",
                "[partition][sampling][times]") {
  temp_folder folder;
  const auto path = folder / "shrinks";
  std::ofstream{path} << std::string(std::size_t{4} * 4096, 'x');
  CATCH_CHECK(code_of_child([&path] {
                auto plain = six_edges();
                plain.edges[0].levels.resize(7);
                plain.edges[0].levels[0] = {0, 0, 0, 0, 1};
                plain.edges[0].levels[1] = {0};
                const auto graph = whole(plain);
                damage(graph.shards[0]->edges(0).visible, 0, std::int32_t{-1});
                const auto file = value_of(mapped_file::open(path));
                std::filesystem::resize_file(path, 4096);
                if (file.bytes()[8192] != std::byte{0})
                  return 1;
                const std::vector<node_id> nodes{0, 1};
                const std::array until{std::int64_t{100}};
                neighbour_request request{1, 1, 0, {2}, true, nodes};
                request.time.until = until;
                request.level = 2;
                neighbour_reply out;
                const auto done =
                  sample_neighbours(*graph.shards[0], request, out);
                return mapped_file::first_fault() && done ? 0 : 2;
              })
              == 0);
}

CATCH_TEST_CASE("a batch without rows has no trees",
                "[partition][sampling][times]") {
  const auto graph = whole(six_edges());
  auto scheme = scheme_of(six_edges(), {-1, -1});
  scheme.time = {true};
  scheme.time.disjoint = true;
  batch_seeds none;
  none.nodes.resize(1);
  const auto batch =
    value_of(sample(*graph.graph, graph.shards, scheme, 1, none));
  CATCH_CHECK(batch.nodes[0].ids.size() == 0);
}

CATCH_TEST_CASE("edges are excluded from the tree of their row alone",
                "[partition][sampling][times]") {
  const auto plain = six_edges();
  const auto graph = whole(plain);
  auto scheme = scheme_of(plain, {-1});
  scheme.time = {true};
  scheme.time.disjoint = true;
  batch_seeds seeds;
  seeds.nodes = {{0, 0}};
  seeds.trees = {{0, 1}};
  seeds.row_numbers = {4, 9};
  seeds.until = {100, 100};
  seeds.excluded = {excluded_edges::of({{0, 1}, {7, 3}})};
  const auto trees =
    trees_of(plain, seeds, sample_plain(graph, scheme, 1, seeds));
  const auto edges_of = [&trees](std::int64_t row) {
    std::vector<edge_id> out;
    for (const auto& [to, edge] : trees.at(row).at(0))
      out.push_back(edge);
    return out;
  };
  using ids = std::vector<edge_id>;
  CATCH_CHECK(edges_of(4) == ids{0, 2, 3, 4});
  CATCH_CHECK(edges_of(9) == ids{0, 1, 2, 4});
}

CATCH_TEST_CASE("requests with times that make no sense are refused",
                "[partition][sampling][times]") {
  using request = neighbour_request;
  const auto says = [](const std::string& text, const char* part) {
    CATCH_INFO(text);
    CATCH_CHECK(text.find(part) != std::string::npos);
  };
  static const std::array<std::int64_t, 3> three{1, 2, 3};
  static const std::array<std::int64_t, 2> negative{0, -1};
  says(refusal([](request& r) { r.time.until = three; }), "3 times are given");
  says(refusal([](request& r) { r.time.rows = three; }), "3 rows are given");
  says(refusal([](request& r) { r.time.rows = negative; }), "from 0 on");
  says(refusal([](request& r) { r.time.window = -1; }), "not negative");
  says(refusal([](request& r) {
         r.time.until = {};
         r.time.latest = true;
       }),
       "need the time of a seed");
  says(refusal([](request& r) {
         r.time.latest = true;
         r.rule.kind = draw_kind::with_replacement;
       }),
       "excludes the other");
  auto plain = six_edges();
  plain.edges[0].times.clear();
  const auto graph = whole(plain);
  const std::vector<node_id> nodes{0};
  const std::array<std::int64_t, 1> until{25};
  neighbour_request asked{1, 1, 0, {1}, true, nodes};
  asked.time.until = until;
  neighbour_reply out;
  const auto done = sample_neighbours(*graph.shards[0], asked, out);
  CATCH_REQUIRE(!done);
  says(done.error().message, "are to be seen by time, and have none");
}

CATCH_TEST_CASE("a list whose levels overlap in time is seen by time alone",
                "[partition][sampling][times]") {
  auto plain = six_edges();
  plain.edges[0].levels.resize(7);
  plain.edges[0].levels[0] = {0, 0, 0, 1, 2};
  plain.edges[0].levels[1] = {0};
  plain.edges[0].times[0] = {10, 20, 40, 30, 25};
  const auto graph = whole(plain);
  const std::vector<node_id> nodes{0};
  const auto seen = [&](std::int64_t until, edge_level level,
                        bool latest = false, std::int64_t window = 0,
                        edge_id gone = -1) {
    neighbour_request asked{1, 1, 0, {latest ? 2 : -1}, true, nodes};
    const std::array times{until};
    asked.level = level;
    asked.time.until = times;
    asked.time.latest = latest;
    asked.time.window = window;
    excluded_lists without;
    if (gone >= 0)
      without.add(0, std::array{gone});
    asked.excluded = without.view();
    neighbour_reply out;
    value_of(sample_neighbours(*graph.shards[0], asked, out));
    return list(out.edge_ids);
  };
  using ids = std::vector<edge_id>;
  CATCH_CHECK(seen(45, 0) == ids{0, 1, 2});
  CATCH_CHECK(seen(45, 2) == ids{0, 1, 2, 3, 4});
  CATCH_CHECK(seen(40, 2) == ids{0, 1, 3, 4});
  CATCH_CHECK(seen(30, 2) == ids{0, 1, 4});
  CATCH_CHECK(seen(25, 2) == ids{0, 1});
  CATCH_CHECK(seen(10, 2).empty());
  CATCH_CHECK(seen(40, 1) == ids{0, 1, 3});
  CATCH_CHECK(seen(40, 2, false, 15) == ids{3, 4});
  CATCH_CHECK(seen(40, 2, true) == ids{3, 4});
  CATCH_CHECK(seen(45, 2, true) == ids{2, 3});
  CATCH_CHECK(seen(45, 2, true, 0, 3) == ids{2, 4});
  CATCH_CHECK(seen(40, 2, false, 0, 4) == ids{0, 1, 3});
  CATCH_CHECK(seen(30, 2, false, 0, 3) == ids{0, 1, 4});

  neighbour_request asked{1, 1, 0, {-1}, true, nodes};
  const std::array times{std::int64_t{45}};
  asked.level = 2;
  asked.time.until = times;
  excluded_lists without;
  without.add(0, std::array{edge_id{5}}); // To the other node.
  asked.excluded = without.view();
  neighbour_reply out;
  CATCH_CHECK_THAT(
    error_of(sample_neighbours(*graph.shards[0], asked, out)).message,
    contains("edge 5 is to be excluded from the 5 in-edges of node 0"));
}

CATCH_TEST_CASE("a request steps over a bounded number of edges",
                "[partition][sampling][times]") {
  constexpr std::size_t degree = 1 << 20;
  auto plain = six_edges();
  auto& edges = plain.edges[0];
  edges.in[0].assign(degree, 1);
  edges.levels.resize(7);
  edges.levels[0].assign(degree, 0);
  edges.levels[0].back() = 2;
  edges.levels[1] = {0};
  // The first and the last edge are seen, and none between them.
  edges.times[0].assign(degree, 40);
  edges.times[0].front() = 5;
  edges.times[0].back() = 10;
  const auto graph = whole(plain);
  const auto sample_rows = [&](std::size_t count) {
    const std::vector<node_id> nodes(count, 0);
    const std::vector<std::int64_t> until(count, 30);
    neighbour_request asked{1, 1, 0, {1}, true, nodes};
    asked.level = 2;
    asked.time.until = until;
    neighbour_reply out;
    return sample_neighbours(*graph.shards[0], asked, out);
  };
  value_of(sample_rows(16));
  CATCH_CHECK_THAT(error_of(sample_rows(17)).message,
                   contains("a batch would step over too many of them"));
}

CATCH_TEST_CASE("sampling by one time is sampling the graph of that time",
                "[partition][sampling][times]") {
  std::size_t hidden = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    CATCH_INFO("seed " << seed);
    random_stream draws{stream_key(seed, purpose::test, 0, 0), 7};
    auto graph = random_graph(seed, {40, 12});
    if (seed % 2 == 0)
      graph = with_weights(std::move(graph), seed);
    if (seed % 3 == 0)
      graph = with_levels(std::move(graph), seed);
    const auto level = static_cast<edge_level>(seed % 6 == 0 ? 2 : 0);
    // Half of the graphs whose levels are all seen have levels that overlap.
    graph = with_times(std::move(graph), seed, seed % 12 == 0);
    auto scheme = random_scheme(graph, draws);
    auto rule = random_rule(draws);
    rule.latest = false; // It goes by fanouts; see below.
    const std::int64_t until = draws.below(22);
    thinned_graph left{graph, {}, {}};
    thinned_graph gone{graph, {}, {}};
    for (std::size_t e = 0; e < graph.edges.size(); ++e) {
      auto& type = left.left.edges[e];
      auto& kept = left.kept.emplace_back();
      auto& excluded = gone.gone.emplace_back(type.in.size());
      edge_id first = 0;
      for (std::size_t to = 0; to < type.in.size(); ++to) {
        const auto whole_list = graph.edges[e].in[to];
        for (std::size_t i = 0; i < whole_list.size(); ++i)
          if ((type.levels.empty() || type.levels[to][i] <= level)
              && draws.below(6) == 0)
            excluded[to].push_back(static_cast<std::int64_t>(i));
        type.in[to].clear();
        std::vector<float> weights;
        for (const auto i : seen_in(graph.edges[e], to, rule, until, level)) {
          if (std::ranges::find(excluded[to], static_cast<std::int64_t>(i))
              != excluded[to].end())
            continue;
          kept.push_back(first + static_cast<edge_id>(i));
          type.in[to].push_back(whole_list[i]);
          if (!type.weights.empty())
            weights.push_back(type.weights[to][i]);
        }
        if (!type.weights.empty())
          type.weights[to] = std::move(weights);
        hidden += whole_list.size() - type.in[to].size();
        first += std::ssize(whole_list);
      }
      type.levels.clear();
      type.times.clear();
    }
    const auto there = whole(left.left);
    const auto expected = left.renumbered(sample_plain(
      there, scheme, seed, random_typed_seeds(graph, there, seed)));
    scheme.level = level;
    scheme.time = rule;
    for (const part_id parts : {1, 4}) {
      CATCH_INFO("parts " << parts);
      const auto cut_up = random_cut(graph, parts, seed, draws);
      auto seeds = random_typed_seeds(graph, cut_up, seed);
      seeds.until = {until};
      seeds.excluded = gone.excluded(graph, cut_up);
      CATCH_REQUIRE(sample_anyhow(cut_up, scheme, seed, seeds, draws)
                    == expected);
    }
  }
  CATCH_CHECK(hidden > 10'000);
}

namespace {

/// No message of a tree is of its time or later, in any hop.
void check_random_trees(std::uint64_t graphs) {
  std::size_t edges = 0;
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    CATCH_INFO("seed " << seed);
    random_stream draws{stream_key(seed, purpose::test, 0, 0), 8};
    auto graph = random_graph(seed, {16, 7});
    if (seed % 3 == 0)
      graph = with_levels(std::move(graph), seed);
    graph = with_times(std::move(graph), seed, seed % 4 == 0);
    auto scheme = random_scheme(graph, draws);
    scheme.edge_ids = true;
    scheme.weights = false;
    scheme.time = random_rule(draws);
    scheme.time.disjoint = true;
    if (scheme.time.latest)
      scheme.kind = draw_kind::without_replacement;
    scheme.level = seed % 6 == 0 ? 2 : 0;
    scheme.ages = seed % 4 != 0;
    const random_stream of_rows{stream_key(seed, purpose::test, 0, 1), 9};
    const auto one = whole(graph);
    const auto seeds = random_rows(graph, one, of_rows);
    const auto expected = sample_plain(one, scheme, seed, seeds);
    edges += check_trees(graph, scheme, seeds, expected);
    const auto cut_up =
      cut(graph, 4, random_assignment(graph, 4, seed), {draws.below(2) == 0});
    const auto of_parts = random_rows(graph, cut_up, of_rows);
    CATCH_REQUIRE(sample_anyhow(cut_up, scheme, seed, of_parts, draws)
                  == expected);
    CATCH_REQUIRE(sample_by_disk(cut_up, scheme, seed, of_parts) == expected);
    CATCH_REQUIRE(sample_by_disk(one, scheme, seed, seeds) == expected);
    const auto bound = bound_of(cut_up.graph->info(), scheme, [&] {
      std::vector<std::int64_t> counts;
      for (const auto& nodes : seeds.nodes)
        counts.push_back(std::ssize(nodes));
      return counts;
    }());
    for (std::size_t t = 0; t < graph.nodes.size(); ++t)
      CATCH_REQUIRE(std::ssize(expected.nodes[t]) <= bound.nodes[t]);
    for (std::size_t e = 0; e < graph.edges.size(); ++e)
      CATCH_REQUIRE(std::ssize(expected.edge_types[e].sources)
                    <= bound.edges[e]);
  }
  CATCH_CHECK(edges > 10 * graphs);
}

} // namespace

CATCH_TEST_CASE("no message of a tree is of its time or later, in any hop",
                "[partition][sampling][times]") {
  check_random_trees(3000);
}

CATCH_TEST_CASE("no message of a tree is of its time or later, in many graphs",
                "[.]") {
  check_random_trees(10'000);
}

CATCH_TEST_CASE("a tree does not depend on the others of its batch",
                "[partition][sampling][times]") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CATCH_INFO("seed " << seed);
    random_stream draws{stream_key(seed, purpose::test, 0, 0), 10};
    const auto graph = with_times(random_graph(seed, {30, 12}), seed, true);
    auto scheme = random_scheme(graph, draws);
    scheme.edge_ids = true;
    scheme.weights = false;
    scheme.time = {true};
    scheme.time.disjoint = true;
    const auto one = whole(graph);
    const auto seeds =
      random_rows(graph, one, {stream_key(seed, purpose::test, 0, 1), 11});
    const auto run = [&](const batch_seeds& some) {
      return trees_of(graph, some, sample_plain(one, scheme, seed, some));
    };
    const auto together = run(seeds);
    for (std::size_t row = 0; row < seeds.row_numbers.size(); ++row) {
      batch_seeds alone;
      alone.row_numbers = {seeds.row_numbers[row]};
      alone.until = {seeds.until[row]};
      alone.nodes.resize(seeds.nodes.size());
      alone.trees.resize(seeds.nodes.size());
      for (std::size_t t = 0; t < seeds.nodes.size(); ++t)
        for (std::size_t i = 0; i < seeds.nodes[t].size(); ++i)
          if (std::cmp_equal(seeds.trees[t][i], row)) {
            alone.nodes[t].push_back(seeds.nodes[t][i]);
            alone.trees[t].push_back(0);
          }
      const auto apart = run(alone);
      const auto of_both = together.find(seeds.row_numbers[row]);
      if (apart.empty())
        CATCH_REQUIRE(of_both == together.end());
      else
        CATCH_REQUIRE(of_both->second == apart.begin()->second);
    }
  }
}

CATCH_TEST_CASE("seeds whose times do not fit the definition are refused",
                "[partition][sampling][times]") {
  const auto graph = whole(six_edges());
  sampling_scheme scheme;
  scheme.fanouts = {{-1}};
  const auto refusal_of = [&](const batch_seeds& seeds) {
    const auto done = sample(*graph.graph, graph.shards, scheme, 1, seeds);
    return done ? std::string{} : done.error().message;
  };
  const auto says = [](const std::string& text, const char* part) {
    CATCH_INFO(text);
    CATCH_CHECK(text.find(part) != std::string::npos);
  };
  batch_seeds seeds{{{0}}};
  CATCH_CHECK(refusal_of(seeds).empty());
  seeds.until = {3};
  says(refusal_of(seeds), "seeds have 1 times, and the definition takes 0");
  scheme.time.latest = true;
  says(refusal_of(seeds), "see their past alone");
  scheme.time = {};
  seeds.until = {};
  scheme.ages = true;
  says(refusal_of(seeds), "edges have ages for seeds that see their past");
  scheme.ages = false;
  seeds.until = {3};
  scheme.time = {true};
  CATCH_CHECK(refusal_of(seeds).empty());
  seeds.until = {};
  says(refusal_of(seeds), "seeds have 0 times, and the definition takes 1");
  seeds.until = {3};
  seeds.row_numbers = {0};
  says(refusal_of(seeds), "without sampler.disjoint there are none");
  scheme.time.disjoint = true;
  says(refusal_of(seeds), "the trees of seeds of 0 node types");
  seeds.trees = {{1}};
  says(refusal_of(seeds), "a seed is of tree 1 of 1");
  seeds.trees = {{0}};
  CATCH_CHECK(refusal_of(seeds).empty());
  seeds.nodes = {{0, 0}};
  seeds.trees = {{0, 0}};
  says(refusal_of(seeds), "distinct in each tree");
  seeds.row_numbers = {4, 4};
  seeds.until = {1, 2};
  seeds.trees = {{0, 1}};
  says(refusal_of(seeds), "each once in a batch");
  seeds.row_numbers = {4, 5};
  CATCH_CHECK(refusal_of(seeds).empty());
}

} // namespace graphmill::test::times
