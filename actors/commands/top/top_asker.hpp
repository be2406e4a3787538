#pragma once

#include "actors/cluster/client/client.hpp"
#include "actors/commands/top/top_model.hpp"

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

namespace graphmill {

/// Asks a coordinator once a second how its cluster and a run are, and carries
/// out what the user asks of it, in a thread of its own: keys never wait for an
/// answer. States: it asks, or waits for the next second or a command; its end
/// interrupts either. The public members are for one other thread.
class top_asker {
public:
  using clock = std::chrono::steady_clock;

  /// What is known after a number of rounds of questions.
  struct state {
    top_data data;
    std::uint64_t rounds = 0;
    clock::time_point answered{}; ///< When a round was answered last.
    std::optional<error> failure; ///< Of the last round.
    std::string outcome;          ///< Of the last command, in a sentence.
    std::uint64_t outcomes = 0;   ///< Commands that were carried out.
  };

  /// @param client Its calls end when `stop` asks for it.
  /// @param run Empty: the one that began first of those that are on, or else
  /// the latest.
  top_asker(cluster_client client, std::string run, std::stop_source stop);
  /// Ends the question under way.
  ~top_asker();
  top_asker(const top_asker&) = delete;
  top_asker& operator=(const top_asker&) = delete;

  /// Never null; does not wait for an answer.
  std::shared_ptr<const state> now() const;

  /// Has a command carried out after the question that is under way.
  /// @returns false if another one waits for that.
  bool carry_out(const top_command& command);

  /// Asks for another run from now on, at once if it is another one.
  void look_at(const std::string& run);

  /// Whose log is asked for from now on, once a second, and now if it is
  /// another one than before; nothing: nobody's.
  void follow(const std::optional<top_log>& log);

private:
  void work();
  void conclude_round(const result<void>& asked);
  std::optional<top_command> next_command();
  std::string outcome_of(const top_command& command);
  result<void> ask();
  void forget_run();
  result<run_record> ask_for_run();
  result<void> ask_for_health();
  result<void> ask_for_news();
  result<void> ask_for_log();
  void publish();

  cluster_client client_;
  std::stop_source stop_;

  // Of the thread.
  state known_;
  std::string run_; ///< That the user wants to see; empty: no matter which.
  std::uint64_t cursor_ = 0; ///< Of the news of the run.
  bool all_told_ = false;    ///< The run is over, and all its news have come.
  std::uint64_t log_cursor_ = 0; ///< Of the log that is followed.

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::shared_ptr<const state> published_; ///< Guarded, as are the next ones.
  std::optional<top_command> waiting_;
  std::optional<top_log> followed_;
  std::string looked_at_; ///< Becomes `run_` with the next round.
  bool hurries_ = false; ///< There is something else to be asked for.

  std::jthread thread_; ///< Last: it uses all of the above.
};

} // namespace graphmill
