#pragma once

#include "messages/base/error.hpp"
#include "pipelines/gradients/collective.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>

namespace graphmill {

/// Carries exchanges between all ranks of a group beside the messages that the
/// group sends: through memory of the devices that they compute on. One caller
/// at a time. After a failure of any call it is only to be destroyed.
class bulk_carrier {
public:
  /// Ends what is under way. It may take as long as the library does, so it is
  /// to be called where nobody waits for it.
  virtual ~bulk_carrier() = default;

  /// Starts an exchange. All ranks start the same ones in the same order, and
  /// expect just what they are sent. The memory must stay until it has landed,
  /// or until the carrier is gone.
  virtual result<void> start(std::span<const transfer> out,
                             std::span<const transfer> in) = 0;

  /// Whether the oldest exchange under way has come, of which there must be
  /// one; if so, its memory is filled, and the next one is the oldest. Does not
  /// wait for peers.
  virtual result<bool> landed() = 0;
};

/// How a rank gets a carrier.
struct carrier_factory {
  using device_id = std::array<std::byte, 16>;
  using connector = std::function<result<std::unique_ptr<bulk_carrier>>(
    const std::atomic<bool>& stop)>;

  /// Tells the devices of all machines apart. All zero: there is none.
  device_id device{};
  /// Connects with all ranks, which do the same at this time. Looks at `stop`
  /// where the library allows it.
  connector connect;
  /// How long a failure of the carrier is kept back, so that the group's
  /// messages can say whose it is: the carrier cannot.
  std::chrono::milliseconds grace{500};
};

} // namespace graphmill
