#include "actors/stages/sampler.hpp"

#include "actors/base/request_watch.hpp"
#include "partition/files/mapped_file.hpp"
#include "pipelines/flow/batch_size.hpp"

#include <algorithm>

namespace graphmill {

namespace {

/// Destinations below which cutting a request in pieces does not pay.
constexpr std::size_t least_sampling_chunk = 4096;

/// One batch being sampled.
struct sampling {
  sampling(const partitioned_graph& graph, const sample_job& job,
           std::shared_ptr<buffer_pool> pool)
    : seeds(job.seeds), scheme(job.scheme), until(job.until),
      blocks(graph, *scheme, job.stream, std::move(pool)) {}

  /// The answers to the pieces of one request.
  struct slot {
    std::vector<std::shared_ptr<neighbour_reply>> pieces;
    std::size_t missing = 0;
  };

  std::shared_ptr<const batch_seeds> seeds;
  std::shared_ptr<const sampling_scheme> scheme;
  job_clock::time_point until; ///< Then nobody wants it any more.
  batch_sampler blocks;
  caf::typed_response_promise<sample_answer> promise;
  std::vector<slot> slots;
  std::size_t missing = 0; ///< Slots without all their pieces.
  bool over = false;       ///< Answered or failed.
};

neighbour_reply whole_of(sampling::slot& slot) {
  std::vector<neighbour_reply> pieces;
  for (const auto& piece : slot.pieces)
    pieces.push_back(std::move(*piece));
  slot.pieces.clear();
  return join(std::move(pieces));
}

class sampler {
public:
  using interface = sampler_actor;
  static constexpr const char* name = "sampler";

  sampler(interface::pointer self, sampler_config config)
    : self_(self), config_(std::move(config)) {}

  interface::behavior_type make_behavior() {
    return {
      [this](const sample_job& job) { return begin(job); },
    };
  }

private:
  using work = std::shared_ptr<sampling>;

  caf::result<sample_answer> begin(const sample_job& job) {
    auto batch = std::make_shared<sampling>(*config_.graph, job, config_.pool);
    batch->promise = self_->make_response_promise<sample_answer>();
    auto promise = batch->promise;
    if (auto started = batch->blocks.start(*job.seeds); !started)
      give_up(batch, started.error());
    else
      advance(batch);
    return promise;
  }

  /// Asks for the next hop, or ends the batch. Hops without requests pass.
  void advance(const work& batch) {
    while (!batch->over) {
      if (batch->blocks.done()) {
        finish(batch);
        return;
      }
      if (batch->until < job_clock::now()) {
        give_up(batch, asked_in_vain());
        return;
      }
      auto requests = batch->blocks.requests();
      if (!requests.empty()) {
        ask_all(batch, requests);
        return;
      }
      finish_hop(batch);
    }
  }

  void ask_all(const work& batch,
               std::span<const batch_sampler::part_request> requests) {
    batch->slots.clear();
    batch->slots.resize(requests.size());
    batch->missing = requests.size();
    for (std::size_t i = 0; i < requests.size(); ++i)
      ask_part(batch, i, requests[i]);
  }

  void ask_part(const work& batch, std::size_t index,
                const batch_sampler::part_request& wanted) {
    const auto total = wanted.request.destinations.size();
    const auto pieces =
      std::clamp<std::size_t>(total / least_sampling_chunk, 1, config_.chunks);
    auto& slot = batch->slots[index];
    slot.pieces.resize(pieces);
    slot.missing = pieces;
    for (std::size_t p = 0; p < pieces; ++p) {
      const auto from = total * p / pieces;
      const auto to = total * (p + 1) / pieces;
      neighbour_job job{wanted.request.piece(from, to - from), batch,
                        batch->until};
      requests_
        .ask(self_, config_.services[wanted.part], config_.timeout,
             std::move(job))
        .then(
          [this, batch, index, p](const neighbour_answer& answer) {
            take(batch, index, p, answer);
          },
          [this, batch](const caf::error& reason) {
            give_up(batch, from_caf(reason, "a sampling service"));
          });
    }
  }

  void take(const work& batch, std::size_t index, std::size_t piece,
            const neighbour_answer& answer) {
    if (batch->over)
      return;
    auto& slot = batch->slots[index];
    slot.pieces[piece] = answer.reply;
    if (--slot.missing != 0)
      return;
    {
      busy_scope busy{*config_.counters};
      const auto number = batch->blocks.requests()[index].slot;
      if (auto done = batch->blocks.accept(number, whole_of(slot)); !done) {
        give_up(batch, done.error());
        return;
      }
    }
    if (--batch->missing == 0) {
      finish_hop(batch);
      advance(batch);
    }
  }

  void finish_hop(const work& batch) {
    busy_scope busy{*config_.counters};
    if (auto done = batch->blocks.finish_hop(); !done)
      give_up(batch, done.error());
  }

  void finish(const work& batch) {
    // What lay beyond the end of a shortened file has been read as zeros.
    if (auto fault = mapped_file::first_fault()) {
      give_up(batch, *fault);
      return;
    }
    batch->over = true;
    auto graph = std::make_shared<sampled_subgraph>(batch->blocks.take());
    config_.counters->item_done(graph->byte_size());
    batch->promise.deliver(sample_answer{std::move(graph)});
  }

  void give_up(const work& batch, const error& reason) {
    if (!std::exchange(batch->over, true))
      batch->promise.deliver(to_caf(reason));
  }

  interface::pointer self_;
  sampler_config config_;
  request_watch requests_;
};

} // namespace

sampler_actor spawn_sampler(caf::actor_system& system, sampler_config config) {
  return spawn_state<sampler>(system, std::move(config));
}

batch_stage sampling_by(sampler_actor actor,
                        std::shared_ptr<const partitioned_graph> graph,
                        const batch_needs& needs) {
  auto out = make_stage<sample_answer>(
    "sampler", std::move(actor),
    [](batch_in_making& batch) {
      return sample_job{batch.key, batch.stream, batch.seeds, batch.scheme};
    },
    [](batch_in_making& batch, const sample_answer& answer) {
      batch.graph = answer.graph;
    });
  out.bytes = [graph = std::move(graph), needs](const batch_in_making& batch) {
    return bytes_of(*batch.graph, graph->info(), needs)
           + edge_list_bytes(*batch.graph, graph->info(), needs,
                             graph->part_count())
           + (batch.edges ? bytes_of(*batch.seeds, needs) : 0);
  };
  return out;
}

} // namespace graphmill
