#pragma once

#include <chrono>

/// How long the actors of a run and of a cluster wait, and how often they look.
/// All of it is here but what belongs to a connection, which is in
/// `transport_options` and `call_options`.
///
/// Whoever is asked gives up before those who ask, so that its error, which
/// knows more, is the one that is told: a job of a service before the stage
/// that asked for it, a stage before the dispatcher, a call before the run. A
/// user sets `trainer.step_timeout` in the definition; the other limits only
/// bound what should not happen.
namespace graphmill::timeouts {

using std::chrono::milliseconds;

// -- a batch on its way

/// A job of a service, once a worker has taken it.
inline constexpr milliseconds service_job = std::chrono::minutes{25};
/// A gather of rows of one part to fill a cache. Each part has one at a time.
inline constexpr milliseconds gather_job = std::chrono::minutes{30};
/// A request to a service, which ends each job in time itself, so that only a
/// fault in the service makes it last longer.
inline constexpr milliseconds service = std::chrono::minutes{30};
/// A batch in a worker that itself waits in the lines of services: longer than
/// those lines can be.
inline constexpr milliseconds waiting_stage = std::chrono::hours{1};
/// A stage of a batch as the dispatcher sees it: three workers may be tried.
/// Trainers get `trainer.step_timeout` on top.
inline constexpr milliseconds stage = 4 * waiting_stage;
/// All ranks contribute to a step. The pipeline replaces it by
/// `trainer.step_timeout`, with time for a batch on top where the group takes
/// gradients before backward has ended.
inline constexpr milliseconds contribution = std::chrono::minutes{30};
/// The dispatcher, from the end of a stage to that of the run.
inline constexpr milliseconds stage_farewell = std::chrono::seconds{20};
/// An actor that has one message, or a thread that has one job, for longer is
/// named in the log.
inline constexpr milliseconds work_report = std::chrono::seconds{30};
/// For how long health tells of it after its end.
inline constexpr milliseconds work_shown = std::chrono::minutes{1};
/// Credit that the oldest batch holds for longer is reported with its holder's
/// name.
inline constexpr milliseconds credit_report = std::chrono::seconds{30};

// -- requests to other daemons

/// A request for data may stand in the owner's line, behind many others and
/// over a slow network, or take its service long. If the owner is gone, that is
/// known long before.
inline constexpr milliseconds data_request = std::chrono::minutes{28};
/// An owner of a part may be out of reach that long before another one is asked
/// instead: a connection that was cut is made again in that time. That a
/// process was killed is known at once (`call_options::fails_if_refused`).
inline constexpr milliseconds owner_unreachable{500};
/// For a batch that another daemon samples: longer, for it may itself wait for
/// data of others.
inline constexpr milliseconds batch_request = std::chrono::minutes{30};

// -- a run

/// Daemons open what they need for a run, and find each other.
inline constexpr milliseconds deployment = std::chrono::minutes{5};
/// An answer of all trainers of a member: to compare, keep or give weights. A
/// trainer answers between two batches.
inline constexpr milliseconds trainers = std::chrono::minutes{45};
/// The same in a run that has failed, for the weights so far.
inline constexpr milliseconds rescue = std::chrono::minutes{1};
/// The end of a run, for its last checkpoint to be on disk.
inline constexpr milliseconds last_checkpoint = std::chrono::minutes{1};
/// A daemon ends its share of a run that was no success.
inline constexpr milliseconds share_end = std::chrono::minutes{1};
/// For what takes the longer the larger the data are: filling caches, and
/// verifying files. The loss of a daemon ends such a wait at once, so it needs
/// no tighter bound.
inline constexpr milliseconds unbounded = std::chrono::hours{100};
/// Trainers copy what another attempt of their run goes on from: they are in
/// the midst of a step, and then at once.
inline constexpr milliseconds keep = std::chrono::seconds{20};
/// A daemon tells what it has kept, after it has had its trainers copy it and
/// has ended its share.
inline constexpr milliseconds kept_search = keep + std::chrono::seconds{10};
/// A piece of that, of 16 MiB at the most. Then another daemon is asked.
inline constexpr milliseconds kept_piece = std::chrono::seconds{15};
/// A daemon keeps that copy for so much longer than its run may wait for it.
inline constexpr milliseconds kept_longer = std::chrono::minutes{1};
/// The next run starts that much after one that has failed, so that daemons
/// have looked at their data by then.
inline constexpr milliseconds after_failure{2000};
/// The next attempt of a run comes so much later at the most, if the last ones
/// have trained nothing new.
inline constexpr milliseconds longest_pause{30'000};

// -- a cluster

/// A daemon that is told to end, to end a run in order: its step, its weights,
/// its files. Twice as long as the weights may take.
inline constexpr milliseconds daemon_end = 2 * rescue;
/// A daemon that ends waits no longer than this for a coordinator that it
/// cannot reach.
inline constexpr milliseconds unheard{1000};
/// A client that uploads a checkpoint sends a piece of it at least so often.
inline constexpr milliseconds upload_piece = std::chrono::minutes{1};
/// A short question between coordinator and daemon, and how long the other end
/// may be out of reach meanwhile.
inline constexpr milliseconds question{5000};
inline constexpr milliseconds question_unreachable{2000};
/// The question whether a daemon still has its share, without which the run
/// ends: a daemon that is slow to answer has not lost it.
inline constexpr milliseconds share_check = std::chrono::minutes{1};
/// A question whether the daemon is still there whose name another one wants.
inline constexpr milliseconds rival{1500};
inline constexpr milliseconds rival_unreachable{1000};
/// The coordinator reaches a daemon that wants to join, at the address that it
/// gave. With the question about a rival it fits into the daemon's own wait.
inline constexpr milliseconds reach{3000};
/// A daemon that was not taken, or got no answer, asks again.
inline constexpr milliseconds ask_again{500};
/// Events of a run that were not taken are sent again.
inline constexpr milliseconds tell_again{500};
/// The coordinator may hold a question for a key of a rendezvous that long.
inline constexpr milliseconds rendezvous_wait{2000};
inline constexpr milliseconds longest_rendezvous_wait{10'000};
/// The answer to it, at a coordinator that is busy with something else.
inline constexpr milliseconds rendezvous_answer{30'000};
/// A watcher of runs waits that long for news; then it asks again.
inline constexpr milliseconds longest_watch{10'000};
/// A run that was on when a coordinator ended waits that long for the daemons
/// that it was on to register with the next one.
inline constexpr milliseconds daemons_return{5000};
/// A run whose number of trainers may change waits that long for one that is
/// lost to come back, or for another one; then it goes on with fewer.
inline constexpr milliseconds trainer_returns{5000};
/// The history is written again after a failure.
inline constexpr milliseconds write_again{1000};

// -- how often something is looked at

/// Who is at work, and whether still at the same.
inline constexpr milliseconds work_look{1000};
/// Memory: often enough for a peak that lasts a step.
inline constexpr milliseconds memory_look{50};
/// The files of the data: it costs a stat(2) for each.
inline constexpr milliseconds data_look{2000};
/// The members file of a cluster whose keys have roles.
inline constexpr milliseconds members_look{1000};
/// A daemon tells how it is, and how its share of each run is.
inline constexpr milliseconds health_report{1000};
/// A daemon of a run that has told nothing for longer is called silent.
inline constexpr milliseconds health_silence{5000};
/// Coordinator and agent leave their figures for whoever asks over HTTP; the
/// coordinator looks at the disk with the runs.
inline constexpr milliseconds figures{1000};
inline constexpr milliseconds disk_look{10'000};
/// The first checkpoint that is written in this time is an event.
inline constexpr milliseconds checkpoints_told{10'000};
/// One that has left none for longer counts as stuck.
inline constexpr milliseconds figures_silence{10'000};
/// Questions that wait at the coordinator.
inline constexpr milliseconds question_look{100};
/// A look that comes so much later than it should says that the process was
/// stopped, or its actor busy: what others owe it has as much longer.
inline constexpr milliseconds late_look{2000};
/// A coordinator with runs notes that it lives. If it dies and nobody can go on
/// with its run, the last note tells when that ended. Each looks whether it
/// still has its lock.
inline constexpr milliseconds life_sign{1000};
/// Watchers are told of progress.
inline constexpr milliseconds progress{100};
/// A stand-in looks whether the lock of the state folder is free.
inline constexpr milliseconds lock_look{250};
/// Signals, at least.
inline constexpr milliseconds signal_look{500};

} // namespace graphmill::timeouts
