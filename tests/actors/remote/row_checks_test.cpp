#include "actors/remote/failover.hpp"
#include "messages/wire/data.hpp"
#include "partition/sampling/sampling.hpp"
#include "tests/actors/remote/daemons.hpp"
#include "tests/support/result.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace {

cut_graph forty_nodes() {
  assignment owner(1);
  for (int i = 0; i < 40; ++i)
    owner[0].push_back(i < 20 ? 0 : 1);
  return cut(with_values(cycle(40), 1, 6), 2, owner);
}

/// Rows and labels of all nodes of part 1.
struct wanted_values {
  wanted_values() {
    for (node_id id = 20; id < 40; ++id)
      ids.push_back(id);
  }
  gather_job job(const std::shared_ptr<wanted_values>& self,
                 std::uint64_t batch = 1) {
    gather_job made;
    made.items.push_back({gather_kind::features, 0, ids, {}, features.data()});
    made.items.push_back({gather_kind::labels, 0, ids, {}, labels.data()});
    made.owner = self;
    made.batch = batch;
    return made;
  }

  std::vector<node_id> ids;
  std::vector<float> features = std::vector<float>(20 * 6);
  std::vector<std::int64_t> labels = std::vector<std::int64_t>(20);
};

/// The owner of part 1 flips the sign of a row behind the back of its digests.
void flip_signs(daemons& d, node_id first, node_id last) {
  const auto& nodes = d.graph.shards[1]->nodes(0);
  auto* rows =
    const_cast<float*>(reinterpret_cast<const float*>(nodes.features));
  for (auto i = (first - nodes.begin) * 6; i < (last - nodes.begin) * 6; ++i)
    rows[i] = -rows[i];
}

remote_feature_config config_of(daemons& d, double share) {
  remote_feature_config out;
  out.to = d.part(1, d.servers[1]);
  out.audit = std::make_shared<row_audit>(share, 17);
  return out;
}

/// Changes a sign in the first array.
void flip_first(payload& reply) {
  std::vector<std::byte> bytes{reply.bulk[0].bytes().begin(),
                               reply.bulk[0].bytes().end()};
  bytes[7] ^= std::byte{0x80};
  reply.bulk[0] = frame::copy(bytes);
}

bool mentions(const error& reason, const std::string& text) {
  return reason.message.find(text) != std::string::npos;
}

} // namespace

CATCH_TEST_CASE("values are answered once they are proved",
                "[actors][remote]") {
  daemons d{forty_nodes()};
  const auto config = config_of(d, 1);
  const auto values = std::make_shared<wanted_values>();
  const auto got =
    d.start<gather_answer>(d.feature_proxy(config), values->job(values));
  d.sim.run();
  while (d.net.requests[method::prove] == 0 && d.net.step())
    d.sim.run();
  CATCH_CHECK(!got->there()); // The rows have come.
  d.settle();
  daemons::answer_of(got);
  CATCH_CHECK(d.net.requests[method::gather] == 1);
  CATCH_CHECK(d.net.requests[method::prove] == 1);
  CATCH_CHECK(config.audit->sound().items == 40);
  CATCH_CHECK(config.audit->sound().bytes > 20 * (6 * 4 + 8));
  CATCH_CHECK(config.audit->liars().empty());
}

CATCH_TEST_CASE("nothing is asked again without a share to check",
                "[actors][remote]") {
  daemons d{forty_nodes()};
  flip_signs(d, 20, 40);
  for (const bool with : {false, true}) {
    auto config = config_of(d, 0);
    if (!with)
      config.audit = nullptr;
    const auto values = std::make_shared<wanted_values>();
    const auto got =
      d.start<gather_answer>(d.feature_proxy(config), values->job(values));
    d.settle();
    daemons::answer_of(got);
    CATCH_CHECK(d.net.requests[method::prove] == 0);
  }
}

CATCH_TEST_CASE("an owner that changed a row is named", "[actors][remote]") {
  daemons d{forty_nodes()};
  flip_signs(d, 27, 28);
  const auto config = config_of(d, 1);
  const auto values = std::make_shared<wanted_values>();
  const auto got =
    d.start<gather_answer>(d.feature_proxy(config), values->job(values));
  d.settle();
  CATCH_REQUIRE(got->failure);
  // It proves what it has, which is not what the dataset had.
  CATCH_CHECK(got->failure->code == ec::invalid_data);
  CATCH_CHECK(mentions(*got->failure, "part 1 at daemon \"d1\""));
  CATCH_CHECK(mentions(*got->failure, "nodes/node/features.npy, block 0"));
  CATCH_CHECK(mentions(*got->failure, "not in the dataset"));
  CATCH_CHECK(config.audit->liars() == std::vector<std::string>{"d1"});
}

CATCH_TEST_CASE("an owner that lies about sound files is named",
                "[actors][remote]") {
  for (const auto kind : {method::gather, method::prove}) {
    CATCH_INFO("lies in its answer to " << to_string(kind));
    daemons d{forty_nodes()};
    auto replies = 0; // First the values, then the proof.
    d.net.tamper = [kind, &replies](payload& reply) {
      if (++replies == (kind == method::gather ? 1 : 2))
        flip_first(reply);
    };
    const auto config = config_of(d, 1);
    const auto values = std::make_shared<wanted_values>();
    const auto got =
      d.start<gather_answer>(d.feature_proxy(config), values->job(values));
    d.settle();
    CATCH_REQUIRE(got->failure);
    CATCH_CHECK(got->failure->code == ec::invalid_data);
    CATCH_CHECK(mentions(
      *got->failure, kind == method::gather
                       ? "part 1 at daemon \"d1\": the feature row of node 20 "
                         "of type \"node\" "
                         "(nodes/node/features.npy, block 0) that it sent"
                       : "has a block that is not in the dataset"));
    CATCH_CHECK(config.audit->liars().size() == 1);
  }
}

