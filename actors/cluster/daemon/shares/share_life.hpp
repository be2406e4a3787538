#pragma once

#include "messages/base/error.hpp"

#include <cstdint>
#include <optional>

namespace graphmill {

/// The life of a daemon's share of a run, from its deployment until the daemon
/// forgets it: what becomes of its MEMBER, and of the verification of the data
/// that it has mapped, which runs at the same time.
///
///     preparing ---> hosted ------> ending ---> verifying ---> over
///      |  |            |              |            ^            ^
///      |  |            '--> broken ---+------------'            |
///      |  |                           '-------------------------|
///      |  '--> abandoned ---------------------------------------|
///      '--------------------------------------------------------'
///
/// A share is verified only if the run is a success (`finishing`) and its data
/// are not known to be sound, or damaged, by then. Both are noted beside the
/// state. A share that is broken waits for the coordinator, which is told why,
/// to end it.
///
/// `share_host` calls it from the AGENT's handlers, one member function per
/// event, and carries out the task that it gets back. An event that comes too
/// late or twice gives `task::none`. It knows neither actors nor files. A share
/// that is over stays so: a run that is deployed again is another object.
class share_life {
public:
  enum class state : std::uint8_t {
    preparing, ///< Files are opened, models are built.
    abandoned, ///< The same, but it is to end as soon as that is done.
    hosted,    ///< Its MEMBER is there, and takes requests.
    broken,    ///< Its MEMBER has ended unasked.
    ending,    ///< Its MEMBER was told to end.
    verifying, ///< Its MEMBER is gone; the end of the verification is awaited.
    over,
  };

  /// What the caller is to do now.
  enum class task : std::uint8_t {
    none,
    verify,      ///< Its MEMBER is there: verify its data, call `verified`.
    report,      ///< Tell the coordinator that its MEMBER has ended.
    report_data, ///< Tell it that the data are damaged.
    stop,        ///< Stop its MEMBER; call `member_gone` when it has ended.
    hurry,       ///< Only the verification is left: let it go faster.
    forget,      ///< Answer all who wait for its end.
    refuse,      ///< Answer the order: its data will not be verified.
  };

  // -- its way

  /// Its preparation is over. @param well Its MEMBER has been spawned.
  task prepared(bool well);

  /// Its MEMBER has ended.
  task member_gone();

  /// Its data were verified.
  task verified(result<void> sound);

  // -- requests

  /// The coordinator orders it to end. @param finishing The run has succeeded,
  /// if its data are sound. Once it was to end without that, orders to finish
  /// are refused; all others that come late or again change nothing.
  task end(bool finishing);

  // -- where it stands

  state now() const { return now_; }

  /// Whether it was told to end.
  bool is_over() const {
    return now_ == state::abandoned || now_ >= state::ending;
  }
  bool finishing() const { return finishing_; }

  /// Whether its data are sound, once that is known.
  const std::optional<result<void>>& sound() const { return sound_; }

private:
  task enter(state next, task todo);
  task verify_or_forget();

  state now_ = state::preparing;
  bool finishing_ = false;
  std::optional<result<void>> sound_;
};

} // namespace graphmill
