#pragma once

#include <chrono>

/// How long the actors of a run and of a cluster wait, and how often they check
/// something. Times of connections are in `transport_options` and
/// `call_options`.
///
/// The inner wait ends before the outer one, so that its more precise error is
/// reported: a job of a service before the stage that asked for it, a stage
/// before the dispatcher, a call before the run. A user sets
/// `trainer.step_timeout` in the definition. The other limits only bound what
/// should not happen.
namespace graphmill::timeouts {

using std::chrono::milliseconds;

// -- a batch under way

/// A job of a service, from its start in a worker.
inline constexpr milliseconds service_job = std::chrono::minutes{25};
/// A gather of rows of one part to fill a cache. Each part has one at a time.
inline constexpr milliseconds gather_job = std::chrono::minutes{30};
/// A request to a service. The service ends each job in time itself, so only a
/// fault in the service makes it last longer.
inline constexpr milliseconds service = std::chrono::minutes{30};
/// A batch in a worker that waits in the lines of services: longer than those
/// lines can be.
inline constexpr milliseconds waiting_stage = std::chrono::hours{1};
/// A stage of a batch as the dispatcher sees it: up to three workers try it.
/// Trainers get `trainer.step_timeout` on top.
inline constexpr milliseconds stage = 4 * waiting_stage;
/// All ranks contribute to a step. The pipeline uses `trainer.step_timeout`
/// instead, with time for a batch on top where the group accepts gradients
/// before backward has ended.
inline constexpr milliseconds contribution = std::chrono::minutes{30};
/// The dispatcher waits from the end of a stage to that of the run.
inline constexpr milliseconds stage_farewell = std::chrono::seconds{20};
/// The log names an actor with one message, or a thread with one job, for
/// longer.
inline constexpr milliseconds work_report = std::chrono::seconds{30};
/// Health reports show such work for so long after its end.
inline constexpr milliseconds work_shown = std::chrono::minutes{1};
/// The log reports credit that the oldest batch holds for longer, with its
/// holder's name.
inline constexpr milliseconds credit_report = std::chrono::seconds{30};

// -- requests to other daemons

/// A request for data may wait in the owner's line, behind many others and over
/// a slow network, or take its service long. A lost owner is noticed long
/// before.
inline constexpr milliseconds data_request = std::chrono::minutes{28};
/// An owner of a part may be unreachable for so long before another one is
/// asked. A cut connection is restored in that time. A killed process is
/// noticed at once (`call_options::fails_if_refused`).
inline constexpr milliseconds owner_unreachable{500};
/// For a batch that another daemon samples. It is longer, because that daemon
/// may wait for data of others.
inline constexpr milliseconds batch_request = std::chrono::minutes{30};

// -- a run

/// Daemons open what they need for a run and find each other.
inline constexpr milliseconds deployment = std::chrono::minutes{5};
/// An answer of all trainers of a member: to compare, keep or send weights. A
/// trainer answers between two batches.
inline constexpr milliseconds trainers = std::chrono::minutes{45};
/// The same in a failed run, for the weights so far.
inline constexpr milliseconds rescue = std::chrono::minutes{1};
/// The end of a run, until its last checkpoint is on disk.
inline constexpr milliseconds last_checkpoint = std::chrono::minutes{1};
/// A daemon ends its share of a run without success.
inline constexpr milliseconds share_end = std::chrono::minutes{1};
/// For work that grows with the data: filling caches and verifying files. The
/// loss of a daemon ends such a wait at once, so it needs no tighter bound.
inline constexpr milliseconds unbounded = std::chrono::hours{100};
/// Trainers copy the state from which another attempt continues: they finish
/// their step, then copy at once.
inline constexpr milliseconds keep = std::chrono::seconds{20};
/// A daemon reports what it has kept, after its trainers have copied it and its
/// share has ended.
inline constexpr milliseconds kept_search = keep + std::chrono::seconds{10};
/// A piece of that state, of 16 MiB at most. Then another daemon is asked.
inline constexpr milliseconds kept_piece = std::chrono::seconds{15};
/// A daemon keeps that copy so much longer than its run may wait for it.
inline constexpr milliseconds kept_longer = std::chrono::minutes{1};
/// The next run starts so much later after a failed one, so that daemons have
/// checked their data.
inline constexpr milliseconds after_failure{2000};
/// The longest pause before the next attempt of a run whose last attempts have
/// trained nothing new.
inline constexpr milliseconds longest_pause{30'000};

// -- a cluster

/// A daemon that is told to end has so long to end a run in order: its step,
/// its weights, its files. Twice as long as the weights may take.
inline constexpr milliseconds daemon_end = 2 * rescue;
/// A daemon that ends waits so long for an unreachable coordinator.
inline constexpr milliseconds unheard{1000};
/// A client that uploads a checkpoint sends a piece at least so often.
inline constexpr milliseconds upload_piece = std::chrono::minutes{1};
/// A short request between coordinator and daemon, and how long the other end
/// may be unreachable.
inline constexpr milliseconds question{5000};
inline constexpr milliseconds question_unreachable{2000};
/// The request whether a daemon still has its share; without the share the run
/// ends. A slow daemon has not lost it.
inline constexpr milliseconds share_check = std::chrono::minutes{1};
/// The request whether a daemon is still there whose name another one wants.
inline constexpr milliseconds rival{1500};
inline constexpr milliseconds rival_unreachable{1000};
/// The coordinator connects to a daemon that wants to join, at the address that
/// it gave. Together with `rival` it fits into the daemon's own wait.
inline constexpr milliseconds reach{3000};
/// A daemon that was refused, or got no answer, asks again.
inline constexpr milliseconds ask_again{500};
/// Events of a run that were not accepted are sent again.
inline constexpr milliseconds tell_again{500};
/// The coordinator may hold a request for a key of a rendezvous so long.
inline constexpr milliseconds rendezvous_wait{2000};
inline constexpr milliseconds longest_rendezvous_wait{10'000};
/// The answer to it, from a busy coordinator.
inline constexpr milliseconds rendezvous_answer{30'000};
/// A watcher of runs waits so long for news; then it asks again.
inline constexpr milliseconds longest_watch{10'000};
/// A run of a former coordinator waits so long for its daemons to register with
/// the next one.
inline constexpr milliseconds daemons_return{5000};
/// A run with a range of trainers waits so long for a lost trainer or a
/// replacement; then it continues with fewer.
inline constexpr milliseconds trainer_returns{5000};
/// The history is written again after a failure.
inline constexpr milliseconds write_again{1000};

// -- how often something is checked

/// The work of actors and threads.
inline constexpr milliseconds work_look{1000};
/// Memory: often enough for a peak that lasts a step.
inline constexpr milliseconds memory_look{50};
/// The files of the data. A check costs a stat(2) for each.
inline constexpr milliseconds data_look{2000};
/// The members file of a cluster with roles.
inline constexpr milliseconds members_look{1000};
/// A daemon reports its health, and that of its share of each run.
inline constexpr milliseconds health_report{1000};
/// A daemon of a run without a report for longer is silent.
inline constexpr milliseconds health_silence{5000};
/// Coordinator and agent publish their figures for HTTP. The coordinator checks
/// the disk with the runs.
inline constexpr milliseconds figures{1000};
inline constexpr milliseconds disk_look{10'000};
/// Of checkpoints within this time, the first is an event.
inline constexpr milliseconds checkpoints_told{10'000};
/// A process without new figures for longer counts as stuck.
inline constexpr milliseconds figures_silence{10'000};
/// Waiting requests at the coordinator.
inline constexpr milliseconds question_look{100};
/// A check that comes so much later than planned means that the process was
/// stopped, or its actor busy. Others get as much more time for what they owe
/// it.
inline constexpr milliseconds late_look{2000};
/// A coordinator with runs writes a sign of life. If it dies and no other
/// continues its run, the last one tells when the run ended. Each coordinator
/// also checks whether it still has its lock.
inline constexpr milliseconds life_sign{1000};
/// Watchers get progress.
inline constexpr milliseconds progress{100};
/// A stand-in checks whether the lock of the folder of runs is free.
inline constexpr milliseconds lock_look{250};
/// Signals, at least.
inline constexpr milliseconds signal_look{500};

} // namespace graphmill::timeouts
