#include "actors/process/logger.hpp"

#include "messages/base/printable.hpp"
#include "partition/files/file_io.hpp"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/dist_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <fcntl.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
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

using log_stream = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

struct open_log {
  log_stream to;
  std::size_t bytes = 0; ///< That it has by now; 0 of what is no file.
};

result<open_log> open_log_at(const std::filesystem::path& file) {
  GRAPHMILL_TRY(auto opened, open_file(file, O_WRONLY | O_CREAT | O_APPEND,
                                       file_access::owner));
  const auto size = file_size(opened.get(), file);
  open_log out{{::fdopen(opened.get(), "a"), &std::fclose},
               size ? size.value() : 0};
  if (!out.to)
    return fail_errno(errno, "cannot write the log {}", file.string());
  (void)opened.release(); // The stream closes it.
  return out;
}

/// Appends to a file that is open: spdlog's own sinks open one by its name, and
/// follow a link that lies there. One that is long enough is put aside, and
/// gone on with if there can be no other. From any thread, as its base class
/// has it.
class open_file_sink final : public spdlog::sinks::base_sink<std::mutex> {
public:
  open_file_sink(open_log log, std::filesystem::path file)
    : log_(std::move(log)), file_(std::move(file)) {}

protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    if (log_.bytes + line.size() > longest_run_log && log_.bytes != 0)
      put_aside();
    if (std::fwrite(line.data(), 1, line.size(), log_.to.get()) != line.size())
      throw spdlog::spdlog_ex("cannot write " + file_.string(), errno);
    log_.bytes += line.size();
  }

  void flush_() override {
    if (std::fflush(log_.to.get()) != 0)
      throw spdlog::spdlog_ex("cannot write " + file_.string(), errno);
  }

private:
  void put_aside() {
    auto old = file_;
    old += ".old";
    std::error_code failed;
    std::filesystem::rename(file_, old, failed);
    log_.bytes = 0; // If it fails, it is not tried again at the next line.
    // Where it is gone, a new one may not have been opened the last time.
    if (failed && failed != std::errc::no_such_file_or_directory)
      return;
    if (auto next = open_log_at(file_))
      log_ = std::move(next).value();
  }

  open_log log_;
  std::filesystem::path file_;
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
  GRAPHMILL_TRY(auto log, open_log_at(file));
  auto out = std::make_shared<open_file_sink>(std::move(log), file);
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
