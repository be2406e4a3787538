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

/// The moving average of a validation metric, now and at its best. Zero where
/// nothing is averaged.
struct score_averages {
  double now = 0;
  double best = 0;

  friend bool operator==(const score_averages&,
                         const score_averages&) = default;
};

/// Follows a validation metric (larger is better): whether an epoch is the best
/// so far, and whether there has been no gain for too long. A tie is no gain;
/// NaN never is. With a window above 1, a gain is one of the moving average
///
///   a[t] = a[t - 1] + 2 / (window + 1) * (value[t] - a[t - 1])
///
/// which begins with the first value; the best epoch is still the one with the
/// best value. Value type.
class early_stopping {
public:
  /// @param patience Evaluations without gain after which to stop; 0 = never.
  /// @param window >= 1
  /// @param best, since, averages Of the reports before, if it goes on from
  /// them.
  early_stopping(std::uint32_t patience, std::uint32_t window,
                 std::optional<double> best = {}, std::uint32_t since = 0,
                 score_averages averages = {})
    : patience_(patience), window_(window), since_(since), best_(best),
      averages_(averages) {}

  /// Takes the value of an epoch. @returns true when it is the best so far, and
  /// its weights are to be kept.
  /// @param counts Whether one without a gain counts towards the end.
  bool report(double value, bool counts = true);

  bool should_stop() const { return patience_ != 0 && since_ >= patience_; }
  /// Nothing before the first report of a number.
  std::optional<double> best_value() const { return best_; }
  /// Reports since the last gain, of those that count.
  std::uint32_t since() const { return since_; }
  const score_averages& averages() const { return averages_; }

private:
  bool average_gains(double value);

  std::uint32_t patience_;
  std::uint32_t window_;
  std::uint32_t since_; ///< Reports since the last gain.
  std::optional<double> best_;
  score_averages averages_;
};

} // namespace graphmill
