#include "messages/wire/data.hpp"
#include "tests/actors/remote/daemons.hpp"
#include "tests/support/result.hpp"

#include <array>
#include <numeric>

using namespace graphmill;
using namespace graphmill::test;
using namespace std::chrono_literals;

namespace {

memory_graph featured_cycle(std::int64_t nodes, std::int64_t width) {
  return with_values(cycle(nodes), 1, width);
}

assignment halves(std::int64_t nodes) {
  assignment owner(1);
  for (std::int64_t i = 0; i < nodes; ++i)
    owner[0].push_back(i < nodes / 2 ? 0 : 1);
  return owner;
}

/// Rows wanted of nodes of part 1, and memory for them.
struct wanted_rows {
  wanted_rows(const daemons& d, std::int64_t width)
    : first(d.graph.graph->offsets(0)[1]) {
    const auto count = d.graph.graph->offsets(0)[2] - first;
    for (node_id i = 0; i < count; ++i) {
      ids.push_back(first + i);
      rows.push_back(static_cast<local_id>(count - 1 - i));
    }
    out.assign(static_cast<std::size_t>(count * width), -1.0F);
  }
  gather_job job(const std::shared_ptr<wanted_rows>& self) const {
    gather_job made;
    made.items.push_back(
      {gather_kind::features, 0, self->ids, self->rows, self->out.data()});
    made.owner = self;
    return made;
  }

  node_id first;
  std::vector<node_id> ids;
  std::vector<local_id> rows;
  std::vector<float> out;
};

bool is_right(const wanted_rows& got, const memory_graph& graph) {
  const auto width = static_cast<std::size_t>(graph.nodes[0].width);
  for (std::size_t i = 0; i < got.ids.size(); ++i)
    for (std::size_t f = 0; f < width; ++f)
      if (got.out[static_cast<std::size_t>(got.rows[i]) * width + f]
          != graph.nodes[0]
               .features[static_cast<std::size_t>(got.ids[i]) * width + f])
        return false;
  return true;
}

neighbour_job neighbours_of(const std::shared_ptr<std::vector<node_id>>& ids,
                            std::int32_t fanout,
                            draw_kind kind = draw_kind::without_replacement) {
  neighbour_job job;
  job.request = {7, 1, 0, {fanout, kind}, true, *ids};
  job.owner = ids;
  return job;
}

} // namespace

CATCH_TEST_CASE("replies have at most 1 MiB of rows, a few at a time",
                "[actors][remote]") {
  const auto graph = featured_cycle(4000, 700);
  daemons d{cut(graph, 2, halves(4000))};
  remote_feature_config config;
  config.window = 3;
  config.to = d.part(1, d.servers[1]);
  std::uint64_t largest = 0;
  d.net.tamper = [&largest](payload& reply) {
    for (const auto& part : reply.bulk)
      largest = std::max<std::uint64_t>(largest, part.size());
    CATCH_CHECK(reply.bulk.size() == 1);
  };
  const auto rows = std::make_shared<wanted_rows>(d, 700);
  const auto got =
    d.start<gather_answer>(d.feature_proxy(config), rows->job(rows));
  d.sim.run();
  CATCH_CHECK(d.net.requests[method::gather] == 3); // The window.
  d.settle();
  CATCH_CHECK(daemons::answer_of(got).bytes == 2000 * 700 * 4);
  CATCH_CHECK(is_right(*rows, graph));
  // 374 rows of 2800 bytes are 1 MiB.
  CATCH_CHECK(d.net.requests[method::gather] == 6);
  CATCH_CHECK(largest == 374 * 2800);
  const auto report = d.remote->read();
  CATCH_CHECK(report.rows == 2000);
  CATCH_CHECK(report.rows_in == 2000 * 2800);
  CATCH_CHECK(report.ids_out == 2000 * 4);
  CATCH_CHECK(report.values_in == 0);
}

CATCH_TEST_CASE("a row larger than a frame is cut", "[actors][remote]") {
  constexpr std::int64_t width = 300'000;
  const auto graph = featured_cycle(6, width);
  daemons d{cut(graph, 2, halves(6))};
  const auto rows = std::make_shared<wanted_rows>(d, width);
  remote_feature_config config;
  config.to = d.part(1, d.servers[1]);
  const auto got =
    d.start<gather_answer>(d.feature_proxy(config), rows->job(rows));
  d.settle();
  daemons::answer_of(got);
  CATCH_CHECK(is_right(*rows, graph));
}

