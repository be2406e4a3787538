#pragma once

#include "messages/base/buffer.hpp"
#include "pipelines/flow/batch.hpp"
#include "pipelines/kernels/matrix.hpp"
#include "pipelines/kernels/thread_team.hpp"
#include "pipelines/model/passes/layer_input.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace graphmill {

/// What the edges of one relation bring to one layer in one step: a term of the
/// layer's output, and the gradients that flow back along them. Forward asks
/// for every row once; then, in a step of training, come one `backward` and all
/// rows of the input's gradient. `add_output` and `add_input_gradient` may be
/// called by several threads for different rows; `backward` uses the team
/// itself and is called by its owner. All of them may throw std::bad_alloc.
class message_pass {
public:
  /// What every kind of pass works on. All but the pool is borrowed for the
  /// step.
  struct setting {
    const csr* forward = nullptr;
    const csr* transposed = nullptr; ///< Null: there is no backward.
    std::int64_t rows = 0;           ///< Destinations of this layer.
    layer_input input;               ///< h of the source type.
    const_matrix weight;
    thread_team* team = nullptr;
    std::shared_ptr<buffer_pool> pool;
  };

  virtual ~message_pass() = default;

  /// y = beta y + rows [begin, end) of the term; beta is 0 or 1. Each row is
  /// to be asked for once, for what backward needs is made on the way;
  /// different rows may be asked for at once.
  virtual void add_output(std::int64_t begin, std::int64_t end, float beta,
                          matrix y) = 0;

  /// Where the gradients of the relation's own parameters are added.
  struct targets {
    matrix weight;
    float* epsilon = nullptr;
    matrix pool_weight;
    float* pool_bias = nullptr;
    float* attention_source = nullptr;
    float* attention_destination = nullptr;
    matrix destination_scores;
    matrix attention_weight = {};
    std::vector<float*> factors = {}; ///< [bases] of each relation of a pass.
    matrix edge_weight = {};
    float* edge_bias = nullptr;
    float* edge_scores = nullptr;
    /// Of the last columns that edges bring, which are learnt: [edges, these
    /// columns]; of an `edge_sum_pass` [rows, these columns]. No columns: none
    /// is learnt.
    matrix edge_columns = {};
  };

  /// Adds the gradients of the parameters. With `input_gradient`, prepares for
  /// `add_input_gradient`. @param gradient Of y, all rows; must stay.
  virtual void backward(const_matrix gradient, bool input_gradient,
                        const targets& into) = 0;

  /// Adds rows [begin, end) of the gradient of the layer's input to `x` (the
  /// same rows), of which those below `filled` hold something so far;
  /// afterwards all do. Different rows may be asked for at once.
  virtual void add_input_gradient(std::int64_t begin, std::int64_t end,
                                  std::int64_t filled, matrix x) = 0;

  /// The same for the rows of the destinations as such, where the pass reads
  /// them: adds rows [begin, end) to `x`, which holds something already.
  virtual void add_destination_gradient(std::int64_t begin, std::int64_t end,
                                        matrix x) {
    static_cast<void>(begin);
    static_cast<void>(end);
    static_cast<void>(x);
  }
};

} // namespace graphmill
