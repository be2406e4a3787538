#pragma once

#include "actors/remote/proxies/feature_proxy.hpp"
#include "actors/remote/proxies/sampling_proxy.hpp"
#include "actors/remote/serving/data_server.hpp"
#include "actors/stages/fetcher.hpp"
#include "actors/stages/sampler.hpp"
#include "actors/stages/services/feature_service.hpp"
#include "actors/stages/services/sampling_service.hpp"
#include "messages/base/random.hpp"
#include "pipelines/flow/batch_needs.hpp"
#include "tests/partition/sampling/support.hpp"
#include "tests/support/actors.hpp"

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace graphmill::test {

/// Adds features, labels and seeds to a graph without.
inline memory_graph with_values(memory_graph graph, std::uint64_t seed,
                                std::int64_t width = 5) {
  random_stream draws{seed, 77};
  for (auto& type : graph.nodes) {
    // The second type has embeddings instead.
    type.width = &type == &graph.nodes[0] ? width : 0;
    for (std::int64_t i = 0; i < type.count * type.width; ++i)
      type.features.push_back(static_cast<float>(draws.below(1000)) / 7.0F);
    for (std::int64_t i = 0; i < type.count; ++i)
      type.labels.push_back(static_cast<std::int64_t>(draws.below(4)) - 1);
  }
  return graph;
}

/// The same bytes elsewhere in memory, badly aligned: as if received.
inline payload received(const payload& sent) {
  const auto move = [](const frame& from) {
    auto place = std::make_shared<std::vector<std::byte>>(from.size() + 4);
    std::memcpy(place->data() + 4, from.data(), from.size());
    const auto bytes = std::span<const std::byte>{*place}.subspan(4);
    return frame::own(std::move(place), bytes);
  };
  payload out{move(sent.body), {}};
  for (const auto& part : sent.bulk)
    out.bulk.push_back(move(part));
  return out;
}

/// The only owner of a part.
inline part_call call_of(std::string daemon, remote_call call) {
  return [daemon = std::move(daemon), call = std::move(call)](
           method method_id, payload data, part_reply on_reply) {
    call(method_id, std::move(data),
         [daemon, on_reply = std::move(on_reply)](result<payload> got) {
           on_reply(std::move(got), daemon);
         });
  };
}

/// A network whose messages arrive when the test says so, in any order.
class wire {
public:
  explicit wire(std::uint64_t seed) : draws_(seed, 5) {}

  /// A connection to a daemon, or to nobody.
  remote_call to(std::optional<data_server_actor> server) {
    return [this, server](method method_id, payload data,
                          std::function<void(result<payload>)> on_reply) {
      ++requests[method_id];
      sent.emplace_back(method_id, data);
      if (!server) {
        unanswered.push_back(std::move(on_reply));
        return;
      }
      under_way_.push_back([this, server, method_id, data = received(data),
                            on_reply = std::move(on_reply)] {
        post(*server,
             data_request{
               method_id, data,
               std::chrono::steady_clock::now() + std::chrono::hours{1}, "self",
               [this, on_reply](result<payload> got) {
                 if (got && tamper)
                   tamper(got.value());
                 under_way_.push_back([on_reply, got] {
                   on_reply(got ? result<payload>{received(got.value())} : got);
                 });
               }});
      });
    };
  }

  /// Delivers one message, whichever; false if there is none.
  bool step() {
    if (under_way_.empty())
      return false;
    const auto which =
      draws_.below(static_cast<std::uint32_t>(under_way_.size()));
    auto deliver = std::move(under_way_[which]);
    under_way_.erase(under_way_.begin() + which);
    deliver();
    return true;
  }

  std::map<method, int> requests;
  std::vector<std::pair<method, payload>> sent;
  std::vector<std::function<void(result<payload>)>> unanswered;
  std::function<void(payload&)> tamper; ///< Changes replies.

private:
  random_stream draws_;
  std::vector<std::function<void()>> under_way_;
};

/// What an actor answered.
template <class Answer>
struct outcome {
  std::optional<Answer> answer;
  std::optional<error> failure;
  bool there() const { return answer || failure; }
};

/// A graph in parts, each served locally and by a daemon of its own.
struct daemons {
  explicit daemons(cut_graph parts, std::uint64_t seed = 1,
                   data_server_config like = {})
    : net(seed), graph(std::move(parts)) {
    for (std::size_t p = 0; p < graph.shards.size(); ++p) {
      local_sampling.push_back(sim.own(spawn_sampling_service(
        sim.system(), {graph.shards[p], pool, counters})));
      local_features.push_back(sim.own(
        spawn_feature_service(sim.system(), {graph.shards[p], counters})));
      like.daemon = fmt::format("d{}", p);
      servers.push_back(sim.own(spawn_data_server(sim.system(), like)));
      serve(p);
    }
  }

  void serve(std::size_t p) {
    post(servers[p], serve_part{"run", graph.shards[p], local_sampling[p],
                                local_features[p], pool});
    sim.run();
  }

  remote_part part(std::size_t p, std::optional<data_server_actor> to) {
    const auto name = fmt::format("d{}", p);
    return {"run",
            static_cast<part_id>(p),
            name,
            graph.graph,
            call_of(name, net.to(std::move(to))),
            pool,
            remote};
  }
  sampling_service_actor sampling_proxy(remote_sampling_config config) {
    return sim.own(
      spawn_remote_sampling_service(sim.system(), std::move(config)));
  }
  feature_service_actor feature_proxy(remote_feature_config config) {
    return sim.own(
      spawn_remote_feature_service(sim.system(), std::move(config)));
  }

  /// Part 0 is here, all others are at other daemons.
  sampler_actor sampler_over_wire(remote_sampling_config like = {}) {
    auto services = local_sampling;
    for (std::size_t p = 1; p < services.size(); ++p) {
      like.to = part(p, servers[p]);
      services[p] = sampling_proxy(like);
    }
    return sampler(std::move(services));
  }
  sampler_actor sampler(std::vector<sampling_service_actor> services) {
    return sim.own(
      spawn_sampler(sim.system(), {graph.graph, std::move(services), 1, timeout,
                                   pool, counters}));
  }
  fetcher_actor fetcher_over_wire(remote_feature_config like) {
    auto services = local_features;
    for (std::size_t p = 1; p < services.size(); ++p) {
      like.to = part(p, servers[p]);
      services[p] = feature_proxy(like);
    }
    return fetcher(std::move(services));
  }
  fetcher_actor fetcher(std::vector<feature_service_actor> services) {
    batch_needs needs;
    needs.degrees = true;
    needs.in_weights = true;
    return sim.own(
      spawn_fetcher(sim.system(), {graph.graph, std::move(services), needs, 1,
                                   timeout, pool, counters}));
  }

  template <class Answer, class Handle, class Job>
  std::shared_ptr<outcome<Answer>> start(const Handle& to, Job job) {
    auto out = std::make_shared<outcome<Answer>>();
    sim.own(sim.system().spawn([=](caf::event_based_actor* self) {
      ask(self, to, std::chrono::hours{2}, job)
        .then([out](const Answer& answer) { out->answer = answer; },
              [out](const caf::error& reason) {
                out->failure = from_caf(reason, "the actor");
              });
    }));
    return out;
  }

  /// Lets all that is under way arrive.
  void settle() {
    for (auto quiet = 0; quiet < 3; ++quiet) {
      sim.advance(std::chrono::milliseconds{1});
      while (net.step()) {
        sim.run();
        quiet = 0;
      }
    }
  }

  /// What must have been answered.
  template <class Answer>
  static Answer answer_of(const std::shared_ptr<outcome<Answer>>& from) {
    if (from->failure)
      CATCH_FAIL(to_string(*from->failure));
    CATCH_REQUIRE(from->answer);
    return *from->answer;
  }

  wire net; // The simulation ends first, with what its actors hold.
  simulation sim;
  cut_graph graph;
  std::shared_ptr<buffer_pool> pool = buffer_pool::make(64 << 20);
  std::shared_ptr<stage_counters> counters =
    std::make_shared<stage_counters>("stage", 1);
  std::shared_ptr<remote_counters> remote = std::make_shared<remote_counters>();
  std::chrono::milliseconds timeout = std::chrono::hours{1};
  std::vector<sampling_service_actor> local_sampling;
  std::vector<feature_service_actor> local_features;
  std::vector<data_server_actor> servers;
};

} // namespace graphmill::test
