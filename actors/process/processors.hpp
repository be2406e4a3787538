#pragma once

#include "messages/definition/definition.hpp"

#include <cstddef>

namespace graphmill {

/// Processors that this process may run on: its affinity mask, at least one.
unsigned usable_processors();

/// Those of one of `processes` that share the machine, at least one.
unsigned processors_per_process(std::size_t processes);

/// Gives `trainer.threads` its number where the definition leaves it open (0):
/// the processors, dealt out to the trainers that are here. The threads of
/// samplers and fetchers do not count: theirs is the smaller work, and a
/// trainer that waits for it leaves them the processors.
/// @param trainers Those that share the processors.
void settle_threads(definition& def, std::size_t trainers, unsigned processors);

/// For threads that work beside a run: while all processors are busy, the
/// calling thread has a third of what each thread of training has, takes the
/// place of none as soon as it has something to do, and its turn at the disk
/// comes after theirs. For good: a user may not take it back.
void give_way_to_training();

} // namespace graphmill
