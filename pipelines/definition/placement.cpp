#include "pipelines/definition/placement.hpp"
#include "messages/base/pluralized.hpp"
#include "pipelines/definition/sizes/trainer_sizes.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <string>
#include <string_view>
#include <tuple>

namespace graphmill {

namespace {

constexpr auto nobody = std::uint16_t{0xffff};

/// CUDA devices that a daemon needs for trainers on `device`.
std::uint32_t devices_for(std::string_view device) {
  constexpr std::string_view prefix = "cuda";
  if (!device.starts_with(prefix))
    return 0;
  std::uint32_t index = 0;
  if (device.size() > prefix.size() + 1)
    std::from_chars(device.data() + prefix.size() + 1,
                    device.data() + device.size(), index);
  return index + 1;
}

constexpr const char* lower_products =
  "the environment variable OPENBLAS_CORETYPE=Haswell, which lowers products "
  "to what all CPUs since 2013 have";
constexpr const char* lower_exponentials =
  "the environment variable GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4, "
  "with which the C library computes exponentials alike on all CPUs";

/// What two daemons round differently, and the environment that ends it.
struct difference {
  std::string_view property;
  std::string remedy;
};

/// @param one, other Digests as of `arithmetic_here`; not the same.
difference difference_of(std::string_view one, std::string_view other) {
  const auto products = [](std::string_view digest) {
    return digest.substr(0, digest.find('/'));
  };
  const auto exponentials = [](std::string_view digest) {
    return digest.substr(std::min(digest.find('/'), digest.size()));
  };
  if (products(one) == products(other))
    return {"exponentials, though not products,", lower_exponentials};
  if (exponentials(one) == exponentials(other))
    return {"products", lower_products};
  return {"products and exponentials",
          fmt::format("{}, and {}", lower_products, lower_exponentials)};
}

/// A placement in the making, over all offers sorted by name.
class placer {
public:
  /// @param trainers_by The field that says how many trainers there are.
  placer(const definition& def, std::span<const daemon_offer> offers,
         std::string_view trainers_by)
    : def_(def), trainers_by_(trainers_by),
      offers_(offers.begin(), offers.end()) {
    if (!may_use_all())
      std::erase_if(
        offers_, [&names = def.placement.daemons](const auto& offer) {
          return std::ranges::find(names, offer.name) == names.end();
        });
    free_.resize(offers_.size());
    load_.resize(offers_.size(), 0);
    std::sort(offers_.begin(), offers_.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    const auto devices = devices_for(def.trainer.device);
    for (std::size_t d = 0; d < offers_.size(); ++d)
      free_[d] = offers_[d].cuda_devices >= devices ? offers_[d].slots : 0;
  }

  /// Looks up the daemons that the definition names.
  result<void> find_named() {
    GRAPHMILL_TRY(trainers_,
                  find("placement.trainers", def_.placement.trainers));
    GRAPHMILL_TRY(samplers_,
                  find("placement.samplers", def_.placement.samplers));
    // Who is not named takes no trainer.
    for (std::uint16_t d = 0; d < offers_.size() && !trainers_.empty(); ++d)
      if (!contains(trainers_, d))
        free_[d] = 0;
    return ok();
  }

  result<void> place_parts(part_id parts) {
    std::vector<part_id> orphans;
    for (part_id part = 0; part < parts; ++part) {
      const auto owner = least_loaded(part, {});
      if (owner == nobody)
        orphans.push_back(part);
      else
        ++load_[owner];
      owners_.push_back(owner);
    }
    add_replicas();
    if (!orphans.empty())
      return fail(ec::unavailable,
                  "no daemon{} serves part{} {} of {}: start one with "
                  "`graphmill node --serve`{}",
                  may_use_all() ? "" : " of `placement.daemons`",
                  orphans.size() == 1 ? "" : "s", fmt::join(orphans, ", "),
                  parts, may_use_all() ? "" : ", or name more of them");
    return ok();
  }

  result<void> place_ranks() {
    const auto ranks = static_cast<rank_id>(def_.trainer.replicas);
    const auto slots =
      std::accumulate(free_.begin(), free_.end(), std::uint64_t{0});
    if (slots < static_cast<std::uint64_t>(ranks))
      return too_few(slots);
    for (rank_id rank = 0; rank < ranks; ++rank) {
      const auto daemon = trainers_.empty() ? nearest(rank, ranks) : next();
      --free_[daemon];
      homes_.push_back(daemon);
    }
    return ok();
  }

  /// Else the weights would depend on who trains where.
  result<void> compare_arithmetic() const {
    if (def_.trainer.device != "cpu")
      return ok();
    const auto& first = offers_[homes_.front()];
    for (const auto home : homes_) {
      const auto& other = offers_[home];
      if (other.arithmetic_digest == first.arithmetic_digest)
        continue;
      const auto unlike =
        difference_of(first.arithmetic_digest, other.arithmetic_digest);
      return fail(
        ec::invalid_argument,
        "daemons \"{}\" ({}) and \"{}\" ({}) round {} differently, so "
        "that weights would depend on which of them trains what: "
        "name daemons of one kind in `placement.trainers`, with the "
        "same libraries, or start all daemons with {}",
        first.name, first.arithmetic, other.name, other.arithmetic,
        unlike.property, unlike.remedy);
    }
    return ok();
  }

  placement take() const {
    placement out;
    std::vector<std::uint16_t> position(offers_.size(), nobody);
    for (std::uint16_t d = 0; d < offers_.size(); ++d) {
      if (!contains(owners_, d) && !contains(homes_, d)
          && !contains(samplers_, d) && !is_replica(d))
        continue;
      position[d] = static_cast<std::uint16_t>(out.daemons.size());
      out.daemons.push_back({offers_[d].name, offers_[d].address});
    }
    for (auto owner : owners_)
      out.owner_of_part.push_back(position[owner]);
    for (const auto& replicas : replicas_) {
      auto& of = out.replicas_of_part.emplace_back().daemons;
      for (auto daemon : replicas)
        of.push_back(position[daemon]);
    }
    for (auto home : homes_)
      out.daemon_of_rank.push_back(position[home]);
    for (auto sampler : samplers_)
      out.samplers.push_back(position[sampler]);
    return out;
  }

private:
  using positions = std::vector<std::uint16_t>;

  bool may_use_all() const { return def_.placement.daemons.empty(); }

  static bool contains(const positions& where, std::uint16_t daemon) {
    return std::find(where.begin(), where.end(), daemon) != where.end();
  }

  result<positions> find(std::string_view field,
                         const std::vector<std::string>& names) const {
    positions out;
    for (const auto& name : names) {
      const auto it =
        std::find_if(offers_.begin(), offers_.end(),
                     [&name](const auto& offer) { return offer.name == name; });
      if (it == offers_.end())
        return fail(ec::invalid_argument,
                    "`{}` names daemon \"{}\", which is not in service; "
                    "there {} {}",
                    field, name, offers_.size() == 1 ? "is" : "are",
                    names_of_offers());
      out.push_back(static_cast<std::uint16_t>(it - offers_.begin()));
    }
    return out;
  }

  std::string names_of_offers() const {
    std::vector<std::string> names;
    for (const auto& offer : offers_)
      names.push_back(offer.name);
    return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
  }

  error too_few(std::uint64_t slots) const {
    const auto& device = def_.trainer.device;
    const auto on =
      devices_for(device) == 0 ? std::string{} : fmt::format(" on {}", device);
    const auto wanted = pluralized(def_.trainer.replicas, "trainer");
    const auto by_trainers = !trainers_.empty();
    const auto& named =
      by_trainers ? def_.placement.trainers : def_.placement.daemons;
    if (named.empty())
      return fail(ec::invalid_argument,
                  "`{}` asks for {}{}, but the cluster takes {}: start more "
                  "daemons, or daemons with more --slots",
                  trainers_by_, wanted, on, slots);
    return fail(ec::invalid_argument,
                "`{}` asks for {}{}, but the daemons of `placement.{}`, {}, "
                "take {}: name more of them, or start them with more --slots",
                trainers_by_, wanted, on, by_trainers ? "trainers" : "daemons",
                fmt::join(named, ", "), slots);
  }

  /// Who serves a part and is none of these.
  std::uint16_t least_loaded(part_id part, const positions& others) const {
    auto best = nobody;
    for (std::uint16_t d = 0; d < offers_.size(); ++d) {
      const auto& served = offers_[d].parts;
      if (std::find(served.begin(), served.end(), part) != served.end()
          && !contains(others, d) && (best == nobody || load_[d] < load_[best]))
        best = d;
    }
    return best;
  }

  /// After all parts have an owner, so that who that is does not depend on it.
  void add_replicas() {
    for (std::size_t part = 0; part < owners_.size(); ++part) {
      positions owners{owners_[part]};
      while (owners.size() < def_.placement.owners) {
        const auto next = least_loaded(static_cast<part_id>(part), owners);
        if (next == nobody)
          break;
        ++load_[next];
        owners.push_back(next);
      }
      replicas_.emplace_back(owners.begin() + 1, owners.end());
    }
  }

  bool is_replica(std::uint16_t daemon) const {
    return std::ranges::any_of(
      replicas_, [daemon](const auto& of) { return contains(of, daemon); });
  }

  /// The next named daemon in turn that has a free slot. @pre there is one
  std::uint16_t next() {
    for (;;) {
      const auto daemon = trainers_[turn_++ % trainers_.size()];
      if (free_[daemon] != 0)
        return daemon;
    }
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
      if (best == nobody || rating(d, near) > rating(best, near))
        best = d;
    }
    return best;
  }

