#include "pipelines/gradients/gradient_progress.hpp"

#include <utility>

namespace graphmill {

template <class F>
void gradient_progress::report(const F& change) {
  std::shared_ptr<progress_bell> bell;
  {
    std::lock_guard lock{mutex_};
    change();
    bell = bell_;
  }
  if (bell)
    bell->ring();
}

void gradient_progress::final_from(std::int64_t offset) {
  report([this, offset] { offset_ = offset; });
}

void gradient_progress::finish(const batch_metrics& of) {
  report([this, &of] {
    offset_ = 0;
    metrics_ = of;
  });
}

void gradient_progress::fail() {
  report([this] { failed_ = true; });
}

std::optional<std::int64_t> gradient_progress::offset() const {
  std::lock_guard lock{mutex_};
  return offset_;
}

std::optional<batch_metrics> gradient_progress::finished() const {
  std::lock_guard lock{mutex_};
  return metrics_;
}

bool gradient_progress::failed() const {
  std::lock_guard lock{mutex_};
  return failed_;
}

void gradient_progress::wake(std::shared_ptr<progress_bell> bell) {
  std::lock_guard lock{mutex_};
  bell_ = std::move(bell);
}

} // namespace graphmill
