#include "actors/base/work_watch.hpp"

#include "messages/base/caught.hpp"

#include <boost/core/demangle.hpp>
#include <spdlog/logger.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace graphmill {

namespace {

/// A disk that hangs may hold up many workers at once.
constexpr std::size_t most_sentences = 8;

/// `gather_job` of the mangled name of `graphmill::gather_job`; a name that is
/// not mangled stays as it is.
std::string name_of_work(const char* what) {
  if (what == nullptr)
    return "something";
  auto out = boost::core::demangle(what);
  constexpr std::string_view prefix = "graphmill::";
  if (out.starts_with(prefix))
    out.erase(0, prefix.size());
  return out;
}

std::chrono::seconds::rep whole_seconds(std::chrono::milliseconds time) {
  return std::chrono::round<std::chrono::seconds>(time).count();
}

std::string long_work_of(const std::string& who, const char* what,
                         std::chrono::milliseconds time) {
  return fmt::format("{} has been at one piece of work ({}) for {} s", who,
                     name_of_work(what), whole_seconds(time));
}

/// Leaves the first sentences of a kind, and says how many more there would be.
void shorten(std::vector<work_watch::news>& all, bool over) {
  std::size_t count = 0;
  std::erase_if(all, [&count, over](const auto& one) {
    return one.over == over && ++count > most_sentences;
  });
  if (count > most_sentences)
    all.push_back(
      {fmt::format("the same holds for {} more", count - most_sentences),
       over});
}

} // namespace

std::shared_ptr<work_gauge> work_watch::enter(std::string who) {
  auto made = std::make_shared<work_gauge>(std::move(who));
  const std::lock_guard lock{mutex_};
  all_.push_back({made});
  return made;
}

std::vector<work_watch::news> work_watch::look(clock::time_point now) {
  if (now - last_ < timeouts::work_look)
    return {};
  const auto passed = std::min<clock::duration>(now - std::exchange(last_, now),
                                                2 * timeouts::work_look);
  std::vector<news> out;
  const std::lock_guard lock{mutex_};
  for (auto& one : all_)
    look_at(one, std::chrono::floor<std::chrono::milliseconds>(passed), out);
  std::erase_if(all_, [](const auto& one) { return one.gauge.expired(); });
  note_over(out, now);
  shorten(out, false);
  shorten(out, true);
  return out;
}

void work_watch::note_over(const std::vector<news>& told,
                           clock::time_point now) {
  for (const auto& one : told)
    if (one.over)
      over_.push_back({now, one.sentence});
  while (!over_.empty()
         && (over_.size() > most_sentences
             || now - over_.front().when > timeouts::work_shown))
    over_.pop_front();
}

std::vector<std::string> work_watch::long_work() {
  std::vector<std::string> out;
  const std::lock_guard lock{mutex_};
  for (const auto& one : all_) {
    const auto gauge = one.gauge.lock();
    if (out.size() < most_sentences && gauge && !one.told.empty())
      out.push_back(long_work_of(one.told, gauge->read().what, one.at));
  }
  for (const auto& one : over_)
    if (out.size() < most_sentences)
      out.push_back(one.sentence);
  return out;
}

void work_watch::look_at(watched& one, std::chrono::milliseconds passed,
                         std::vector<news>& out) const {
  const auto gauge = one.gauge.lock();
  const auto [turns, what] = gauge ? gauge->read() : work_gauge::reading{};
  const auto same = gauge && turns == one.turns && turns % 2 == 1;
  if (!same) {
    if (!one.told.empty())
      out.push_back({fmt::format("{} is done with it after {} s", one.told,
                                 whole_seconds(one.at + passed)),
                     true});
    one = {one.gauge, turns};
    return;
  }
  one.at += passed;
  if (one.at < limit_ || !one.told.empty())
    return;
  one.told = gauge->who();
  out.push_back({long_work_of(one.told, what, one.at)});
}

void work_watch::report(spdlog::logger& log, clock::time_point now) {
  quietly([this, &log, now] {
    for (const auto& one : look(now))
      log.log(one.over ? spdlog::level::info : spdlog::level::warn, "{}",
              one.sentence);
  });
}

} // namespace graphmill
