#include "pipelines/gradients/device_collective.hpp"

#include "pipelines/gradients/bulk_lane.hpp"

#include <thread>
#include <utility>

namespace graphmill {

namespace {

class device_collective final : public collective {
public:
  device_collective(std::unique_ptr<collective> group, bulk_route route,
                    std::shared_ptr<parking> lot)
    : lane_(std::make_shared<bulk_lane>(std::move(route), *group)),
      lot_(std::move(lot)), group_(std::move(group)),
      thread_([of = lane_] { of->run(); }) {}

  ~device_collective() override {
    abandon();
    lane_->let_go();
    lot_->keep(std::move(thread_), [of = lane_] { return of->ended(); });
  }

  rank_id rank() const override { return group_->rank(); }
  rank_id ranks() const override { return group_->ranks(); }
  std::shared_ptr<operation> joined() const override { return lane_->joined(); }
  const std::shared_ptr<progress_bell>& bell() const override {
    return group_->bell();
  }
  std::shared_ptr<operation> exchange(std::span<const transfer> out,
                                      std::span<const transfer> in) override {
    return group_->exchange(out, in);
  }
  std::shared_ptr<operation>
  exchange_bulk(std::span<const transfer> out,
                std::span<const transfer> in) override {
    return lane_->carries() ? lane_->post(out, in) : group_->exchange(out, in);
  }
  bool has_bulk_way() const override { return lane_->carries(); }
  void abandon() override {
    lane_->abandon();
    group_->abandon();
  }

private:
  std::shared_ptr<bulk_lane> lane_; ///< The group writes to its memory.
  std::shared_ptr<parking> lot_;
  std::unique_ptr<collective> group_;
  std::thread thread_;
};

} // namespace

std::unique_ptr<collective> join_by_devices(std::unique_ptr<collective> group,
                                            bulk_route route,
                                            std::shared_ptr<parking> lot) {
  return std::make_unique<device_collective>(std::move(group), std::move(route),
                                             std::move(lot));
}

} // namespace graphmill
