#pragma once

#include "messages/base/error.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace graphmill {

struct hosted_share;

using share_ptr = std::shared_ptr<hosted_share>;

/// The shares of runs that a daemon hosts, one of each run, from their
/// deployment until they have ended. Used in the AGENT's handlers alone.
class hosted_shares {
public:
  /// @returns `ec::unavailable` if no share of the run is here.
  result<share_ptr> find(const std::string& run) const;

  /// Null: no share of this attempt is here. News of an earlier one do not
  /// count.
  share_ptr find(const std::string& run, std::uint32_t attempt) const;

  bool contains(const std::string& run) const { return runs_.contains(run); }
  /// Whether it is this share that is here, and not a later one of its run.
  bool contains(const share_ptr& share) const;

  /// A copy, for callers that may end some of them.
  std::vector<share_ptr> all() const;
  /// Those with actors, which reports of health are about.
  std::vector<share_ptr> prepared() const;

  void add(share_ptr share);
  void remove(const std::string& run) { runs_.erase(run); }

private:
  std::map<std::string, share_ptr> runs_;
};

} // namespace graphmill
