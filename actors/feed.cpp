#include "actors/feed/feed_run.hpp"
#include "actors/process/logger.hpp"
#include "actors/process/say.hpp"

#include <charconv>
#include <csignal>
#include <cstdlib>
#include <string_view>

// Makes batches for a process that trains its own model on them, such as one of
// Python. That process starts it and hands it a socket; nobody else does.

namespace {

constexpr int usage_error = 2;

/// The descriptor that is given as the only argument; negative: none is.
int descriptor_in(int argc, char** argv) {
  if (argc != 3 || std::string_view{argv[1]} != "--socket")
    return -1;
  const std::string_view text{argv[2]};
  auto out = -1;
  const auto [end, failed] =
    std::from_chars(text.data(), text.data() + text.size(), out);
  return failed == std::errc{} && end == text.data() + text.size() ? out : -1;
}

} // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view{argv[1]} == "--version") {
    graphmill::say("graphmill-feed {}\n", GRAPHMILL_VERSION);
    return EXIT_SUCCESS;
  }
  const auto descriptor = descriptor_in(argc, argv);
  if (descriptor < 0) {
    graphmill::say(stderr, "graphmill-feed is started by the Python package "
                           "graphmill: see examples/guide/python.md\n");
    return usage_error;
  }
  // Ctrl-C is the consumer's; the feed ends with its socket.
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  const auto log = graphmill::make_logger({});
  if (!log)
    return EXIT_FAILURE;
  graphmill::feed_socket socket{descriptor};
  const auto done = graphmill::run_feed(socket, log.value());
  if (!done)
    graphmill::say(stderr, "graphmill-feed: {}\n", done.error().message);
  return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
