#include "actors/cluster/daemon/daemon_log.hpp"

#include "actors/cluster/daemon/queued_sink.hpp"
#include "actors/process/logger.hpp"
#include "actors/process/logs/log_file.hpp"
#include "actors/process/logs/log_lines.hpp"
#include "messages/base/pluralized.hpp"
#include "messages/base/printable.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/dist_sink.h>

#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace graphmill {

namespace {

std::vector<std::string> old_names(unsigned files) {
  std::vector<std::string> out;
  for (unsigned i = 1; i < std::max(files, 2u); ++i)
    out.push_back(fmt::format(".{}", i));
  return out;
}

std::unique_ptr<spdlog::formatter> daemon_lines(const log_options& options,
                                                const std::string& name) {
  if (options.json)
    return json_line_formatter(name);
  std::string shown; // A pattern of spdlog has a meaning for %.
  for (const auto letter : printable(name))
    shown += letter == '%' ? std::string{"%%"} : std::string{letter};
  return line_formatter("%H:%M:%S.%e " + shown + ": %v");
}

/// A line of the log that no logger has written.
std::string line_by_hand(spdlog::formatter& lines, const std::string& text) {
  spdlog::memory_buf_t out;
  lines.format({"daemon", spdlog::level::warn, text}, out);
  return {out.data(), out.size()};
}

/// Says how many lines a sink has dropped, as its other lines are.
std::function<std::string(std::size_t)>
notice_of_loss(const log_options& options, const std::string& name,
               const char* why) {
  return [lines = std::shared_ptr{daemon_lines(options, name)},
          why](std::size_t lost) {
    return line_by_hand(*lines, fmt::format("{} of the log dropped: {}",
                                            pluralized(lost, "line"), why));
  };
}

} // namespace

result<daemon_log> open_daemon_log(const log_options& options,
                                   const std::string& name, bool leads) {
  GRAPHMILL_TRY(auto parsed, parse_log_levels(options.levels));
  const auto levels = std::make_shared<const log_levels>(std::move(parsed));
  daemon_log out;
  out.lines = std::make_shared<log_ring>(leads ? log_ring::of_cluster
                                               : log_ring::of_daemon);
  const auto console = std::make_shared<queued_sink>(
    queued_sink::outlet{queued_sink::to_console(STDERR_FILENO),
                        notice_of_loss(options, name, "nobody read them")});
  console->set_formatter(daemon_lines(options, name));
  // The first one is for console and file: runs hand their warnings to it.
  const auto written = std::make_shared<spdlog::sinks::dist_sink_mt>();
  written->add_sink(console);
  const std::vector<spdlog::sink_ptr> sinks{written,
                                            ring_sink(out.lines, name)};
  if (!options.file.empty()) {
    const auto told = std::make_shared<leveled_logger>(
      "daemon", std::vector<spdlog::sink_ptr>{console, sinks.back()}, levels);
    const auto file = std::make_shared<log_file>(log_file::setting{
      rotated_file{options.file, options.file_bytes, old_names(options.files),
                   rotated_file::writers::one},
      notice_of_loss(options, name, "they could not be written"),
      [told](const std::string& text) { told->warn("{}", text); },
      "the daemon goes on, and writes the log there again when it can",
      fmt::format("the log is written to {} again", options.file.string())});
    GRAPHMILL_TRYV(file->open());
    auto sink = std::make_shared<queued_sink>(queued_sink::outlet{
      [file](std::string_view lines) { file->write(lines); },
      notice_of_loss(options, name, "the disk was too slow")});
    sink->set_formatter(daemon_lines(options, name));
    written->add_sink(std::move(sink));
  }
  out.log = std::make_shared<leveled_logger>("daemon", sinks, levels);
  return out;
}

} // namespace graphmill
