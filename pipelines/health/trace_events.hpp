#pragma once

#include "messages/base/error.hpp"
#include "pipelines/health/run_trace.hpp"

#include <filesystem>
#include <functional>
#include <string_view>

namespace graphmill {

/// Writes a trace in Chrome's trace event format, as JSON that Perfetto and
/// chrome://tracing open (Google, "Trace Event Format"):
///
/// - a process (`pid`, from 1) for each daemon, a thread (`tid`, from 1) for
///   each worker of its actors, in the order of a batch's way;
/// - a complete event (`X`) for each state that a worker was in, named after
///   it, with the batch that it worked on. Those of a thread do not overlap;
/// - an asynchronous event (`b`, `e`) for each request to others, with its
///   bytes;
/// - a flow (`s`, `t`, `f`) for each batch from its sampler by fetcher and
///   batcher to its trainer, and one (`s`, `f`) for each trainer that waited
///   for gradients from the rank of the step that was done last.
///
/// Microseconds since the first event. Epochs and steps are counted from 1, as
/// people and logs do.
/// @param trace Aligned.
/// @param out Gets the text in pieces; its first error ends it.
result<void>
write_trace_events(const run_trace& trace,
                   const std::function<result<void>(std::string_view)>& out);

/// The same to a file, for its owner alone, which replaces one that is there.
result<void> write_trace_file(const run_trace& trace,
                              const std::filesystem::path& path);

} // namespace graphmill
