#include "actors/feed/feed_program.hpp"
#include "actors/process/say.hpp"

#include <cstdlib>
#include <string_view>

// Makes batches for a process that trains its own model on them, such as one of
// Python. That process starts it and hands it a socket; nobody else does.

int main(int argc, char** argv) {
  constexpr int usage_error = 2;
  if (argc == 2 && std::string_view{argv[1]} == "--version") {
    graphmill::say("graphmill-feed {}\n", GRAPHMILL_VERSION);
    return EXIT_SUCCESS;
  }
  const auto socket = graphmill::feed_socket_in(argc, argv);
  if (socket >= 0)
    return graphmill::run_feed_program(socket);
  graphmill::say(stderr, "graphmill-feed is started by the Python package "
                         "graphmill: see examples/guide/python.md\n");
  return usage_error;
}
