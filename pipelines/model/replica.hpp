#pragma once

#include "messages/base/error.hpp"
#include "messages/definition/definition.hpp"
#include "messages/work/seed_outcomes.hpp"
#include "partition/dataset/dataset.hpp"
#include "pipelines/flow/batch.hpp"
#include "pipelines/flow/batch_metrics.hpp"
#include "pipelines/gradients/gradient_set.hpp"
#include "pipelines/results/named_tensor.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace graphmill {

/// A replica of the model with its optimizer: what one trainer owns. All
/// replicas of a run start equal (initialised from the run seed alone) and stay
/// equal as long as they apply the same gradients.
///
/// Not thread-safe: one caller at a time, whom `trainer.threads` - 1 helpers of
/// the replica's own assist. It owns parameters, the state of the optimizer,
/// the remembered best parameters, and memory for activations, which it keeps
/// from step to step. It borrows batches for the call only. It never talks to
/// other replicas: whoever drives it adds up gradients. What devices and
/// allocations throw in `create`, `compute_gradients` and `evaluate` is
/// returned as an error.
class replica {
public:
  /// Fails with a sentence if the device is not there, or the model does not
  /// suit the dataset.
  static result<std::unique_ptr<replica>> create(const definition& def,
                                                 const dataset_info& info);
  ~replica();

  /// Forward, loss and backward. `out` receives this rank's gradients, divided
  /// by the seeds of the whole step (`global_seeds`), and, if classes have
  /// weights, behind the dense ones what `model_layout::statistics` says. A
  /// batch without seeds gives zeros.
  /// @param key `stream_key` of purpose dropout for the step.
  /// @param on_final Called with descending offsets: dense gradients from there
  /// on will not change any more. Tables are not final before the return.
  result<batch_metrics> compute_gradients(const minibatch& batch,
                                          std::uint64_t key, gradient_set& out,
                                          const gradient_sink& on_final = {});

  /// One optimizer step with the summed gradients of all ranks.
  result<void> apply(const gradient_set& gradients, double learning_rate);

  /// Forward without gradients and without dropout.
  /// @param output Receives predictions, logits and embeddings; may be null.
  /// @param outcomes Receives what the metrics of classes are made of, with
  /// scores if the definition wants them; may be null.
  result<batch_metrics> evaluate(const minibatch& batch, batch_output* output,
                                 seed_outcomes* outcomes = nullptr);

  /// Parameters in registration order, as copies.
  std::vector<named_tensor> parameters() const;
  /// Replaces all parameters; fails on a missing name or another shape.
  result<void> load(const std::vector<named_tensor>& tensors);

  /// Training steps that it has applied, those before `restore` included.
  std::int64_t steps() const;

  /// Copies all that the next steps depend on besides `steps`: parameters by
  /// their names, the optimizer's moments as `optimizer.first.` and
  /// `optimizer.second.` with the name, and the best parameters, if any are
  /// kept, as `best.` with it.
  std::vector<named_tensor> state() const;
  /// Goes on where a replica with this state was after `steps`. Changes nothing
  /// when a name is missing or a shape differs.
  result<void> restore(const std::vector<named_tensor>& state,
                       std::int64_t steps);

  /// Remembers the present parameters as the best so far; `restore_best` goes
  /// back to them (nothing happens if none were kept).
  void keep_best();
  void restore_best();

  /// Hexadecimal digest of names, shapes and values of all parameters.
  std::string digest() const;

  const std::string& device() const;    ///< "cpu", "cuda:1".
  std::int64_t parameter_count() const; ///< Scalars, tables included.
  gradient_shape shape() const;

  /// Processor time so far of the threads that help the caller
  /// (`trainer.threads`); the caller's own has no part in it.
  std::chrono::nanoseconds helper_cpu() const;

private:
  replica();
  struct impl;
  std::unique_ptr<impl> impl_;
};

} // namespace graphmill
