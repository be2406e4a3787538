#include "actors/remote/proxies/batch_proxy.hpp"

#include "actors/base/request_watch.hpp"
#include "actors/base/ticket_table.hpp"
#include "actors/remote/ask_daemon.hpp"
#include "actors/remote/calls/batch_call.hpp"
#include "actors/remote/interfaces.hpp"

#include <spdlog/logger.h>

#include <utility>

namespace graphmill {

namespace {

class batch_proxy {
public:
  using interface = sampler_actor::extend<
    // The TRANSPORT has an answer.
    takes<remote_reply>>;
  static constexpr const char* name = "batch_proxy";

  batch_proxy(interface::pointer self, batch_proxy_config config)
    : self_(self), config_(std::move(config)) {
    self_->set_exit_handler([this](const caf::exit_msg& exit) {
      // To its pool this is no answer: it gives the job to another proxy.
      for (auto& open : open_.take_all())
        open.promise.deliver(
          to_caf(fail(ec::crashed, "the proxy of a sampler has ended")));
      self_->quit(exit.reason);
    });
  }

  interface::behavior_type make_behavior() {
    return {
      [this](const sample_job& job) { return begin(job); },
      [this](const remote_reply& reply) { on_reply(reply); },
    };
  }

private:
  using promise_type = caf::typed_response_promise<sample_answer>;

  /// A batch that another daemon samples.
  struct batch {
    sample_job job;
    batch_kind kind = batch_kind::unset;
    const batch_source* source = nullptr;
    promise_type promise;
  };

  const batch_source& source_of(const batch_key& key) const {
    const auto turn = static_cast<std::uint64_t>(key.step)
                        * static_cast<std::uint64_t>(config_.world)
                      + static_cast<std::uint64_t>(key.rank);
    return config_.sources[turn % config_.sources.size()];
  }

  caf::result<sample_answer> begin(const sample_job& job) {
    auto promise = self_->make_response_promise<sample_answer>();
    const auto kind =
      job.key.phase == phase::train ? batch_kind::train : batch_kind::evaluate;
    batch asked{job, kind, &source_of(job.key), promise};
    if (!asked.source->call)
      sample_here(asked);
    else if (!config_.limits->allow(kind, job.seeds->count()))
      sample_large(asked);
    else if (auto sent = send(asked); !sent)
      promise.deliver(to_caf(explain(asked, sent.error())));
    return promise;
  }

  void sample_here(const batch& asked) {
    requests_.ask(self_, config_.here, config_.timeout, asked.job)
      .then(
        [this, promise = asked.promise](sample_answer& answer) mutable {
          config_.counters->item_done(answer.graph->byte_size());
          promise.deliver(std::move(answer));
        },
        [promise = asked.promise](const caf::error& reason) mutable {
          promise.deliver(to_caf(from_caf(reason, "the sampler")));
        });
  }

  result<void> send(const batch& asked) {
    std::uint64_t ids = 0;
    GRAPHMILL_TRY(auto data,
                  batch_question(config_.run, asked.job.stream, asked.kind,
                                 config_.graph->info(), *asked.job.seeds, ids,
                                 asked.job.key));
    config_.wire->ids_out += ids;
    ask_daemon(handle_of<interface>(self_), open_.add(asked),
               asked.source->call, method::sample_batch, std::move(data),
               *config_.wire);
    return ok();
  }

  void on_reply(const remote_reply& reply) {
    auto found = open_.take(reply.ticket);
    if (!found)
      return;
    auto& asked = *found;
    config_.wire->bytes_in += reply.data.byte_size();
    auto too_large = false;
    auto graph = read(asked, reply, too_large);
    if (!graph) {
      ++config_.wire->failures;
      asked.promise.deliver(to_caf(explain(asked, graph.error())));
    } else if (too_large) {
      config_.limits->was_too_large(asked.kind, asked.job.seeds->count());
      sample_large(asked);
    } else {
      config_.counters->item_done(graph.value()->byte_size());
      asked.promise.deliver(sample_answer{std::move(graph).value()});
    }
  }

  /// Null if the batch is too large for a message.
  result<std::shared_ptr<sampled_subgraph>>
  read(const batch& asked, const remote_reply& reply, bool& too_large) {
    busy_scope busy{*config_.counters};
    if (reply.failure)
      return *reply.failure;
    GRAPHMILL_TRY(const auto arrays, decode_batch_reply(reply.data));
    too_large = arrays.too_large;
    if (too_large)
      return std::shared_ptr<sampled_subgraph>{};
    GRAPHMILL_TRY(auto graph, read_batch(config_.graph->info(),
                                         *asked.job.scheme, *asked.job.seeds,
                                         arrays, reply.data, config_.pool));
    auto& wire = *config_.wire;
    ++wire.batches;
    for (const auto& part : reply.data.bulk)
      wire.batches_in += part.size();
    return std::make_shared<sampled_subgraph>(std::move(graph));
  }

  void sample_large(const batch& asked) {
    if (config_.wire->large_batches++ == 0 && config_.log)
      config_.log->warn("a batch is larger than a message may be: instead of "
                        "daemon {}, this one samples it; use smaller batches "
                        "or fanouts, or leave out placement.samplers",
                        asked.source->daemon);
    sample_here(asked);
  }

  static error explain(const batch& asked, const error& reason) {
    return fail(reason.code, "sampling at daemon \"{}\": {}",
                asked.source->daemon, reason.message);
  }

  interface::pointer self_;
  batch_proxy_config config_;
  request_watch requests_;
  ticket_table<batch> open_;
};

} // namespace

sampler_actor spawn_batch_proxy(caf::actor_system& system,
                                batch_proxy_config config) {
  return spawn_state<batch_proxy>(system, std::move(config));
}

} // namespace graphmill
