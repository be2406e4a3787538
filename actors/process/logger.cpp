#include "actors/process/logger.hpp"

#include "messages/base/printable.hpp"
#include "partition/files/file_io.hpp"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/dist_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <fcntl.h>

#include <memory>
#include <string>
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

class printable_lines final : public spdlog::formatter {
public:
  explicit printable_lines(std::string pattern)
    : pattern_(std::move(pattern)), lines_(pattern_) {}

  void format(const spdlog::details::log_msg& message,
              spdlog::memory_buf_t& out) override {
    const auto text =
      printable({message.payload.data(), message.payload.size()});
    auto shown = message;
    shown.payload = text;
    lines_.format(shown, out);
  }

  std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<printable_lines>(pattern_);
  }

private:
  std::string pattern_;
  spdlog::pattern_formatter lines_;
};

spdlog::sink_ptr warnings_on(const spdlog::sink_ptr& console) {
  spdlog::sink_ptr out;
  if (console) { // It has others to serve, and a pattern for all of them.
    out = std::make_shared<shared_sink>(console);
  } else {
    out = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    out->set_formatter(line_formatter("graphmill: %l: %v"));
  }
  out->set_level(spdlog::level::warn);
  return out;
}

} // namespace

std::unique_ptr<spdlog::formatter> line_formatter(const std::string& pattern) {
  return std::make_unique<printable_lines>(pattern);
}

result<std::shared_ptr<spdlog::logger>>
make_logger(const std::filesystem::path& file,
            const spdlog::sink_ptr& console) {
  std::vector sinks{warnings_on(console)};
  if (!file.empty()) {
    // spdlog appends to what is there, and asks nobody who may read it.
    GRAPHMILL_TRYV(
      open_file(file, O_WRONLY | O_CREAT | O_APPEND, file_access::owner));
    try {
      sinks.push_back(
        std::make_shared<spdlog::sinks::basic_file_sink_mt>(file.string()));
      sinks.back()->set_formatter(line_formatter());
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