CATCH_TEST_CASE("identical requests under way are sent once",
                "[actors][remote]") {
  const auto graph = featured_cycle(40, 3);
  daemons d{cut(graph, 2, halves(40))};
  remote_feature_config config;
  config.to = d.part(1, d.servers[1]);
  const auto proxy = d.feature_proxy(config);
  const auto first = std::make_shared<wanted_rows>(d, 3);
  const auto second = std::make_shared<wanted_rows>(d, 3);
  std::reverse(second->rows.begin(), second->rows.end());
  const auto a = d.start<gather_answer>(proxy, first->job(first));
  const auto b = d.start<gather_answer>(proxy, second->job(second));
  d.settle();
  daemons::answer_of(a);
  daemons::answer_of(b);
  CATCH_CHECK(d.net.requests[method::gather] == 1);
  CATCH_CHECK(d.remote->read().merged == 1);
  CATCH_CHECK(is_right(*first, graph));
  CATCH_CHECK(is_right(*second, graph));
}

CATCH_TEST_CASE("an owner that is gone is an error that names it",
                "[actors][remote]") {
  const auto graph = featured_cycle(4000, 700);
  daemons d{cut(graph, 2, halves(4000))};
  remote_feature_config config;
  config.to = d.part(1, std::nullopt);
  const auto rows = std::make_shared<wanted_rows>(d, 700);
  std::weak_ptr<wanted_rows> alive = rows;
  auto job = rows->job(rows);
  const auto got = d.start<gather_answer>(d.feature_proxy(config), job);
  remote_sampling_config sampling;
  sampling.to = d.part(1, std::nullopt);
  const auto ids =
    std::make_shared<std::vector<node_id>>(std::vector<node_id>{2000});
  const auto sampled = d.start<neighbour_answer>(d.sampling_proxy(sampling),
                                                 neighbours_of(ids, 2));
  d.settle();
  CATCH_CHECK(!got->there());
  CATCH_REQUIRE(d.net.unanswered.size() == 7);
  // The transport's deadline ends one; the job is over with it.
  d.net.unanswered[0](fail(ec::timeout, "no answer within 30 s"));
  d.settle();
  CATCH_REQUIRE(got->failure);
  CATCH_CHECK(got->failure->code == ec::timeout);
  CATCH_CHECK(got->failure->message
              == "part 1 at daemon \"d1\": no answer within 30 s");
  for (auto& reply : d.net.unanswered)
    if (&reply != &d.net.unanswered[0])
      reply(fail(ec::unavailable, "the connection broke"));
  d.settle();
  CATCH_REQUIRE(sampled->failure);
  CATCH_CHECK(sampled->failure->message
              == "part 1 at daemon \"d1\": the connection broke");
  CATCH_CHECK(d.remote->read().failures >= 2);
}

CATCH_TEST_CASE("late answers write nothing, and memory waits for them",
                "[actors][remote]") {
  const auto graph = featured_cycle(4000, 700);
  daemons d{cut(graph, 2, halves(4000))};
  remote_feature_config config;
  config.window = 2;
  config.to = d.part(1, d.servers[1]);
  const auto proxy = d.feature_proxy(config);
  auto rows = std::make_shared<wanted_rows>(d, 700);
  const std::weak_ptr<wanted_rows> alive = rows;
  // The first answer is broken.
  auto first = true;
  d.net.tamper = [&first](payload& reply) {
    if (std::exchange(first, false))
      reply.bulk.clear();
  };
  const auto* memory = rows->out.data();
  auto got = d.start<gather_answer>(proxy, rows->job(rows));
  rows.reset();
  d.sim.run();
  while (!got->there() && d.net.step())
    d.sim.run();
  CATCH_REQUIRE(got->failure);
  CATCH_CHECK(got->failure->code == ec::invalid_data);
  // One request is still under way, and so is the memory.
  CATCH_REQUIRE(!alive.expired());
  const std::vector<float> before{memory, memory + alive.lock()->out.size()};
  const auto held = alive.lock();
  d.settle();
  CATCH_CHECK(held->out == before);
  CATCH_CHECK(d.net.requests[method::gather] == 2);
}

