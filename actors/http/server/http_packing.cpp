#include "actors/http/server/http_packing.hpp"

#include <boost/iostreams/compose.hpp>
#include <boost/iostreams/copy.hpp>
#include <boost/iostreams/device/array.hpp>
#include <boost/iostreams/device/back_inserter.hpp>
#include <boost/iostreams/filter/gzip.hpp>

#include <algorithm>

namespace graphmill {

namespace {

namespace io = boost::iostreams;

/// The fastest way: metrics are so much alike that others gain little. Throws
/// when memory runs out, and so never gives a part.
std::string gzip_of(const std::string& text) {
  const io::gzip_params fast{io::gzip::best_speed};
  std::string out;
  io::copy(io::array_source{text.data(), text.size()},
           io::compose(io::gzip_compressor{fast}, io::back_inserter(out)));
  return out;
}

} // namespace

std::shared_ptr<const std::string>
http_packing::packed(const std::shared_ptr<const std::string>& body) {
  if (body->size() < least_bytes)
    return body;
  const auto known = std::ranges::find_if(kept_, [&body](const auto& one) {
    return !one.body.owner_before(body) && !body.owner_before(one.body);
  });
  if (known != kept_.end())
    return known->packed;
  std::erase_if(kept_, [](const auto& one) { return one.body.expired(); });
  if (kept_.size() >= most_kept)
    kept_.erase(kept_.begin());
  kept_.push_back({body, std::make_shared<const std::string>(gzip_of(*body))});
  return kept_.back().packed;
}

} // namespace graphmill
