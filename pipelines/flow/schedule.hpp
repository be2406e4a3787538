#pragma once

#include "messages/definition/definition.hpp"

#include <cstdint>
#include <optional>

namespace graphmill {

/// The learning rate of an epoch (from 0) of a run of `epochs`.
///
/// During the first `warmup_epochs` w it climbs in equal steps, epoch e taking
/// (e + 1) / (w + 1) of the rate; from then on, with t = e - w:
///   constant  the rate
///   cosine    rate * (1 + cos(pi * t / (epochs - w))) / 2
///             (Loshchilov and Hutter, SGDR, ICLR'17, without restarts)
///   step      rate * step_factor ^ floor(t / step_epochs)
double learning_rate_of(const definition::optimizer_section& optimizer,
                        std::uint32_t epoch, std::uint32_t epochs);

/// Follows a validation metric (larger is better): whether an epoch is the best
/// so far, and whether there has been no gain for too long. A tie is no gain;
/// NaN never is. Value type.
class early_stopping {
public:
  /// @param patience Evaluations without gain after which to stop; 0 = never.
  /// @param best, since Of the reports before, if it goes on from them.
  explicit early_stopping(std::uint32_t patience,
                          std::optional<double> best = {},
                          std::uint32_t since = 0)
    : patience_(patience), since_(since), best_(best) {}

  /// Takes the value of an epoch. @returns true when it is the best so far, and
  /// its weights are to be kept.
  /// @param counts Whether one without a gain counts towards the end.
  bool report(double value, bool counts = true);

  bool should_stop() const { return patience_ != 0 && since_ >= patience_; }
  /// Nothing before the first report of a number.
  std::optional<double> best_value() const { return best_; }
  /// Reports since the best one, of those that count.
  std::uint32_t since() const { return since_; }

private:
  std::uint32_t patience_;
  std::uint32_t since_ = 0; ///< Reports since the best one.
  std::optional<double> best_;
};

} // namespace graphmill
