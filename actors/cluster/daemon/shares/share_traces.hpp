#pragma once

#include "actors/cluster/daemon/shares/hosted_shares.hpp"
#include "messages/base/error.hpp"
#include "messages/wire/frame.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace graphmill {

class gauge_board;

/// What the actors of shares did, for the coordinator to fetch. The traces of a
/// share stay after its end, until another one is prepared, so that a failed
/// run can be examined. Their memory has a fixed size for each run that may be
/// active at once. Used in the AGENT's handlers alone.
class share_traces {
public:
  /// @param shares Outlives this. @param daemon Its name.
  share_traces(const hosted_shares& shares, std::string daemon);

  /// A share is prepared. Traces of runs that are over make room for its own.
  void add(const hosted_share& share);

  /// Answers a request for spans.
  result<payload> spans(const payload& request) const;

private:
  struct traced {
    std::uint32_t attempt = 0;
    std::shared_ptr<const gauge_board> board;
  };

  const hosted_shares& shares_;
  std::string daemon_;
  std::map<std::string, traced> traced_; ///< By run.
};

} // namespace graphmill
