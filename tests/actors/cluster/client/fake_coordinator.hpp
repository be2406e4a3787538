#pragma once

#include "actors/transport/transport.hpp"
#include "messages/wire/cluster.hpp"
#include "tests/support/temp_folder.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace graphmill::test {

/// Answers clients as a test says, over a real transport on loopback, if they
/// have its key.
class fake_coordinator {
public:
  using handler = std::function<result<payload>(const payload&)>;

  /// @param key Of its cluster; empty: it makes one.
  explicit fake_coordinator(const std::filesystem::path& key = {});

  const std::string& address() const { return address_; }
  std::filesystem::path key_file() const { return folder_ / "key"; }

  /// Answers requests of a method; others are refused.
  void on(method method_id, handler answer);

  /// How many requests of a method came.
  int count(method method_id) const;

  /// Ends and starts again at the same address, as another incarnation.
  void restart();

private:
  void start(const std::string& listen);
  void serve(const incoming_request& request);

  temp_folder folder_;
  mutable std::mutex mutex_;
  std::map<method, handler> handlers_;
  std::map<method, int> counts_;
  std::string address_;
  std::unique_ptr<transport> transport_; ///< Last: uses all of the above.
};

/// An address where nobody listens.
std::string address_of_nobody();

/// A payload without anything.
inline result<payload> nothing(const payload&) {
  return payload{};
}

} // namespace graphmill::test
