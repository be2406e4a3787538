#include "pipelines/model/replica.hpp"
#include "messages/base/moments.hpp"
#include "pipelines/kernels/cross_entropy.hpp"
#include "pipelines/kernels/model_layout.hpp"
#include "pipelines/kernels/optimizer.hpp"
#include "pipelines/kernels/parameters.hpp"
#include "pipelines/model/fused_model.hpp"
#include "pipelines/model/memory_estimate.hpp"
#include "pipelines/model/seed_losses.hpp"
#include "pipelines/model/state_shapes.hpp"
#include "pipelines/model/torch/devices.hpp"
#include "pipelines/results/named_tensor.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <iterator>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

namespace graphmill {

namespace {

/// Runs `f`, turning what a device or an allocation throws into an error.
template <class F>
auto guarded(const char* name, const F& f) -> decltype(f()) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    return fail(ec::out_of_memory,
                "no memory left to {}; use a smaller "
                "train.batch_size or sampler.fanouts",
                name);
  } catch (const std::exception& e) {
    return fail(ec::internal, "cannot {}: {}", name, e.what());
  }
}

/// Whether edges have weights as those do that they were made of.
bool has_weights_of(const csr& edges, const csr& source) {
  const auto weighted = !source.weights.empty();
  return edges.weights.size() == (weighted ? edges.columns.size() : 0);
}

} // namespace

struct replica::impl {
  model_layout layout;
  parameter_store parameters;
  optimizer steps;
  const int moments; ///< That the optimizer keeps of each parameter.
  std::optional<parameter_store> best;
  const loss_shape loss; ///< Borrows the class weights of the layout.
  const bool scores;     ///< Evaluations tell them.
  std::string device;
  thread_team team;
  const std::size_t pool_limit;
  std::shared_ptr<buffer_pool> pool;
  /// Begins a step of the model on a batch.
  using beginner = std::function<std::unique_ptr<model_step>(
    const minibatch&, bool training, std::uint64_t key)>;
  beginner begin = [this](const auto&... of) { return begin_step(of...); };

  /// @param most Bytes of activations of the largest batch.
  impl(model_layout shape, const definition& def, std::uint64_t most)
    : layout(std::move(shape)),
      parameters(initial_parameters(layout, def.seed)),
      steps(def.optimizer, layout), moments(optimizer::moments(def.optimizer)),
      loss{def.train.label_smoothing, layout.class_weights,
           def.train.focal_gamma},
      scores(def.evaluate.brings_scores()), device(def.trainer.device),
      team(def.trainer.threads), pool_limit(most),
      pool(buffer_pool::make(pool_limit)) {}

  std::int64_t seeds(const minibatch& batch) const {
    return batch.rows ? static_cast<std::int64_t>(batch.rows->rows())
                      : batch.data.graph.nodes[layout.target].found.front();
  }

  result<void> check(const minibatch& batch, bool training) const;
  void forget_unused_memory();
  result<void> check_rows(const minibatch& batch) const;
  result<void> check_packed(const minibatch& batch, std::size_t type) const;
  result<void> check_transposed(const minibatch& batch, int layer) const;
  void zero(gradient_set& out) const;
  void catch_up(const minibatch& batch);
  void catch_up() { steps.catch_up(parameters); }
  std::unique_ptr<model_step> begin_step(const minibatch& batch, bool training,
                                         std::uint64_t key);
  void slow_down(std::chrono::milliseconds delay);
  void tell_moments();
};

