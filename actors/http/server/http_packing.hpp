#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace graphmill {

/// Packs bodies for those who take gzip (RFC 1952). Pages keep what they have
/// made for as long as nothing new is known, and many ask for the same: each
/// body is packed once. Metrics become a tenth of what they were, and what the
/// kernel copies for an answer is most of what a scrape costs. Used by the
/// server's thread alone.
class http_packing {
public:
  /// The body packed, or the same one if that is not worth it.
  std::shared_ptr<const std::string>
  packed(const std::shared_ptr<const std::string>& body);

private:
  /// Two packets: less is sent as fast as it is.
  static constexpr std::size_t least_bytes = 2800;
  static constexpr std::size_t most_kept = 8;

  struct pair {
    std::weak_ptr<const std::string> body; ///< Gone: nobody asks for it again.
    std::shared_ptr<const std::string> packed;
  };
  std::vector<pair> kept_; ///< The oldest first.
};

} // namespace graphmill
