#include "tests/actors/remote/by_transport.hpp"

#include "actors/transport/sockets/connections/keys.hpp"
#include "pipelines/gradients/messages/message_collective.hpp"
#include "tests/actors/remote/rank_daemons.hpp"
#include "tests/pipelines/gradients/ranks.hpp"

#include <map>
#include <mutex>
#include <utility>

namespace graphmill::test {

namespace {

bool keys_wanted = false;

std::shared_ptr<rank_daemons> make_daemons(std::size_t count) {
  if (!keys_wanted)
    return std::make_shared<rank_daemons>(count);
  const auto keys = make_keys().value();
  return std::make_shared<rank_daemons>(
    count,
    [&keys](std::size_t, transport_options& options) { options.keys = keys; });
}

/// The daemons of the ranks that share a store, while any of them is there.
std::shared_ptr<rank_daemons> daemons_of(const rendezvous_store* store,
                                         rank_id ranks) {
  using key = std::pair<const rendezvous_store*, rank_id>;
  static std::mutex mutex;
  static std::map<key, std::weak_ptr<rank_daemons>> known;
  std::lock_guard lock{mutex};
  auto& place = known[{store, ranks}];
  auto out = place.lock();
  if (!out)
    place = out = make_daemons(static_cast<std::size_t>(ranks));
  return out;
}

/// Keeps the daemons as long as the rank is there.
class rank_with_daemons final : public collective {
public:
  rank_with_daemons(std::shared_ptr<rank_daemons> daemons,
                    std::unique_ptr<collective> rank)
    : daemons_(std::move(daemons)), rank_(std::move(rank)) {}

  rank_id rank() const override { return rank_->rank(); }
  rank_id ranks() const override { return rank_->ranks(); }
  std::shared_ptr<operation> joined() const override { return rank_->joined(); }
  std::shared_ptr<operation> exchange(std::span<const transfer> out,
                                      std::span<const transfer> in) override {
    return rank_->exchange(out, in);
  }
  const std::shared_ptr<progress_bell>& bell() const override {
    return rank_->bell();
  }
  void abandon() override { rank_->abandon(); }

private:
  std::shared_ptr<rank_daemons> daemons_;
  std::unique_ptr<collective> rank_;
};

} // namespace

void use_keys(bool on) {
  keys_wanted = on;
}

group_rank::connector connector_of(std::shared_ptr<rendezvous_store> store,
                                   std::shared_ptr<orphan_threads> orphans) {
  return [store, orphans](
           auto roll,
           const std::string& fingerprint) -> std::unique_ptr<collective> {
    auto daemons = daemons_of(store.get(), roll->options().ranks);
    auto link = daemons->link(roll->options());
    return std::make_unique<rank_with_daemons>(
      std::move(daemons),
      join_by_messages(std::move(roll), fingerprint, std::move(link), orphans));
  };
}

} // namespace graphmill::test
