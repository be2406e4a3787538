#include "actors/commands/log/line_printer.hpp"

#include "actors/commands/options/definition_options.hpp"
#include "actors/commands/options/time_text.hpp"
#include "actors/process/logs/log_lines.hpp"
#include "actors/process/logs/log_ring.hpp"
#include "actors/process/say.hpp"
#include "messages/base/printable.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>

namespace graphmill {

namespace {

using namespace std::chrono_literals;
using log_clock = std::chrono::steady_clock;

/// How long lines are waited for that daemons have written by now, and how
/// often the coordinator is asked meanwhile.
constexpr auto collection_patience = 3s;
constexpr auto collection_interval = 100ms;

/// The writer of what is in the file, in the place of a daemon.
constexpr std::string_view own_log;

/// Of what fits in an answer: in a file it may go on.
std::size_t hash_of(std::string_view writer, const log_line& line) {
  return std::hash<std::string>{}(
    fmt::format("{} {} {}", line.time.count(), writer,
                shortened(line.text, log_limits::text)));
}

} // namespace

bool printed_lines::has(std::string_view writer, const log_line& line) const {
  return known_.contains(hash_of(writer, line));
}

void printed_lines::add(std::string_view writer, const log_line& line) {
  const auto hash = hash_of(writer, line);
  if (!known_.insert(hash).second)
    return;
  order_.push_back(hash);
  if (order_.size() > most) {
    known_.erase(order_.front());
    order_.pop_front();
  }
}

result<log_reply> line_printer::print_new() {
  // The file is looked at before lines are asked for: what is in it by then and
  // does not come is known no more.
  if (!begun_)
    begin_file();
  for (auto is_begun_anew = false;;) {
    auto got = client_.logs(asked_);
    if (!got) { // What came before is told all the same.
      print_held();
      std::fflush(stdout);
      return got.error();
    }
    auto page = std::move(got).value();
    if (page.anew && !std::exchange(is_begun_anew, true)) {
      is_anew_ = true;
      begin_file();
      continue;
    }
    if (page.missing > 0)
      say(stderr, "graphmill: {} here: the coordinator no longer has them\n",
          page.missing == 1
            ? "a line is missing"
            : fmt::format("{} lines are missing", page.missing));
    for (auto& line : page.lines)
      hold(std::move(line));
    const auto stands = page.next == asked_.after;
    const auto is_last = !page.more || stands;
    if (is_last || held_bytes_ >= log_ring::of_cluster)
      print_held();
    if (is_last)
      print_file(unix_time::max());
    asked_.after = page.next;
    std::fflush(stdout);
    if (is_last)
      return page;
  }
}

result<void> line_printer::print_all(signal_watch& signals) {
  GRAPHMILL_TRY(auto page, print_new());
  const auto begun = page.begun;
  const auto until = log_clock::now() + collection_patience;
  while (page.collected <= begun && log_clock::now() < until
         && signals.count() == 0) {
    signals.wait(collection_interval);
    GRAPHMILL_TRY(page, print_new());
  }
  return ok();
}

/// The log in the run's folder does not say which daemon led the cluster, so
/// it is left out where one is asked for.
void line_printer::begin_file() {
  begun_ = true;
  if (!asked_.daemon.empty())
    return;
  file_.emplace(client_, asked_.run);
  if (const auto there = file_->open())
    read_file();
  else
    leave_file(there.error());
}

void line_printer::leave_file(const error& reason) {
  say(stderr,
      "graphmill: lines may be missing: the log in the run's folder cannot be "
      "read: {}\n",
      reason.message);
  file_.reset();
}

void line_printer::read_file() {
  auto next = file_->next();
  if (!next) {
    leave_file(next.error());
    return;
  }
  in_file_ = std::move(next).value();
  if (!in_file_)
    file_.reset();
}

/// Prints what of the file is from before that time and has not come by the
/// other way.
void line_printer::print_file(unix_time until) {
  while (file_ && in_file_->line.time < until) {
    const auto& [line, is_whole] = *in_file_;
    const auto is_known =
      collected_.has(own_log, line) || (is_anew_ && filed_.has(own_log, line));
    filed_.add(own_log, line);
    if ((line.level >= asked_.level || !is_whole) && !is_known)
      print(line);
    read_file();
  }
}

/// Lines come as they were collected, which is not by time: who has just been
/// asked for the first time tells of all that it has.
void line_printer::hold(log_line line) {
  held_bytes_ += line.bytes();
  auto& place = places_[line.daemon];
  place = std::max(place, line.time);
  held_.push_back({place, std::move(line)});
}

void line_printer::print_held() {
  std::ranges::stable_sort(held_, {}, &held_line::place);
  for (const auto& [place, line] : held_) {
    print_file(line.time);
    print_collected(line);
  }
  held_.clear();
  held_bytes_ = 0;
  places_.clear();
}

void line_printer::print_collected(const log_line& line) {
  const auto is_own = line.module == "run"; // Or of an agent, which is no harm.
  const auto is_known = (is_own && filed_.has(own_log, line))
                        || (is_anew_ && collected_.has(line.daemon, line));
  if (is_own)
    collected_.add(own_log, line);
  collected_.add(line.daemon, line);
  if (!is_known)
    print(line);
}

void line_printer::print(const log_line& line) {
  ++printed_;
  if (json_)
    say("{}\n", one_line(log_line_json(line)));
  else
    say("{}.{:03} {} {:<5} {}\n", time_text(line.time),
        line.time.count() % 1000, line.daemon.empty() ? "-" : line.daemon,
        to_string(line.level), line.text);
}

} // namespace graphmill
