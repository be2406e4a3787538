#pragma once

#include <chrono>

/// How long the actors of a run and of a cluster wait, and how often they look.
/// All of it is here but what belongs to a connection, which is in
/// `transport_options` and `call_options`.
///
/// What stands further in gives up first, so that its words are heard: a job of
/// a service before the stage that asked for it, a stage before the dispatcher,
/// a call before the run. A user sets `trainer.step_timeout` in the definition,
/// and the patience of commands and of a daemon that joins on their command
/// lines; the rest only bounds what should not happen.
namespace graphmill::timeouts {

using std::chrono::milliseconds;

// -- a batch on its way

/// A job of a service, once a worker has taken it.
inline constexpr milliseconds service_job = std::chrono::minutes{10};
/// A gather of the rows of one part for a cache or another daemon, of which one
/// is begun at a time.
inline constexpr milliseconds gather_job = std::chrono::minutes{5};
/// A request to a service, which ends each job itself: only a fault in there
/// makes it last longer.
inline constexpr milliseconds service = std::chrono::minutes{30};
/// A batch in a worker that itself waits in the lines of services: longer than
/// those lines can be.
inline constexpr milliseconds waiting_stage = std::chrono::hours{1};
/// A stage of a batch as the dispatcher sees it: three workers may be tried.
/// Trainers get `trainer.step_timeout` on top.
inline constexpr milliseconds stage = 4 * waiting_stage;
/// For all ranks to contribute to a step, before backward has ended. From there
/// the group counts by itself, with `trainer.step_timeout`.
inline constexpr milliseconds contribution = std::chrono::minutes{30};
/// The dispatcher, from the end of a stage to that of the run.
inline constexpr milliseconds stage_farewell = std::chrono::seconds{20};
/// Credit that is held for longer is reported with its holder's name.
inline constexpr milliseconds credit_report = std::chrono::seconds{30};

// -- requests to other daemons

/// For data: they may stand in the owner's line, behind many others and over a
/// slow network. That the owner is gone is known long before.
inline constexpr milliseconds data_request = std::chrono::minutes{2};
/// For a batch that another daemon samples.
inline constexpr milliseconds batch_request = std::chrono::minutes{5};

// -- a run

/// Daemons open what they need for a run, and find each other.
inline constexpr milliseconds deployment = std::chrono::minutes{5};
/// An answer of all trainers of a member: to compare, keep or give weights.
inline constexpr milliseconds trainers = std::chrono::minutes{15};
/// The same of a run that has failed, for the weights so far.
inline constexpr milliseconds rescue = std::chrono::minutes{1};
/// A daemon ends its share of a run that was no success.
inline constexpr milliseconds share_end = std::chrono::minutes{1};
/// No bound of its own: a daemon that is lost ends the wait at once, one that
/// lives shows progress. For what takes as long as the data are large: filling
/// caches, and verifying files.
inline constexpr milliseconds unbounded = std::chrono::hours{100};
/// The next run starts that much after one that has failed, so that daemons
/// have looked at their data by then.
inline constexpr milliseconds after_failure{2000};

// -- a cluster

/// A daemon that is told to end, to end a run in order: its step, its weights,
/// its files. Twice as long as the weights may take.
inline constexpr milliseconds daemon_end = 2 * rescue;
/// A coordinator that nobody has heard for so long needs no farewell.
inline constexpr milliseconds unheard{1000};
/// A short question between coordinator and daemon, and how long the other end
/// may be out of reach meanwhile.
inline constexpr milliseconds question{5000};
inline constexpr milliseconds question_unreachable{2000};
/// Whether anybody answers under a name that another daemon asks for.
inline constexpr milliseconds rival{1500};
inline constexpr milliseconds rival_unreachable{1000};
/// A daemon that was not taken, or got no answer, asks again.
inline constexpr milliseconds ask_again{500};
/// Events of a run that were not taken are sent again.
inline constexpr milliseconds tell_again{500};
/// The coordinator may hold a question for a key of a rendezvous that long.
inline constexpr milliseconds rendezvous_wait{2000};
inline constexpr milliseconds longest_rendezvous_wait{10'000};
/// The answer to it, at a coordinator that is busy with something else.
inline constexpr milliseconds rendezvous_answer{10'000};
/// A watcher of runs waits that long for news; then it asks again.
inline constexpr milliseconds longest_watch{10'000};
/// The history is written again after a failure.
inline constexpr milliseconds write_again{1000};

// -- how often something is looked at

/// Memory: often enough for a peak that lasts a step.
inline constexpr milliseconds memory_look{50};
/// The files of the data: it costs a stat(2) for each.
inline constexpr milliseconds data_look{2000};
/// Questions that wait at the coordinator.
inline constexpr milliseconds question_look{100};
/// A coordinator with runs notes that it lives: by that the end of a run is
/// known if it dies.
inline constexpr milliseconds life_sign{1000};
/// Watchers hear of progress.
inline constexpr milliseconds progress{100};
/// Signals, at least.
inline constexpr milliseconds signal_look{500};

} // namespace graphmill::timeouts
