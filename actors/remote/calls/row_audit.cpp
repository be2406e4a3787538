#include "actors/remote/calls/row_audit.hpp"

#include "messages/base/random.hpp"

#include <cmath>
#include <random>

namespace graphmill {

row_audit::row_audit(double share, std::uint64_t secret)
  : below_(static_cast<std::uint64_t>(std::ceil(share * 0x1p32))),
    secret_(secret) {}

std::shared_ptr<row_audit> row_audit::make(double share) {
  std::random_device device;
  const auto secret = std::uint64_t{device()} << 32 | device();
  return std::make_shared<row_audit>(share, secret);
}

bool row_audit::picks(std::uint64_t batch, node_type_id type, gather_kind kind,
                      node_id id) const {
  // Ids are below 2^48, so there is room above them.
  const auto what = static_cast<std::uint64_t>(id)
                    ^ static_cast<std::uint64_t>(type) << 48
                    ^ static_cast<std::uint64_t>(kind) << 60;
  const auto draw = philox4x32(
    counter_of(what, static_cast<std::uint32_t>(batch),
               static_cast<std::uint32_t>(batch >> 32)),
    secret_);
  return draw[0] < below_;
}

void row_audit::sound(std::uint64_t values, std::uint64_t bytes) {
  const std::scoped_lock lock{mutex_};
  sound_.items += values;
  sound_.bytes += bytes;
}

item_count row_audit::sound() const {
  const std::scoped_lock lock{mutex_};
  return sound_;
}

void row_audit::caught(const std::string& daemon) {
  const std::scoped_lock lock{mutex_};
  liars_.insert(daemon);
}

std::vector<std::string> row_audit::liars() const {
  const std::scoped_lock lock{mutex_};
  return {liars_.begin(), liars_.end()};
}

} // namespace graphmill