/// Checks the sizes, classes and counts that kernels trust. A batch comes from
/// our own assembly, so what is wrong with it is a bug of ours; but kernels
/// would read elsewhere, and an error says more than a crash.
result<void> replica::impl::check(const minibatch& batch, bool training) const {
  const auto& graph = batch.data.graph;
  const auto& first = layout.layers.front();
  if (graph.hops != layout.hops || graph.nodes.size() != first.types.size()
      || batch.relations.size() != layout.relations.size())
    return fail(ec::internal,
                "a batch of {} hops, {} node types and {} relations does not "
                "fit a model of {}, {} and {}",
                graph.hops, graph.nodes.size(), batch.relations.size(),
                layout.hops, first.types.size(), layout.relations.size());
  for (std::size_t t = 0; t < first.types.size(); ++t) {
    const auto rows = static_cast<std::size_t>(graph.nodes[t].found.back());
    const auto& type = first.types[t];
    if (type.in == 0)
      continue;
    const auto have = layout.table_of[t] == absent
                        ? batch.data.features[t].size()
                        : batch.data.embedding_rows[t].size();
    const auto want = layout.table_of[t] == absent
                        ? rows * layout.feature_rows[t].floats()
                        : rows;
    if (have != want)
      return fail(ec::internal,
                  "a batch brings {} values of node type {}, the model reads "
                  "{}",
                  have, t, want);
    GRAPHMILL_TRYV(check_packed(batch, t));
    if (layout.traits.needs_degrees() && batch.data.degrees[t].size() != rows)
      return fail(ec::internal,
                  "a batch for a model of kind {} has no in-degrees",
                  layout.traits.name);
    if (const auto& sums = batch.data.in_weights;
        t < sums.size() && !sums[t].empty() && sums[t].size() != rows)
      return fail(ec::internal, "a batch brings {} sums of weights of {} nodes",
                  sums[t].size(), rows);
  }
  for (std::size_t r = 0; r < batch.relations.size(); ++r) {
    const auto& relation = batch.relations[r];
    const auto edges = relation.forward.columns.size();
    if (!has_weights_of(relation.forward, relation.forward))
      return fail(ec::internal, "a batch has {} weights of {} edges",
                  relation.forward.weights.size(), edges);
    const auto& reads = layout.relations[r];
    if (relation.edge_features.size()
          != edges * static_cast<std::size_t>(reads.feature_width())
        || relation.ages.size() != (reads.age_width == 0 ? 0 : edges))
      return fail(ec::internal,
                  "a batch brings {} features and {} ages of {} edges {}, of "
                  "which the model reads {} features each",
                  relation.edge_features.size(), relation.ages.size(), edges,
                  reads.name, reads.feature_width());
  }
  for (int l = 0; training && l < layout.hops; ++l)
    GRAPHMILL_TRYV(check_transposed(batch, l));
  GRAPHMILL_TRYV(check_rows(batch));
  GRAPHMILL_TRYV(check_labels(layout, batch));
  if (training && batch.global_seeds < 1 && seeds(batch) > 0)
    return fail(ec::internal, "a training batch does not say how many seeds "
                              "its step has");
  return ok();
}

/// Rows of tasks of edges say which outputs are read.
result<void> replica::impl::check_rows(const minibatch& batch) const {
  if (layout.decoder.has_value() != (batch.rows != nullptr))
    return fail(ec::internal, "a batch {} rows of edges, and the model {} them",
                batch.rows ? "has" : "has no",
                layout.decoder ? "learns" : "does not learn");
  return layout.decoder
           ? check_link_rows(*batch.rows, layout.decoder->ends,
                             batch.data.graph,
                             layout.outcomes == outcome_form::ranks)
           : ok();
}

/// Packed rows may come from another daemon, and columns say where to write.
result<void> replica::impl::check_packed(const minibatch& batch,
                                         std::size_t type) const {
  const auto& form = layout.feature_rows[type];
  if (!form.packed())
    return ok();
  const auto values = batch.data.features[type].span();
  for (std::size_t at = 0; at < values.size(); at += form.floats())
    if (!is_sound(values.data() + at, form))
      return fail(ec::invalid_data,
                  "the packed features of row {} of node type {} of a batch "
                  "are broken",
                  at / form.floats(), type);
  return ok();
}

result<void> replica::impl::check_transposed(const minibatch& batch,
                                             int layer) const {
  for (std::size_t r = 0; r < layout.relations.size(); ++r) {
    const auto source = layout.relations[r].source;
    if (!layout.carries(layer, r)
        || !(layout.needs_gradient(layer, source)
             || layout.traits.needs_transposed()
             || (layer == 0 && layout.multiplies_packed(source))))
      continue;
    const auto rows = batch.data.graph.nodes[source].found[layout.hops - layer];
    const auto& back = batch.relations[r].transposed;
    if (back.size() <= static_cast<std::size_t>(layer)
        || back[layer].indptr.size() != static_cast<std::size_t>(rows) + 1
        || !has_weights_of(back[layer], batch.relations[r].forward))
      return fail(ec::internal,
                  "a batch lacks the transposed edges of relation {} for layer "
                  "{}",
                  layout.relations[r].name, layer + 1);
  }
  return ok();
}

