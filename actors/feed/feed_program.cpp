#include "actors/feed/feed_program.hpp"

#include "actors/feed/feed_run.hpp"
#include "actors/process/logger.hpp"
#include "actors/process/say.hpp"

#include <sched.h>

#include <charconv>
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace graphmill {

int feed_socket_in(int argc, char** argv) {
  if (argc != 3 || std::string_view{argv[1]} != "--socket")
    return -1;
  const std::string_view text{argv[2]};
  auto out = -1;
  const auto [end, failed] =
    std::from_chars(text.data(), text.data() + text.size(), out);
  return failed == std::errc{} && end == text.data() + text.size() ? out : -1;
}

int run_feed_program(int socket, feed_maker on_cluster) {
  // A word of the consumer that wakes a thread here does not take the processor
  // away from it. Where the system does not know that, it only takes longer.
  const sched_param none{};
  (void)::sched_setscheduler(0, SCHED_BATCH, &none);
  // Ctrl-C is the consumer's; the feed ends with its socket.
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  const auto log = make_logger({});
  if (!log)
    return EXIT_FAILURE;
  feed_socket consumer{socket};
  const auto done = run_feed(consumer, log.value(), std::move(on_cluster));
  if (!done)
    say(stderr, "graphmill-feed: {}\n", done.error().message);
  return done ? EXIT_SUCCESS : EXIT_FAILURE;
}

} // namespace graphmill
