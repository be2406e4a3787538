#include "actors/process/logger.hpp"

#include "actors/process/logs/log_levels.hpp"
#include "actors/process/logs/rotated_file.hpp"
#include "messages/base/printable.hpp"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/dist_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <charconv>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace graphmill {

namespace {

/// Of a run's log, in UTC: whoever reads it may be in another zone.
constexpr const char* run_log_pattern = "[%Y-%m-%dT%H:%M:%S.%eZ] [%l] %v";

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
  printable_lines(std::string pattern, spdlog::pattern_time_type times)
    : pattern_(std::move(pattern)), times_(times), lines_(pattern_, times_) {}

  void format(const spdlog::details::log_msg& message,
              spdlog::memory_buf_t& out) override {
    const auto text =
      printable({message.payload.data(), message.payload.size()});
    auto shown = message;
    shown.payload = text;
    lines_.format(shown, out);
  }

  std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<printable_lines>(pattern_, times_);
  }

private:
  std::string pattern_;
  spdlog::pattern_time_type times_;
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
  out->set_formatter(std::make_unique<printable_lines>(
    run_log_pattern, spdlog::pattern_time_type::utc));
  return spdlog::sink_ptr{std::move(out)};
}

/// What is between brackets at the front of a text, which loses that and the
/// space after it; nothing if it does not begin so.
std::optional<std::string> take_bracketed(std::string_view& text) {
  const auto end = text.find("] ");
  if (!text.starts_with('[') || end == std::string_view::npos)
    return std::nullopt;
  std::string out{text.substr(1, end - 1)};
  text.remove_prefix(end + 2);
  return out;
}

/// "2026-11-28T03:30:19.123Z".
std::optional<unix_time> time_in(const std::string& text) {
  std::tm parts{};
  const auto* milliseconds =
    ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S.", &parts);
  if (milliseconds == nullptr)
    return std::nullopt;
  auto count = 0U;
  const auto* end = text.c_str() + text.size();
  const auto [rest, failed] = std::from_chars(milliseconds, end, count);
  if (failed != std::errc{} || rest - milliseconds != 3
      || std::string_view{rest, end} != "Z")
    return std::nullopt;
  return unix_time{std::int64_t{1000} * ::timegm(&parts) + count};
}

std::optional<log_level> level_in(const std::string& word) {
  for (auto level = log_level::debug; level <= log_level::critical;
       level = log_level(int(level) + 1)) {
    const auto name = spdlog::level::to_string_view(to_spdlog(level));
    if (word == std::string_view{name.data(), name.size()})
      return level;
  }
  return std::nullopt;
}

} // namespace

std::unique_ptr<spdlog::formatter> line_formatter(const std::string& pattern) {
  return std::make_unique<printable_lines>(pattern,
                                           spdlog::pattern_time_type::local);
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

std::optional<log_line> run_log_line(std::string_view text) {
  const auto time = take_bracketed(text);
  const auto level = take_bracketed(text);
  const auto when = time ? time_in(*time) : std::nullopt;
  const auto how_bad = level ? level_in(*level) : std::nullopt;
  if (!when || !how_bad)
    return std::nullopt;
  log_line out;
  out.time = *when;
  out.level = *how_bad;
  out.text = text;
  return out;
}

} // namespace graphmill
