#include "actors/stages/batcher.hpp"

#include "pipelines/flow/assembly.hpp"
#include "pipelines/flow/batch_size.hpp"
#include "pipelines/flow/feed/form_batch.hpp"

namespace graphmill {

namespace {

class batcher {
public:
  using interface = batcher_actor;
  static constexpr const char* name = "batcher";

  batcher(interface::pointer, batcher_config config)
    : config_(std::move(config)) {}

  interface::behavior_type make_behavior() {
    return {
      [this](const assemble_job& job) { return answer(job); },
    };
  }

private:
  caf::result<assemble_answer> answer(const assemble_job& job) {
    busy_scope busy{*config_.counters};
    if (job.batch->graph.nodes.empty())
      return to_caf(
        fail(ec::unavailable, "the batch was lost with an earlier batcher"));
    const auto bytes =
      bytes_of(job.batch->graph, config_.graph->info(), config_.needs);
    auto made = make(std::move(*job.batch), job);
    if (!made)
      return to_caf(made.error());
    auto& batch = *made.value();
    batch.global_seeds = job.global_seeds;
    if (job.edges && !config_.form) {
      batch.rows = job.edges;
      auto& data = batch.data;
      data.labels.append(std::span{job.edges->classes});
      data.label_rows.append(std::span{job.edges->label_rows});
      data.original_seeds.append(
        std::span{config_.positions ? job.rows : job.edges->edge_ids});
    }
    config_.counters->item_done(bytes);
    return assemble_answer{std::move(made).value()};
  }

  result<std::shared_ptr<minibatch>> make(fetched_batch batch,
                                          const assemble_job& job) {
    const auto& info = config_.graph->info();
    if (config_.form) {
      GRAPHMILL_TRY(auto formed,
                    form_batch(std::move(batch), job.rows, job.edges.get(),
                               *config_.form, info, config_.pool, job.times));
      return std::make_shared<formed_batch>(std::move(formed));
    }
    GRAPHMILL_TRY(auto assembled, assemble(std::move(batch), config_.needs,
                                           info, config_.pool));
    return std::make_shared<minibatch>(std::move(assembled));
  }

  batcher_config config_;
};

} // namespace

batcher_actor spawn_batcher(caf::actor_system& system, batcher_config config) {
  return spawn_state<batcher>(system, std::move(config));
}

batch_stage assembling_by(batcher_actor actor) {
  return make_stage<assemble_answer>(
    "batcher", std::move(actor),
    [](batch_in_making& batch) {
      return assemble_job{.batch = std::move(batch.fetched),
                          .global_seeds = batch.global_seeds,
                          .key = batch.key,
                          .rows = batch.rows,
                          .edges = batch.edges ? batch.seeds : nullptr,
                          .times = batch.seeds->until};
    },
    [](batch_in_making& batch, const assemble_answer& answer) {
      batch.made = answer.batch;
    });
}

} // namespace graphmill