CATCH_TEST_CASE("a proxy that ends fails its jobs", "[actors][remote]") {
  const auto graph = featured_cycle(40, 3);
  daemons d{cut(graph, 2, halves(40))};
  const auto features =
    d.feature_proxy({d.part(1, std::nullopt), 8, 1 << 20, false});
  const auto sampling = d.sampling_proxy({d.part(1, std::nullopt)});
  const auto rows = std::make_shared<wanted_rows>(d, 3);
  const auto ids =
    std::make_shared<std::vector<node_id>>(std::vector<node_id>{20});
  const auto a = d.start<gather_answer>(features, rows->job(rows));
  const auto b = d.start<neighbour_answer>(sampling, neighbours_of(ids, 1));
  d.settle();
  stop_actor(features);
  stop_actor(sampling);
  d.settle();
  CATCH_REQUIRE(a->failure);
  CATCH_REQUIRE(b->failure);
  CATCH_CHECK(a->failure->code == ec::cancelled);
  CATCH_CHECK(b->failure->code == ec::cancelled);
}

CATCH_TEST_CASE("answers that are too large are asked for in pieces",
                "[actors][remote]") {
  // Every node has all others as in-neighbours: 600 * 600 * 16 bytes.
  memory_graph graph;
  graph.nodes.push_back({"node", 600});
  auto& edges = graph.edges.emplace_back();
  edges.name = "all";
  for (node_id i = 0; i < 600; ++i) {
    auto& from = edges.in.emplace_back(600);
    std::iota(from.begin(), from.end(), 0);
  }
  daemons d{cut(graph, 2, halves(600))};
  remote_sampling_config config;
  config.to = d.part(1, d.servers[1]);
  config.reply_bytes = std::uint64_t{1} << 40; // Optimistic.
  const auto proxy = d.sampling_proxy(config);
  auto ids = std::make_shared<std::vector<node_id>>();
  for (int copy = 0; copy < 12; ++copy)
    for (node_id i = 300; i < 600; ++i)
      ids->push_back(i);
  const auto job = neighbours_of(ids, -1);
  const auto there = d.start<neighbour_answer>(proxy, job);
  const auto here = d.start<neighbour_answer>(d.local_sampling[1], job);
  d.settle();
  const auto& a = *daemons::answer_of(there).reply;
  const auto& b = *daemons::answer_of(here).reply;
  CATCH_CHECK(list(a.counts) == list(b.counts));
  CATCH_CHECK(list(a.sources) == list(b.sources));
  CATCH_CHECK(list(a.edge_ids) == list(b.edge_ids));
  CATCH_CHECK(d.remote->read().split == 1);
  // With replacement, the fanout may be anything.
  auto single = std::make_shared<std::vector<node_id>>(1, 300);
  const auto never = d.start<neighbour_answer>(
    proxy, neighbours_of(single, std::numeric_limits<std::int32_t>::max(),
                         draw_kind::with_replacement));
  d.settle();
  CATCH_REQUIRE(never->failure);
  CATCH_CHECK(never->failure->code == ec::invalid_data);
}

CATCH_TEST_CASE("answers from a broken daemon are errors", "[actors][remote]") {
  const auto graph = featured_cycle(40, 3);
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CATCH_INFO("seed " << seed);
    daemons d{cut(graph, 2, halves(40))};
    random_stream draws{seed, 9};
    d.net.tamper = [&draws](payload& reply) {
      const auto spoil = [&draws](frame& part) {
        if (part.empty())
          return;
        std::vector<std::byte> bytes{part.bytes().begin(), part.bytes().end()};
        for (std::uint32_t i = 0; i < 1 + draws.below(3); ++i)
          bytes[draws.below(static_cast<std::uint32_t>(bytes.size()))] =
            static_cast<std::byte>(draws.below(256));
        if (draws.below(4) == 0)
          bytes.resize(draws.below(static_cast<std::uint32_t>(bytes.size())));
        part = frame::copy(bytes);
      };
      spoil(draws.below(3) == 0 && !reply.bulk.empty() ? reply.bulk[0]
                                                       : reply.body);
    };
    const auto rows = std::make_shared<wanted_rows>(d, 3);
    auto job = rows->job(rows);
    std::vector<std::int64_t> labels(20);
    std::vector<std::int64_t> originals(20);
    std::vector<std::int32_t> degrees(20);
    job.items.push_back({gather_kind::labels, 0, rows->ids, {}, labels.data()});
    job.items.push_back(
      {gather_kind::original_ids, 0, rows->ids, {}, originals.data()});
    job.items.push_back(
      {gather_kind::degrees, 0, rows->ids, {}, degrees.data()});
    const auto ids = std::make_shared<std::vector<node_id>>(rows->ids);
    const auto a = d.start<gather_answer>(
      d.feature_proxy({d.part(1, d.servers[1]), 8, 1 << 20, false}), job);
    const auto b = d.start<neighbour_answer>(
      d.sampling_proxy({d.part(1, d.servers[1])}), neighbours_of(ids, 2));
    d.settle();
    CATCH_CHECK(a->there());
    CATCH_CHECK(b->there());
    if (a->answer)
      for (std::size_t i = 0; i < 20; ++i) {
        CATCH_CHECK((originals[i] >= 0 && originals[i] < 40));
        CATCH_CHECK((labels[i] >= -1 && labels[i] < 3));
      }
    if (b->answer)
      CATCH_CHECK(b->answer->reply->counts.size() == 20);
  }
}

