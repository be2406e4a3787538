#pragma once

#include "messages/wire/health.hpp"

namespace graphmill {

/// What limits a run, and what to change, from where its actors wait.
///
/// It begins at the trainers. If they hardly wait, they are the limit. If they
/// wait for each other, whoever waits least is the cause. If they starve, the
/// batches of their daemon are where the time goes (Little's law: a stage holds
/// as many batches as it takes of their time): the stage that holds most of
/// them is the cause, or, if it waits itself, the slowest of those that it
/// asks; a proxy is slow because of the other end or because of the way there,
/// and the other end says which. If no stage holds most of them, there are too
/// few under way: credit is the cause, if its limit was ever reached. Time in
/// which a daemon had no batches to make is nobody's fault.
///
/// Pure: looks at the daemons, at `silent`, and at nothing else.
verdict verdict_of(const run_health& run);

/// Whether anybody has told of a batch that was trained.
bool tells_of_training(const run_health& run);

} // namespace graphmill
