#pragma once

#include "messages/definition/definition.hpp"

#include <cstddef>

namespace graphmill {

/// Processors that this process may run on: its affinity mask, at least one.
unsigned usable_processors();

/// Processors of one of `processes` that share the machine, at least one.
unsigned processors_per_process(std::size_t processes);

/// Sets `trainer.threads` if the definition leaves it open (0): divides the
/// processors among the trainers here. Threads of samplers and fetchers do not
/// count: their work is smaller, and a trainer that waits for it leaves them
/// the processors.
/// @param trainers The trainers that share the processors.
void settle_threads(definition& def, std::size_t trainers, unsigned processors);

/// For threads that work beside a run. While all processors are busy, the
/// calling thread gets a third of the time of a training thread, never
/// displaces one when it wakes up, and its disk reads come after theirs. This
/// is permanent: a user may not undo it.
void give_way_to_training();

} // namespace graphmill
