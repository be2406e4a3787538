#pragma once

#include "pipelines/flow/batch_metrics.hpp"
#include "pipelines/gradients/collective.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

namespace graphmill {

/// How far backward is with a rank's gradients of one step, so that what is
/// final can be exchanged while the rest is computed. One thread reports,
/// another one reads; values that have been reported as final may be read
/// without a lock, for they are not written to any more.
///
/// States: nothing is final; dense gradients are final from an offset on, which
/// falls; all is final (`finish`). `fail` may take the place of any report, and
/// is the last one then.
class gradient_progress {
public:
  /// Dense gradients from `offset` on are final; offsets descend. The first
  /// report comes when the dense gradient has its size.
  void final_from(std::int64_t offset);
  /// All is final, tables too.
  /// @param of Of the seeds that the gradients are of.
  void finish(const batch_metrics& of);
  /// There will be no gradients.
  void fail();

  /// From where on dense gradients are final; nothing before the first report.
  std::optional<std::int64_t> offset() const;
  /// The metrics of `finish`, after it.
  std::optional<batch_metrics> finished() const;
  bool failed() const;

  /// Rings at each report from now on.
  void wake(std::shared_ptr<progress_bell> bell);

private:
  template <class F>
  void report(const F& change);

  mutable std::mutex mutex_;
  std::optional<std::int64_t> offset_;
  std::optional<batch_metrics> metrics_;
  bool failed_ = false;
  std::shared_ptr<progress_bell> bell_;
};

} // namespace graphmill