/// Between two steps all memory of the pool is free and kept for the next one.
/// If that is more than one and a half times what the last step has used at
/// once, much of it stems from larger batches, and a new pool lets go of it.
void replica::impl::forget_unused_memory() {
  if (pool->kept_bytes() > pool->peak_bytes() / 2 * 3)
    pool = buffer_pool::make(pool_limit);
  pool->reset_peak();
}

std::unique_ptr<model_step> replica::impl::begin_step(const minibatch& batch,
                                                      bool training,
                                                      std::uint64_t key) {
  forget_unused_memory();
  const auto seeds = static_cast<double>(batch.global_seeds);
  const auto statistic =
    training ? static_cast<float>(
      weight_of(batch.data.labels.span(), layout.class_weights) / seeds)
             : 0.0f;
  if (device == "cpu")
    return std::make_unique<fused_model>(
      layout, parameters, batch,
      fused_model::options{.team = &team,
                           .training = training,
                           .key = key,
                           .pool = pool,
                           .statistic = statistic});
  return begin_on_device(layout, parameters, batch,
                         {.device = device,
                          .training = training,
                          .key = key,
                          .statistic = statistic});
}

/// A fault: each step of training begins later by this.
void replica::impl::slow_down(std::chrono::milliseconds delay) {
  begin = [delay, next = std::move(begin)](const minibatch& batch,
                                           bool training, std::uint64_t key) {
    if (training)
      std::this_thread::sleep_for(delay);
    return next(batch, training, key);
  };
}

/// Each step says at which moment of the run it begins.
void replica::impl::tell_moments() {
  begin = [next = std::move(begin)](const minibatch& batch, bool training,
                                    std::uint64_t key) {
    if (!training)
      now_at(moment::evaluation);
    else if (batch.data.key.step > 0)
      now_at(moment::mid_epoch);
    return next(batch, training, key);
  };
}

/// Gives the rows of tables that the batch reads the decay that is due.
void replica::impl::catch_up(const minibatch& batch) {
  for (std::size_t t = 0; t < layout.tables.size(); ++t)
    steps.catch_up(t, batch.data.embedding_rows[layout.tables[t].type].span(),
                   parameters);
}

void replica::impl::zero(gradient_set& out) const {
  begin_gradients(layout, 0, out);
  out.tables.clear();
  out.tables.resize(layout.tables.size());
}

replica::replica() = default;
replica::~replica() = default;

result<std::unique_ptr<replica>> replica::create(const definition& def,
                                                 const dataset_info& info) {
  return guarded("build the model", [&]() -> result<std::unique_ptr<replica>> {
    GRAPHMILL_TRYV(check_device(def.trainer.device));
    GRAPHMILL_TRY(auto layout, make_layout(def, info));
    std::unique_ptr<replica> out{new replica};
    out->impl_ = std::make_unique<impl>(std::move(layout), def,
                                        largest_activations(def, info));
    if (moments_watched())
      out->impl_->tell_moments();
    if (const auto delay = def.faults.trainer_delay_ms; delay != 0)
      out->impl_->slow_down(std::chrono::milliseconds{delay});
    return out;
  });
}

result<batch_metrics>
replica::compute_gradients(const minibatch& batch, std::uint64_t key,
                           gradient_set& out, const gradient_sink& on_final) {
  GRAPHMILL_TRYV(impl_->check(batch, true));
  return guarded("compute gradients", [&]() -> result<batch_metrics> {
    if (impl_->seeds(batch) == 0) {
      impl_->zero(out);
      return batch_metrics{};
    }
    impl_->catch_up(batch);
    const auto model = impl_->begin(batch, true, key);
    const auto logits = model->forward();
    owned_matrix gradient{logits.rows, logits.columns, impl_->pool};
    const auto metrics = losses_of(impl_->layout, batch, logits,
                                   1 / static_cast<double>(batch.global_seeds),
                                   gradient.view(), impl_->loss);
    model->backward(gradient.view(), out, on_final);
    return metrics;
  });
}

result<void> replica::apply(const gradient_set& gradients,
                            double learning_rate) {
  const auto& layout = impl_->layout;
  if (gradients.dense.size() != static_cast<std::size_t>(layout.gradient_size())
      || gradients.tables.size() != layout.tables.size())
    return fail(ec::internal,
                "gradients of {} parameters do not fit a model of {}",
                gradients.dense.size(), layout.gradient_size());
  double factor = 1;
  if (layout.statistics != 0) {
    // 0 if all seeds of the step are of classes that weigh nothing; so are the
    // gradients then.
    const double weight = gradients.dense[layout.dense_size];
    factor = weight > 0 ? 1 / weight : 0;
  }
  impl_->steps.apply(gradients, learning_rate, impl_->parameters, factor);
  return ok();
}

