#include "actors/process/logger.hpp"

#include "actors/process/logs/rotated_file.hpp"
#include "messages/base/printable.hpp"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/dist_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace graphmill {

namespace {

/// Hands on to a sink that belongs to somebody else, whose flushes wait.
class shared_sink final : public spdlog::sinks::dist_sink_mt {
public:
  /// @param name Of the logger, as the other sink is told it; empty: its own.
  shared_sink(spdlog::sink_ptr other, std::string name)
    : dist_sink({std::move(other)}), name_(std::move(name)) {}

protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    auto told = message;
    if (!name_.empty())
      told.logger_name = name_;
    dist_sink::sink_it_(told);
  }
  void flush_() override {}

private:
  std::string name_;
};

/// Appends lines to a file, and puts it aside when it is long. From any thread,
/// as its base class has it.
class run_log_sink final : public spdlog::sinks::base_sink<std::mutex> {
public:
  explicit run_log_sink(rotated_file file) : file_(std::move(file)) {}

protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    const auto done = file_.append({line.data(), line.size()});
    if (!done) // The logger tells it, once a second at the most.
      throw spdlog::spdlog_ex(done.error().message);
  }

  void flush_() override {
    // Nothing waits.
  }

private:
  rotated_file file_;
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

spdlog::sink_ptr warnings_on(const log_outlets& to) {
  spdlog::sink_ptr out;
  if (to.console) { // It has others to serve, and a pattern for all of them.
    out = std::make_shared<shared_sink>(to.console, to.name);
  } else {
    out = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    out->set_formatter(line_formatter("graphmill: %l: %v"));
  }
  out->set_level(spdlog::level::warn);
  return out;
}

result<spdlog::sink_ptr> sink_to(const std::filesystem::path& file) {
  rotated_file lines{file, longest_run_log, {".old"}};
  GRAPHMILL_TRYV(lines.append({}));
  auto out = std::make_shared<run_log_sink>(std::move(lines));
  out->set_formatter(line_formatter());
  return spdlog::sink_ptr{std::move(out)};
}

} // namespace

std::unique_ptr<spdlog::formatter> line_formatter(const std::string& pattern) {
  return std::make_unique<printable_lines>(pattern);
}

result<std::shared_ptr<spdlog::logger>>
make_logger(const std::filesystem::path& file, const log_outlets& to) {
  std::vector sinks{warnings_on(to)};
  if (to.memory)
    sinks.push_back(to.memory);
  if (!file.empty()) {
    GRAPHMILL_TRY(auto lines, sink_to(file));
    sinks.push_back(std::move(lines));
  }
  auto log =
    std::make_shared<spdlog::logger>("graphmill", sinks.begin(), sinks.end());
  log->flush_on(spdlog::level::info);
  return log;
}

} // namespace graphmill
