#include "actors/cluster/history/run_records.hpp"

#include <algorithm>
#include <utility>

namespace graphmill {

const run_record* run_records::find(const std::string& id) const {
  const auto it = runs_.find(id);
  return it == runs_.end() ? nullptr : &it->second.run;
}

void run_records::add(run_record run) {
  auto id = run.id;
  runs_[std::move(id)] = place{std::move(run)};
}

void run_records::set(run_record run, std::optional<run_standing> standing) {
  auto& place = runs_.at(run.id);
  place.run = std::move(run);
  if (standing)
    place.standing = std::move(standing);
  ++place.version;
}

std::vector<run_history::entry> run_records::take_unwritten() {
  std::vector<run_history::entry> out;
  if (writing_)
    return out;
  for (auto& [id, place] : runs_)
    if (place.on_disk < place.version) {
      place.taken = place.version;
      out.push_back({place.run, {}, place.standing});
    }
  writing_ = !out.empty();
  return out;
}

bool run_records::written(std::optional<error> failure) {
  writing_ = false;
  const auto failed = failure.has_value();
  const auto failed_before = failure_.has_value();
  failure_ = std::move(failure);
  if (!failed) {
    for (auto& [id, place] : runs_) {
      place.on_disk = place.taken;
      if (place.on_disk == place.version)
        place.standing.reset();
    }
    std::erase_if(runs_, [](const auto& known) {
      const auto& place = known.second;
      return is_over(place.run.state) && place.on_disk == place.version;
    });
  }
  return failed != failed_before;
}

bool run_records::all_written() const {
  return std::all_of(runs_.begin(), runs_.end(), [](const auto& known) {
    return known.second.on_disk == known.second.version;
  });
}

void run_records::correct(std::vector<run_record>& from_history) const {
  for (auto& run : from_history)
    if (const auto* known = find(run.id))
      run = *known;
}

} // namespace graphmill