result<batch_metrics> replica::evaluate(const minibatch& batch,
                                        batch_output* output,
                                        seed_outcomes* outcomes) {
  GRAPHMILL_TRYV(impl_->check(batch, false));
  return guarded("evaluate", [&]() -> result<batch_metrics> {
    impl_->catch_up();
    const auto model = impl_->begin(batch, false, 0);
    const auto logits = model->forward();
    if (output != nullptr) {
      argmax(logits, output->predictions);
      output->logits.assign(logits.data, logits.data + logits.size());
      const auto rows = model->last_input();
      output->embedding_width = rows.columns;
      output->embeddings.assign(rows.data, rows.data + rows.size());
    }
    if (const auto* ranks = model->ranks()) {
      if (outcomes != nullptr)
        *outcomes = outcomes_of(*ranks, false);
      return ranks->losses;
    }
    if (outcomes != nullptr)
      *outcomes = outcomes_of(impl_->layout, batch, logits, impl_->scores);
    return losses_of(impl_->layout, batch, logits, 1, {}, {});
  });
}

std::vector<named_tensor> replica::parameters() const {
  impl_->catch_up();
  return to_tensors(impl_->layout, impl_->parameters);
}

result<void> replica::load(const std::vector<named_tensor>& tensors) {
  impl_->catch_up(); // So that no decay is due to what comes in.
  return from_tensors(impl_->layout, tensors, impl_->parameters);
}

std::int64_t replica::steps() const {
  return impl_->steps.steps();
}

std::vector<named_tensor> replica::state() const {
  const auto& layout = impl_->layout;
  auto out = parameters();
  const auto add = [&layout, &out](const parameter_store& from,
                                   std::string_view prefix) {
    auto more = to_tensors(layout, from, prefix);
    out.insert(out.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
  };
  if (impl_->moments > 0)
    add(impl_->steps.first_moments(), state_names::first);
  if (impl_->moments > 1)
    add(impl_->steps.second_moments(), state_names::second);
  if (impl_->best)
    add(*impl_->best, state_names::best);
  return out;
}

result<void> replica::restore(const std::vector<named_tensor>& state,
                              std::int64_t steps) {
  return guarded("restore the model", [&]() -> result<void> {
    const auto& layout = impl_->layout;
    auto parameters = copy_of(impl_->parameters);
    GRAPHMILL_TRYV(from_tensors(layout, state, parameters));
    auto first = copy_of(impl_->steps.first_moments());
    if (impl_->moments > 0)
      GRAPHMILL_TRYV(from_tensors(layout, state, first, state_names::first));
    auto second = copy_of(impl_->steps.second_moments());
    if (impl_->moments > 1)
      GRAPHMILL_TRYV(from_tensors(layout, state, second, state_names::second));
    std::optional<parameter_store> best;
    if (std::any_of(state.begin(), state.end(), [](const named_tensor& one) {
          return one.name.starts_with(state_names::best);
        })) {
      best = copy_of(parameters);
      GRAPHMILL_TRYV(from_tensors(layout, state, *best, state_names::best));
    }
    impl_->parameters = std::move(parameters);
    impl_->steps.restore(steps, std::move(first), std::move(second));
    impl_->best = std::move(best);
    return ok();
  });
}

void replica::keep_best() {
  impl_->catch_up();
  impl_->best = copy_of(impl_->parameters);
}

void replica::restore_best() {
  if (!impl_->best)
    return;
  impl_->catch_up(); // So that no decay is due to what comes in.
  impl_->parameters = copy_of(*impl_->best);
}

std::string replica::digest() const {
  impl_->catch_up();
  return digest_of(impl_->layout, impl_->parameters);
}

std::chrono::nanoseconds replica::helper_cpu() const {
  return impl_->team.helper_cpu();
}

const std::string& replica::device() const {
  return impl_->device;
}

std::int64_t replica::parameter_count() const {
  return impl_->layout.parameter_count();
}

gradient_shape replica::shape() const {
  gradient_shape out{impl_->layout.gradient_size(), {}};
  for (const auto& table : impl_->layout.tables)
    out.tables.push_back({table.rows, table.width});
  return out;
}

} // namespace graphmill
