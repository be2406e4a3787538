#include "pipelines/placement.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace graphmill {

namespace {

constexpr auto nobody = std::uint16_t{0xffff};

/// A placement in the making, over all offers sorted by name.
class placer {
public:
  explicit placer(std::span<const daemon_offer> offers)
    : offers_(offers.begin(), offers.end()), free_(offers.size()),
      load_(offers.size(), 0) {
    std::sort(offers_.begin(), offers_.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    for (std::size_t d = 0; d < offers_.size(); ++d)
      free_[d] = offers_[d].slots;
  }

  result<void> place_parts(part_id parts) {
    std::vector<part_id> orphans;
    for (part_id part = 0; part < parts; ++part) {
      const auto owner = least_loaded(part);
      if (owner == nobody)
        orphans.push_back(part);
      else
        ++load_[owner];
      owners_.push_back(owner);
    }
    if (!orphans.empty())
      return fail(ec::unavailable,
                  "no daemon serves part{} {} of {}: start one with `graphmill "
                  "node --serve`",
                  orphans.size() == 1 ? "" : "s", fmt::join(orphans, ", "),
                  parts);
    return ok();
  }

  result<void> place_ranks(rank_id ranks) {
    const auto slots =
      std::accumulate(free_.begin(), free_.end(), std::uint64_t{0});
    if (slots < static_cast<std::uint64_t>(ranks))
      return fail(ec::invalid_argument,
                  "`trainer.replicas` asks for {} trainers, but the cluster "
                  "takes {}: start more daemons, or daemons with more --slots",
                  ranks, slots);
    for (rank_id rank = 0; rank < ranks; ++rank) {
      const auto daemon = nearest(rank, ranks);
      --free_[daemon];
      homes_.push_back(daemon);
    }
    return ok();
  }

  placement take() const {
    placement out;
    std::vector<std::uint16_t> position(offers_.size(), nobody);
    for (std::uint16_t d = 0; d < offers_.size(); ++d) {
      if (std::count(owners_.begin(), owners_.end(), d) == 0
          && std::count(homes_.begin(), homes_.end(), d) == 0)
        continue;
      position[d] = static_cast<std::uint16_t>(out.daemons.size());
      out.daemons.push_back({offers_[d].name, offers_[d].address});
    }
    for (auto owner : owners_)
      out.owner_of_part.push_back(position[owner]);
    for (auto home : homes_)
      out.daemon_of_rank.push_back(position[home]);
    return out;
  }

private:
  std::uint16_t least_loaded(part_id part) const {
    auto best = nobody;
    for (std::uint16_t d = 0; d < offers_.size(); ++d) {
      const auto& served = offers_[d].parts;
      if (std::find(served.begin(), served.end(), part) != served.end()
          && (best == nobody || load_[d] < load_[best]))
        best = d;
    }
    return best;
  }

  /// The daemon with a free slot that owns most of a rank's parts.
  std::uint16_t nearest(rank_id rank, rank_id ranks) const {
    std::vector<std::size_t> near(offers_.size(), 0);
    for (auto p = static_cast<std::size_t>(rank); p < owners_.size();
         p += static_cast<std::size_t>(ranks))
      ++near[owners_[p]];
    auto best = nobody;
    for (std::uint16_t d = 0; d < offers_.size(); ++d) {
      if (free_[d] == 0)
        continue;
      if (best == nobody || near[d] > near[best]
          || (near[d] == near[best] && free_[d] > free_[best]))
        best = d;
    }
    return best;
  }

  std::vector<daemon_offer> offers_;
  std::vector<std::uint32_t> free_; ///< Slots.
  std::vector<std::size_t> load_;   ///< Parts.
  std::vector<std::uint16_t> owners_;
  std::vector<std::uint16_t> homes_;
};

template <class T>
std::vector<T> positions(const std::vector<std::uint16_t>& in,
                         std::uint16_t daemon) {
  std::vector<T> out;
  for (std::size_t i = 0; i < in.size(); ++i)
    if (in[i] == daemon)
      out.push_back(static_cast<T>(i));
  return out;
}

} // namespace

std::vector<part_id> placement::parts_of(std::uint16_t daemon) const {
  return positions<part_id>(owner_of_part, daemon);
}

std::vector<rank_id> placement::ranks_of(std::uint16_t daemon) const {
  return positions<rank_id>(daemon_of_rank, daemon);
}

result<placement> place(const definition& def, part_id parts,
                        std::span<const daemon_offer> offers) {
  if (offers.size() >= nobody)
    return fail(ec::invalid_argument, "a run cannot use {} daemons",
                offers.size());
  placer work{offers};
  TRYV(work.place_parts(parts));
  TRYV(work.place_ranks(static_cast<rank_id>(def.trainer.replicas)));
  return work.take();
}

} // namespace graphmill
