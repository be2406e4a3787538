#pragma once

#include "actors/http/server/http_server.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace graphmill {

/// Requests of one kind that a server has handed on, until they are answered,
/// or for `limits::question_patience`. Each keeps its place meanwhile, whatever
/// becomes of its connection, so that whoever asks and leaves burdens nobody
/// with more than `limits::questions`. Used by the server's thread alone;
/// answers come from any, and are looked for several times a second.
class http_questions {
public:
  using taker = std::function<void(http_answer)>;

  http_questions(boost::asio::io_context& context, http_server::limits most)
    : most_(most), timer_(context) {}

  bool has_room() const { return waiting_.size() < most_.questions; }

  /// @param then Told on the server's thread, later and once. @pre there is
  /// room
  void ask(const http_question& whom, const http_request& what, taker then);

  /// Forgets all of them.
  void drop_all() { waiting_.clear(); }

private:
  /// What an answer is put into: it outlives the server, if need be.
  struct slot {
    std::mutex mutex;
    std::optional<http_answer> answer;
  };
  struct question {
    std::shared_ptr<slot> from;
    taker then;
    std::chrono::steady_clock::time_point until;
  };

  void look_later();
  void look();

  http_server::limits most_;
  boost::asio::steady_timer timer_;
  bool looks_ = false; ///< The timer runs.
  std::vector<question> waiting_;
};

} // namespace graphmill
