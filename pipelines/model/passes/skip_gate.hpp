#pragma once

#include "messages/base/buffer.hpp"
#include "pipelines/kernels/matrix.hpp"
#include "pipelines/model/passes/layer_input.hpp"

#include <cstdint>
#include <memory>

namespace graphmill {

/// The gate by which a layer weighs what it computes for a node type against
/// the type's rows as they came in, x = s x + (1 - s) own, where s is the
/// sigmoid of a number that is learnt, and own the rows h as they are, or h W
/// where the widths differ (as the program of Hu et al., "Heterogeneous graph
/// transformer", WWW'20, has it for equal widths). Holds nothing but the share;
/// all functions may be called by several threads for different rows.
class skip_gate {
public:
  /// @param learnt The number.
  explicit skip_gate(float learnt);

  float share() const { return share_; }
  /// The slope of the share, by the number that is learnt.
  double slope() const { return double(share_) * (1 - double(share_)); }

  /// Blends rows [begin, end).
  /// @param own h; dense where widths are equal. @param weight No data: they
  /// are. @param x [end - begin, any]
  void blend(const layer_input& own, std::int64_t begin, std::int64_t end,
             const_matrix weight, matrix x,
             const std::shared_ptr<buffer_pool>& pool) const;

  /// Adds what h has of the gradient of the blended rows to `into`.
  void add_own_gradient(const_matrix gradient, const_matrix weight, matrix into,
                        const std::shared_ptr<buffer_pool>& pool) const;

private:
  float share_;
};

} // namespace graphmill
