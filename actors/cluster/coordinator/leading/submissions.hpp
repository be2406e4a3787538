#pragma once

#include "actors/cluster/coordinator/leading/leading_parts.hpp"
#include "actors/cluster/coordinator/leading/resumption.hpp"
#include "actors/cluster/coordinator/records/file_service.hpp"
#include "actors/transport/sessions/responder.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace graphmill {

class run_places;
class run_queue;
class run_starter;

/// Takes runs that clients submit, and those that feed consumers, or says why
/// it does not. A run is taken once its folder and its place in the history are
/// on disk. Of the COORDINATOR's state, used in its handlers alone.
class submissions {
public:
  /// @param decided Called when a run was taken, or was not.
  submissions(const leading_parts& with, file_service& files, run_queue& queue,
              run_starter& starter, const run_places& places,
              std::function<void()> decided);

  /// Answers when the run is on disk.
  void submit(const incoming_request& request);

  /// The same for a run that feeds the daemon of a consumer, which asks: its
  /// batches go there. A consumer has one feed at a time.
  void feed(const incoming_request& request);

  /// Where a run would go now.
  result<payload> plan(const payload& request) const;

  /// Whether runs are being written that will be in the queue.
  bool any() const { return !homes_.empty(); }

  /// A place among the runs that go on with others: they take memory.
  std::shared_ptr<void> resumed_place() const { return resumed_; }

private:
  result<void> begin(const incoming_request& request);
  result<void> begin_feed(const incoming_request& request);
  result<void> begin(const incoming_request& request, definition def,
                     std::string consumer);
  result<void> check_queue(const std::string& home) const;
  result<resumption> resumption_of(const incoming_request& request);
  void taken(const std::shared_ptr<submitted_run>& run, const responder& reply,
             const result<void>& made);
  result<void> check_wanted(const submitted_run& run);

  leading_parts with_;
  file_service& files_;
  run_queue& queue_;
  run_starter& starter_;
  const run_places& places_;
  std::function<void()> decided_;
  std::multiset<std::string> homes_; ///< Of runs that are being written.
  /// A run that a consumer has asked for and that is being written: the
  /// incarnation of its daemon, and the place of the run in the queue.
  struct feed_asked {
    std::string incarnation;
    std::int64_t place = 0;
  };
  std::map<std::string, feed_asked> feeds_; ///< The latest of each consumer.
  /// Shared by all runs that go on with others, so that it counts them.
  std::shared_ptr<int> resumed_ = std::make_shared<int>(0);
};

} // namespace graphmill
