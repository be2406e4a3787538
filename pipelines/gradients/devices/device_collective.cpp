#include "pipelines/gradients/devices/device_collective.hpp"

#include "pipelines/gradients/devices/bulk_exchange.hpp"

#include <thread>
#include <utility>

namespace graphmill {

namespace {

/// A group whose bulk goes by a carrier, if it came to one. The thread that
/// carries has a share of `exchange_` and may outlive this; the destructor
/// waits until it does not use `group_` any more.
class device_collective final : public collective {
public:
  device_collective(std::unique_ptr<collective> group, carrier_factory factory,
                    std::shared_ptr<orphan_threads> orphans)
    : exchange_(std::make_shared<bulk_exchange>(std::move(factory), *group)),
      orphans_(std::move(orphans)), group_(std::move(group)),
      thread_([of = exchange_] { of->run(); }) {}

  ~device_collective() override {
    abandon();
    exchange_->let_go();
    orphans_->keep(std::move(thread_),
                   [of = exchange_] { return of->ended(); });
  }

  rank_id rank() const override { return group_->rank(); }
  rank_id ranks() const override { return group_->ranks(); }
  std::shared_ptr<operation> joined() const override {
    return exchange_->joined();
  }
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
    return exchange_->carries() ? exchange_->post(out, in)
                                : group_->exchange(out, in);
  }
  bool has_bulk_way() const override { return exchange_->carries(); }
  void abandon() override {
    exchange_->abandon();
    group_->abandon();
  }

private:
  /// The group writes to its memory, so it is destroyed after the group.
  std::shared_ptr<bulk_exchange> exchange_;
  std::shared_ptr<orphan_threads> orphans_;
  std::unique_ptr<collective> group_;
  std::thread thread_;
};

} // namespace

std::unique_ptr<collective>
join_by_devices(std::unique_ptr<collective> group, carrier_factory factory,
                std::shared_ptr<orphan_threads> orphans) {
  return std::make_unique<device_collective>(
    std::move(group), std::move(factory), std::move(orphans));
}

} // namespace graphmill
