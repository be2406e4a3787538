#include "actors/cluster/audit/audit_log.hpp"

#include "actors/cluster/audit/audit_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace graphmill {

namespace {

audit_entry of_left_out(std::uint64_t count, unix_time time) {
  audit_entry out;
  out.time = time;
  out.what = "several";
  out.done = false;
  out.why = "refusals of more kinds than are kept apart";
  out.times = count;
  return out;
}

std::string lines_of(const std::vector<audit_entry>& entries) {
  std::string out;
  for (const auto& entry : entries)
    out += json_line(entry) + '\n';
  return out;
}

std::string line_of_missing_records(std::size_t lines) {
  audit_entry gap;
  gap.time = now_unix();
  gap.what = "audit";
  gap.done = false;
  gap.why = "lines are missing here: the disk was full";
  gap.times = lines;
  return lines_of({gap});
}

} // namespace

// -- audit_sums

std::vector<audit_entry> audit_sums::add(audit_entry entry, time_point now) {
  auto out = look(now);
  if (entry.done) {
    out.push_back(std::move(entry));
    return out;
  }
  auto name = fmt::format("{}\n{}\n{}", entry.host, entry.what, entry.code);
  const auto known = kinds_.find(name);
  if (known != kinds_.end()) {
    const auto untold = known->second.untold + entry.times;
    known->second = {std::move(entry), untold};
  } else if (kinds_.size() >= audit_limits::kinds) {
    left_out_ += entry.times;
  } else {
    kinds_[std::move(name)] = {entry, 0};
    out.push_back(std::move(entry));
  }
  return out;
}

std::vector<audit_entry> audit_sums::look(time_point now) {
  std::vector<audit_entry> out;
  if (now - since_ < audit_limits::period)
    return out;
  since_ = now;
  unix_time latest{0};
  for (auto& [name, kept] : kinds_) {
    latest = std::max(latest, kept.last.time);
    if (kept.untold == 0)
      continue;
    kept.last.times = kept.untold;
    out.push_back(std::move(kept.last));
  }
  kinds_.clear();
  if (const auto count = std::exchange(left_out_, 0); count > 0)
    out.push_back(of_left_out(count, latest));
  return out;
}

// -- audit_log

audit_log::audit_log(const std::filesystem::path& folder,
                     std::function<void(const std::string&)> complain)
  : lines_(
    {rotated_file{folder / "audit.jsonl", audit_limits::file_bytes, {".old"}},
     line_of_missing_records, std::move(complain),
     "changes by users are not recorded until the audit log can be written",
     "changes by users are recorded again"},
    audit_limits::waiting) {}

void audit_log::add(audit_entry entry) {
  add(std::vector{std::move(entry)});
}

void audit_log::add(std::vector<audit_entry> entries) {
  const std::lock_guard lock{mutex_};
  std::vector<audit_entry> due;
  for (auto& entry : entries) {
    entry.time = now_unix();
    std::ranges::move(
      sums_.add(std::move(entry), std::chrono::steady_clock::now()),
      std::back_inserter(due));
  }
  write(due);
}

void audit_log::look() {
  const std::lock_guard lock{mutex_};
  write(sums_.look(std::chrono::steady_clock::now()));
}

/// @pre the mutex is held
void audit_log::write(const std::vector<audit_entry>& entries) {
  if (!entries.empty())
    lines_.write(lines_of(entries), entries.size());
}

} // namespace graphmill