CATCH_TEST_CASE("lists longer than a message come in slices",
                "[actors][remote]") {
  // One node has all others as sources, the others two.
  auto graph = cycle(2000);
  for (node_id i = 1; i < 2000; ++i)
    graph.edges[0].in[1500].push_back(i);
  data_server_config small;
  small.message_bytes = 1000;
  daemons d{cut(graph, 2, halves(2000)), 3, small};
  auto ids = std::make_shared<std::vector<node_id>>();
  for (node_id i = 1490; i < 1510; ++i)
    ids->push_back(d.graph.to_global[0][static_cast<std::size_t>(i)]);
  for (const auto fanout : {-1, 900})
    for (const auto kind : {draw_kind::without_replacement,
                            draw_kind::with_replacement, draw_kind::labor}) {
      CATCH_INFO("fanout " << fanout << ", kind " << static_cast<int>(kind));
      const auto job = neighbours_of(ids, fanout, kind);
      remote_sampling_config config{d.part(1, d.servers[1])};
      config.reply_bytes = 800;
      const auto before = d.remote->read().split;
      std::size_t largest = 0;
      d.net.tamper = [&largest](payload& reply) {
        largest =
          std::max(largest, static_cast<std::size_t>(reply.byte_size()));
      };
      const auto far =
        d.start<neighbour_answer>(d.sampling_proxy(std::move(config)), job);
      d.settle();
      const auto near = d.start<neighbour_answer>(d.local_sampling[1], job);
      d.sim.run();
      const auto got = d.answer_of(far).reply;
      const auto expected = d.answer_of(near).reply;
      CATCH_CHECK(list(got->counts) == list(expected->counts));
      CATCH_CHECK(list(got->sources) == list(expected->sources));
      CATCH_CHECK(list(got->edge_ids) == list(expected->edge_ids));
      CATCH_CHECK(d.remote->read().split > before + 10);
      CATCH_CHECK(largest < 1500);
    }
}

CATCH_TEST_CASE("slices that do not fit each other are refused",
                "[actors][remote]") {
  auto graph = cycle(200);
  for (node_id i = 1; i < 200; ++i)
    graph.edges[0].in[150].push_back(i);
  data_server_config small;
  small.message_bytes = 300;
  for (const auto forgery : {0, 1, 2}) {
    CATCH_INFO("case " << forgery);
    daemons d{cut(graph, 2, halves(200)), 3, small};
    auto ids =
      std::make_shared<std::vector<node_id>>(1, d.graph.to_global[0][150]);
    int replies = 0;
    d.net.tamper = [&](payload& reply) {
      const auto read = value_of(decode_sample_reply(reply));
      if (read.answers.empty() || ++replies != 2)
        return;
      // The second slice: of another list, too long, too short.
      const std::vector<std::int32_t> counts{forgery == 0 ? 199 : 201};
      const std::vector<std::int64_t> sources(
        std::array<std::size_t, 3>{10, 11,
                                   9}[static_cast<std::size_t>(forgery)],
        1);
      bulk_writer arrays;
      sample_reply forged;
      neighbour_arrays answer{arrays.add_counts(counts),
                              arrays.add_integers(sources),
                              arrays.add_integers(sources)};
      forged.answers.push_back(answer);
      reply = value_of(encode(forged, std::move(arrays)));
    };
    remote_sampling_config config{d.part(1, d.servers[1])};
    config.reply_bytes = 160; // 10 sources.
    const auto got = d.start<neighbour_answer>(
      d.sampling_proxy(std::move(config)), neighbours_of(ids, -1));
    d.settle();
    CATCH_REQUIRE(got->failure);
    CATCH_CHECK(got->failure->code == ec::invalid_data);
  }
}
