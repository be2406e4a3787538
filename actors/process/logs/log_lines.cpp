#include "actors/process/logs/log_lines.hpp"

#include "messages/base/printable.hpp"

#include <nlohmann/json.hpp>
#include <spdlog/formatter.h>
#include <spdlog/logger.h>

#include <chrono>
#include <utility>

namespace graphmill {

namespace {

/// No name has it in it: control characters are escaped before.
constexpr char between_fields = '\x1f';

log_level level_of(spdlog::level::level_enum level) {
  switch (level) {
  case spdlog::level::trace:
  case spdlog::level::debug:
    return log_level::debug;
  case spdlog::level::info:
    return log_level::info;
  case spdlog::level::warn:
    return log_level::warn;
  case spdlog::level::err:
    return log_level::error;
  default:
    return log_level::critical;
  }
}

std::string bounded(std::string_view text, std::size_t most) {
  return shortened(printable(text), most);
}

class json_lines final : public spdlog::formatter {
public:
  explicit json_lines(std::string daemon) : daemon_(std::move(daemon)) {}

  void format(const spdlog::details::log_msg& message,
              spdlog::memory_buf_t& out) override {
    const auto text =
      log_line_json(line_of(message, daemon_))
        .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    out.append(text.data(), text.data() + text.size());
    out.push_back('\n');
  }

  std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<json_lines>(daemon_);
  }

private:
  std::string daemon_;
};

} // namespace

std::string logger_name(const log_subject& of) {
  auto out = printable(of.module);
  if (!of.run.empty() || !of.batch.empty())
    out += between_fields + printable(of.run);
  if (!of.batch.empty())
    out += between_fields + printable(of.batch);
  return out;
}

log_subject subject_in(std::string_view logger_name) {
  const auto take = [&logger_name] {
    const auto end = logger_name.find(between_fields);
    std::string out{logger_name.substr(0, end)};
    logger_name.remove_prefix(end == std::string_view::npos ? logger_name.size()
                                                            : end + 1);
    return out;
  };
  log_subject out;
  out.module = take();
  out.run = take();
  out.batch = take();
  return out;
}

std::shared_ptr<spdlog::logger>
log_about(const std::shared_ptr<spdlog::logger>& log, log_subject what) {
  if (!log)
    return nullptr;
  auto is = subject_in(log->name());
  for (const auto& [to, from] :
       {std::pair{&is.module, &what.module}, std::pair{&is.run, &what.run},
        std::pair{&is.batch, &what.batch}})
    if (!from->empty())
      *to = std::move(*from);
  return log->clone(logger_name(is));
}

log_line line_of(const spdlog::details::log_msg& message,
                 const std::string& daemon) {
  auto about =
    subject_in({message.logger_name.data(), message.logger_name.size()});
  return printable_line(
    {std::chrono::duration_cast<unix_time>(message.time.time_since_epoch()),
     level_of(message.level),
     daemon,
     std::move(about.run),
     std::move(about.batch),
     std::move(about.module),
     {message.payload.data(), message.payload.size()}});
}

log_line printable_line(log_line line) {
  for (auto* name : {&line.daemon, &line.run, &line.batch, &line.module})
    *name = bounded(*name, log_limits::name);
  line.text = bounded(line.text, log_limits::text);
  return line;
}

nlohmann::json log_line_json(const log_line& line) {
  return {{"time", double(line.time.count()) / 1000},
          {"level", to_string(line.level)},
          {"daemon", line.daemon},
          {"run", line.run},
          {"batch", line.batch},
          {"module", line.module},
          {"text", line.text}};
}

std::unique_ptr<spdlog::formatter> json_line_formatter(std::string daemon) {
  return std::make_unique<json_lines>(std::move(daemon));
}

} // namespace graphmill