CATCH_TEST_CASE("an owner does not get out of a proof by being unavailable",
                "[actors][remote]") {
  daemons d{forty_nodes()};
  auto config = config_of(d, 1);
  const auto ask = config.to.call;
  config.to.call = [ask](method method_id, payload data, part_reply on_reply) {
    if (method_id == method::prove)
      on_reply(fail(ec::unavailable, "not now"), "d1");
    else
      ask(method_id, std::move(data), std::move(on_reply));
  };
  const auto values = std::make_shared<wanted_values>();
  const auto got =
    d.start<gather_answer>(d.feature_proxy(config), values->job(values));
  d.settle();
  CATCH_REQUIRE(got->failure);
  CATCH_CHECK(got->failure->code == ec::invalid_data); // No batch begins anew.
  CATCH_CHECK(mentions(*got->failure, "not now"));
  CATCH_CHECK(config.audit->liars().empty()); // Its connection may have broken.
}

CATCH_TEST_CASE("another owner proves what one has sent, and who lies is named",
                "[actors][remote]") {
  for (const auto lie : {0, 1, 2}) { // In no reply, the values, the proof.
    CATCH_INFO("lie " << lie);
    daemons d{forty_nodes()};
    const auto other = d.sim.own(spawn_data_server(d.sim.system(), {"d2"}));
    post(other, serve_part{"run", d.graph.shards[1], d.local_sampling[1],
                           d.local_features[1], d.pool});
    d.sim.run();
    auto replies = 0;
    d.net.tamper = [lie, &replies](payload& reply) {
      if (++replies == lie)
        flip_first(reply);
    };
    const auto first = d.net.to(d.servers[1]);
    const auto second = d.net.to(other);
    const remote_call dies =
      [first](method method_id, payload data,
              std::function<void(result<payload>)> on_reply) {
        if (method_id == method::prove)
          on_reply(fail(ec::unavailable, "it is gone"));
        else
          first(method_id, std::move(data), std::move(on_reply));
      };
    auto config = config_of(d, 1);
    config.to.call =
      failover::over({{"d1", dies, dies}, {"d2", second, second}}, {})
        ->among({0, 1});
    const auto values = std::make_shared<wanted_values>();
    const auto got =
      d.start<gather_answer>(d.feature_proxy(config), values->job(values));
    d.settle();
    if (lie == 0) {
      daemons::answer_of(got);
      CATCH_CHECK(config.audit->sound().items == 40);
      CATCH_CHECK(config.audit->liars().empty());
      continue;
    }
    const auto liar = fmt::format("d{}", lie);
    CATCH_REQUIRE(got->failure);
    CATCH_CHECK(got->failure->code == ec::invalid_data);
    CATCH_CHECK(mentions(*got->failure, "daemon \"" + liar + "\""));
    CATCH_CHECK(config.audit->liars() == std::vector<std::string>{liar});
  }
}

CATCH_TEST_CASE("a part without trees proves nothing", "[actors][remote]") {
  // As a plain dataset, of which nobody asks.
  auto graph = whole(with_values(cycle(10), 1, 6));
  CATCH_CHECK_FALSE(graph.graph->proves_rows());
  daemons d{std::move(graph)};
  remote_feature_config config;
  config.to = d.part(0, d.servers[0]);
  config.audit = std::make_shared<row_audit>(1, 17);
  const auto values = std::make_shared<wanted_values>();
  values->ids = {1, 2, 3};
  const auto got =
    d.start<gather_answer>(d.feature_proxy(config), values->job(values));
  d.settle();
  CATCH_REQUIRE(got->failure);
  CATCH_CHECK(got->failure->code == ec::not_found);
  CATCH_CHECK(mentions(*got->failure, "partition the dataset again"));
}

CATCH_TEST_CASE("a batch that is begun anew has the same values checked",
                "[actors][remote]") {
  daemons d{forty_nodes()};
  const auto config = config_of(d, 0.3);
  const auto proxy = d.feature_proxy(config);
  const auto checked = [&](std::uint64_t batch) {
    const auto before = config.audit->sound().items;
    const auto values = std::make_shared<wanted_values>();
    const auto got = d.start<gather_answer>(proxy, values->job(values, batch));
    d.settle();
    daemons::answer_of(got);
    return config.audit->sound().items - before;
  };
  const auto first = checked(1);
  CATCH_CHECK(first > 0);
  CATCH_CHECK(first < 40);
  CATCH_CHECK(checked(1) == first);
}

CATCH_TEST_CASE("whole batches are checked, whatever the owner flips",
                "[actors][remote]") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CATCH_INFO("seed " << seed);
    daemons d{forty_nodes(), seed};
    random_stream draws{seed, 4};
    const auto flipped = 20 + static_cast<node_id>(draws.below(20));
    flip_signs(d, flipped, flipped + 1);
    const auto config = config_of(d, 1);
    const auto fetcher = d.fetcher_over_wire(config);
    auto graph = std::make_shared<sampled_subgraph>();
    auto seeds = std::make_shared<std::vector<node_id>>();
    for (node_id id = 15; id < 40; ++id)
      seeds->push_back(id);
    sampling_scheme scheme;
    scheme.fanouts = {{2}};
    *graph =
      value_of(sample(*d.graph.graph, d.graph.shards, scheme, 1, *seeds));
    const auto got = d.start<fetch_answer>(
      fetcher, fetch_job{batch_key{phase::train, 0, 3, 0}, graph});
    d.settle();
    CATCH_REQUIRE(got->failure);
    CATCH_CHECK(mentions(*got->failure, "at daemon \"d1\""));
  }
}
