#include "actors/process/logger.hpp"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/dist_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <utility>
#include <vector>

namespace graphmill {

namespace {

/// Hands on to a sink that belongs to somebody else, whose flushes wait.
class shared_sink final : public spdlog::sinks::dist_sink_mt {
public:
  explicit shared_sink(spdlog::sink_ptr other)
    : dist_sink({std::move(other)}) {}

protected:
  void flush_() override {}
};

spdlog::sink_ptr warnings_on(const spdlog::sink_ptr& console) {
  spdlog::sink_ptr out;
  if (console) { // It has others to serve, and a pattern for all of them.
    out = std::make_shared<shared_sink>(console);
  } else {
    out = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    out->set_pattern("graphmill: %l: %v");
  }
  out->set_level(spdlog::level::warn);
  return out;
}

} // namespace

result<std::shared_ptr<spdlog::logger>>
make_logger(const std::filesystem::path& file,
            const spdlog::sink_ptr& console) {
  std::vector sinks{warnings_on(console)};
  if (!file.empty()) {
    try {
      sinks.push_back(
        std::make_shared<spdlog::sinks::basic_file_sink_mt>(file.string()));
    } catch (const spdlog::spdlog_ex& failed) {
      return fail(ec::io, "cannot write the log {}: {}", file.string(),
                  failed.what());
    }
  }
  auto log =
    std::make_shared<spdlog::logger>("graphmill", sinks.begin(), sinks.end());
  log->flush_on(spdlog::level::info);
  return log;
}

} // namespace graphmill
