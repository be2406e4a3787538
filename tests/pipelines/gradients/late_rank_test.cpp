#include "pipelines/flow/stage_counters.hpp"
#include "pipelines/gradients/collective.hpp"
#include "pipelines/gradients/gradient_progress.hpp"
#include "pipelines/gradients/gradient_set.hpp"
#include "pipelines/gradients/group_rank.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/memory_rendezvous.hpp"
#include "tests/support/result.hpp"

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>

namespace graphmill::test {

namespace {

using namespace std::chrono_literals;

/// Connects to nobody, and does not say so.
class stuck_collective final : public collective {
public:
  explicit stuck_collective(std::shared_ptr<roll_call> roll)
    : roll_(std::move(roll)) {
    joined_->expect(rank(), true);
  }

  rank_id rank() const override { return roll_->options().rank; }
  rank_id ranks() const override { return roll_->options().ranks; }
  std::shared_ptr<operation> joined() const override { return joined_; }
  const std::shared_ptr<progress_bell>& bell() const override { return bell_; }
  std::shared_ptr<operation> exchange(std::span<const transfer>,
                                      std::span<const transfer>) override {
    return joined_;
  }
  void abandon() override {}

private:
  std::shared_ptr<roll_call> roll_;
  std::shared_ptr<progress_bell> bell_ = std::make_shared<progress_bell>();
  std::shared_ptr<operation> joined_ =
    std::make_shared<operation>(bell_, ranks());
};

std::unique_ptr<collective> stuck(std::shared_ptr<roll_call> roll,
                                  const std::string&) {
  return std::make_unique<stuck_collective>(std::move(roll));
}

/// The first step of a rank whose gradients are there.
error first_step(group_rank& rank) {
  gradient_progress done;
  done.finish({0, 0, 1});
  return error_of(rank.reduce({}, std::make_shared<gradient_set>(), done));
}

} // namespace

CATCH_TEST_CASE("ranks are told when one is late to join", "[gradients]") {
  const auto store = std::make_shared<memory_rendezvous>();
  const auto counters = std::make_shared<stage_counters>("group", 1);
  group_options options{
    .run = "test", .rank = 0, .ranks = 2, .names = {"left", "right"}};
  group_rank patient{options, {}, store, stuck, counters};
  options.rank = 1;
  options.join_timeout = 20ms;
  options.connect_timeout = 20ms;
  options.devices_timeout = 20ms;
  group_rank late{options, {}, store, stuck, counters};
  error told;
  std::thread waiting{[&] { told = first_step(patient); }};
  const auto reason = first_step(late);
  waiting.join();
  CATCH_CHECK(reason.code == ec::timeout);
  CATCH_CHECK(reason.message
              == "rank 1 (right) of the gradient group of 2 (generation 0) has "
                 "not connected within 0.1 s");
  // It would have waited for minutes.
  CATCH_CHECK(told.code == ec::unavailable);
  CATCH_CHECK(told.message
              == "rank 1 (right) is missing from the gradient group of 2 "
                 "(generation 0) in step 0: rank 1 (right) has given up");
}

} // namespace graphmill::test