  /// How well a daemon suits a rank.
  std::tuple<std::size_t, bool, std::uint32_t>
  rating(std::uint16_t daemon, const std::vector<std::size_t>& near) const {
    return {near[daemon], !contains(samplers_, daemon), free_[daemon]};
  }

  const definition& def_;
  std::string_view trainers_by_;
  std::vector<daemon_offer> offers_;
  std::vector<std::uint32_t> free_; ///< Slots.
  std::vector<std::size_t> load_;   ///< Parts.
  positions owners_;
  std::vector<positions> replicas_; ///< By part.
  positions homes_;
  positions trainers_; ///< As the definition names them.
  positions samplers_;
  std::size_t turn_ = 0;
};

} // namespace

std::vector<std::uint16_t> placement::owners_of(part_id part) const {
  return graphmill::owners_of(static_cast<std::size_t>(part), owner_of_part,
                              replicas_of_part);
}

std::vector<part_id> placement::parts_of(std::uint16_t daemon) const {
  std::vector<part_id> out;
  for (part_id part = 0; part < std::ssize(owner_of_part); ++part)
    if (std::ranges::count(owners_of(part), daemon) != 0)
      out.push_back(part);
  return out;
}

std::vector<rank_id> placement::ranks_of(std::uint16_t daemon) const {
  std::vector<rank_id> out;
  for (std::size_t rank = 0; rank < daemon_of_rank.size(); ++rank)
    if (daemon_of_rank[rank] == daemon)
      out.push_back(static_cast<rank_id>(rank));
  return out;
}

bool placement::can_spare(std::uint16_t daemon,
                          std::span<const std::uint16_t> gone) const {
  if (!ranks_of(daemon).empty() || std::ranges::count(samplers, daemon) != 0)
    return false;
  return std::ranges::all_of(parts_of(daemon), [&](part_id part) {
    return std::ranges::any_of(owners_of(part), [&](std::uint16_t owner) {
      return owner != daemon && std::ranges::count(gone, owner) == 0;
    });
  });
}

namespace {

/// With as many trainers as `trainer.replicas` says, and no other number.
/// @param trainers_by The field that this number is from, for the user.
result<placement> place_all(const definition& def, part_id parts,
                            std::span<const daemon_offer> offers,
                            std::string_view trainers_by = "trainer.replicas") {
  if (offers.size() >= nobody)
    return fail(ec::invalid_argument, "a run cannot use {} daemons",
                offers.size());
  placer work{def, offers, trainers_by};
  GRAPHMILL_TRYV(work.find_named());
  GRAPHMILL_TRYV(work.place_parts(parts));
  GRAPHMILL_TRYV(work.place_ranks());
  GRAPHMILL_TRYV(work.compare_arithmetic());
  return work.take();
}

/// The definition without those of `placement.trainers` that are not there,
/// unless that is nobody.
definition without_absent(definition def,
                          std::span<const daemon_offer> offers) {
  auto names = def.placement.trainers;
  std::erase_if(names, [offers](const auto& name) {
    return std::ranges::none_of(
      offers, [&name](const auto& offer) { return offer.name == name; });
  });
  if (!names.empty())
    def.placement.trainers = std::move(names);
  return def;
}

} // namespace

result<placement> place(const definition& def, part_id parts,
                        std::span<const daemon_offer> offers) {
  const auto& trainer = def.trainer;
  if (!trainer.is_elastic())
    return place_all(def, parts, offers);
  const auto present = without_absent(def, offers);
  auto most = trainer.replicas;
  auto least = trainer.min_replicas;
  if (!trainer.sizes.empty()) {
    most = 1;
    for (const auto& change : sizes_of(def))
      most = std::max(most, change.replicas);
    least = most;
  }
  for (;; --most) {
    auto placed =
      place_all(sized(present, most), parts, offers,
                trainer.sizes.empty() ? "trainer.replicas" : "trainer.sizes");
    if (placed || most <= least)
      return placed;
  }
}

} // namespace graphmill
