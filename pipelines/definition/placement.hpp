#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "messages/definition/definition.hpp"
#include "messages/wire/run.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace graphmill {

/// A daemon that a run may use, and what it has to give. Value type.
struct daemon_offer {
  std::string name;
  std::string address;
  std::vector<part_id> parts;     ///< The parts that it serves.
  std::uint32_t slots = 1;        ///< How many trainers it takes.
  std::uint32_t cuda_devices = 0; ///< How many its trainers can compute on.
  /// What it computes with, by name and by digest (see `arithmetic_here`).
  std::string arithmetic;
  std::string arithmetic_digest;
};

/// Who does what in a run. Positions are those of `daemons`, which lists just
/// the daemons that have something to do, by name.
struct placement {
  std::vector<daemon_address> daemons;
  /// [parts] The first owner of each, by which trainers are placed.
  std::vector<std::uint16_t> owner_of_part;
  /// [parts] Who serves it, too.
  std::vector<part_replicas> replicas_of_part;
  std::vector<std::uint16_t> daemon_of_rank; ///< [ranks]
  /// Those that sample for all ranks, in the order in which batches are dealt
  /// to them; empty if each rank's daemon samples for itself.
  std::vector<std::uint16_t> samplers;

  /// All that serve a part, its first owner first.
  std::vector<std::uint16_t> owners_of(part_id part) const;

  /// The parts that a daemon serves, and the ranks that it has, ascending.
  std::vector<part_id> parts_of(std::uint16_t daemon) const;
  std::vector<rank_id> ranks_of(std::uint16_t daemon) const;

  /// Whether a run can go on without a daemon: it has no trainer, it is no
  /// sampler, and each part that it serves has another owner.
  /// @param gone Owners that do not count any more.
  bool can_spare(std::uint16_t daemon,
                 std::span<const std::uint16_t> gone) const;
};

/// Places a run. Every part goes to a daemon that serves it, to the one with
/// the fewest parts if there are several; then, up to `placement.owners`, to
/// others, again to those with the fewest. Ranks go round and round the daemons
/// of `placement.trainers` that have a slot left. Without that list, rank r
/// goes to the daemon that owns most of the parts whose seeds it takes (p %
/// ranks == r; see epoch_plan), as far as daemons have slots, else to one that
/// is no sampler, with most of them free. Either way daemons without the device
/// that `trainer.device` names have no slots. Results of a run do not depend on
/// any of this. Of a range of trainers, as many are placed as can be; of
/// `trainer.sizes`, as many as there are at the most; daemons that are not
/// there may then be named in `placement.trainers`. Where `placement.daemons`
/// names some, all others count as not offered. A pure function of its
/// arguments, offers in any order. Fails with a sentence if a part is served by
/// nobody, if `placement` names a daemon that is not offered, if there are
/// fewer slots than trainers, or if trainers on CPUs would not all have the
/// same arithmetic.
result<placement> place(const definition& def, part_id parts,
                        std::span<const daemon_offer> offers);

} // namespace graphmill
