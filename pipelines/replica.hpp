#pragma once

#include "messages/buffer.hpp"
#include "messages/definition.hpp"
#include "messages/error.hpp"
#include "partition/dataset.hpp"
#include "pipelines/batch.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// One rank's gradients of one step: the sum over its seeds of the loss
/// gradients, divided by the seeds of the whole step. Adding up all ranks gives
/// the exact average, whatever the split.
struct gradient_set {
  pod_vector<float> dense; ///< All dense parameters, in registration order.
  /// One per embedding table: touched rows, ascending, and their gradients.
  struct sparse {
    pod_vector<node_id> rows;
    pod_vector<float> values; ///< [rows, width]
  };
  std::vector<sparse> tables;
};

/// The sizes of a model's gradients, the same on every rank.
struct gradient_shape {
  struct table {
    std::int64_t rows = 0;
    std::int64_t width = 0;
  };
  std::int64_t dense = 0; ///< Floats.
  std::vector<table> tables;
};

/// `into` += `from`. Rows of tables are merged, ascending.
void add(gradient_set& into, const gradient_set& from);

/// Is told from which offset on dense gradients are final.
using gradient_sink = std::function<void(std::int64_t offset)>;

/// Sums and counts of a step or of an evaluation; add them, divide at the end.
struct batch_metrics {
  double loss_sum = 0; ///< Sum of per-seed losses.
  std::int64_t correct = 0;
  std::int64_t seeds = 0; ///< Labelled seeds.

  batch_metrics& operator+=(const batch_metrics& other);
  double loss() const { return seeds == 0 ? 0 : loss_sum / double(seeds); }
  double accuracy() const {
    return seeds == 0 ? 0 : double(correct) / double(seeds);
  }
};

/// What inference gives per seed, in seed order.
struct batch_output {
  std::vector<std::int64_t> predictions; ///< [seeds] class
  std::vector<float> embeddings;         ///< [seeds, embedding_width]
  std::int64_t embedding_width = 0;      ///< Input width of the last layer.
};

/// A named parameter (or optimizer state) as plain memory, for files.
struct named_tensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<float> values;
};

/// What of a batch the model of a definition reads, so that earlier stages
/// bring just that.
struct batch_needs {
  bool merged_relations =
    true; ///< One relation in all; else one per edge type.
  bool degrees = false;
  bool input_gradient = false; ///< Layer 1 needs a transposed CSR, too.
};
batch_needs needs_of(const definition& def, const dataset_info& info);

/// A replica of the model with its optimizer: what one trainer owns. All
/// replicas of a run start equal (initialised from the run seed alone) and stay
/// equal as long as they apply the same gradients. Not thread-safe: one caller
/// at a time. Exceptions of libtorch are caught inside and returned as errors.
class replica {
public:
  static result<std::unique_ptr<replica>> create(const definition& def,
                                                 const dataset_info& info);
  ~replica();

  /// Forward, loss and backward. `out` receives this rank's gradients. A batch
  /// without seeds gives zeros.
  /// @param key `stream_key` of purpose dropout for the step.
  /// @param on_final Called with descending offsets: dense gradients from there
  /// on will not change any more. Tables are not final before the return.
  result<batch_metrics> compute_gradients(const minibatch& batch,
                                          std::uint64_t key, gradient_set& out,
                                          const gradient_sink& on_final = {});

  /// One optimizer step with the summed gradients of all ranks.
  result<void> apply(const gradient_set& gradients, double learning_rate);

  /// Forward without gradients. `output` may be null.
  result<batch_metrics> evaluate(const minibatch& batch, batch_output* output);

  /// Parameters in registration order, as copies.
  std::vector<named_tensor> parameters() const;
  /// Replaces all parameters; fails on a missing name or another shape.
  result<void> load(const std::vector<named_tensor>& tensors);

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

/// Bytes of parameters and optimizer state, and of the activations of the
/// largest batch `bound` allows. Estimates for `plan` and the memory bound.
struct memory_estimate {
  std::uint64_t parameters = 0;
  std::uint64_t activations = 0;
};
memory_estimate estimate_memory(const definition& def, const dataset_info& info,
                                const subgraph_bound& bound);

/// Keeps libtorch's operations and the BLAS on the thread that calls them: a
/// replica on the CPU brings `trainer.threads` threads of its own, with results
/// that do not depend on their number, and computes nothing with other ones.
/// Call it once per process, before the first step.
void keep_libraries_single_threaded();

/// CUDA devices that replicas in this process can compute on.
std::uint32_t cuda_devices();

/// The device for the `nth` of this process's replicas: `device`, a
/// definition's `trainer.device`, but "cuda" stands for all of `count` CUDA
/// devices, which are dealt out in turn.
std::string device_of(const std::string& device, std::size_t nth,
                      std::uint32_t count);

} // namespace graphmill
