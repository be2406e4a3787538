#pragma once

#include "actors/feed/batch_feed.hpp"

namespace graphmill {

/// The socket that a consumer hands to a program that it starts, by its only
/// arguments: --socket NUMBER. Negative: it was started otherwise.
int feed_socket_in(int argc, char** argv);

/// Feeds a consumer until it is gone.
/// @param socket Its descriptor. @param on_cluster As of `run_feed`.
/// @returns the exit code of the program.
int run_feed_program(int socket, feed_maker on_cluster = {});

} // namespace graphmill
