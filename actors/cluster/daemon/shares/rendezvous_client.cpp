#include "actors/cluster/daemon/shares/rendezvous_client.hpp"

#include "actors/base/timeouts.hpp"
#include "messages/wire/run.hpp"

#include <algorithm>
#include <future>

namespace graphmill {

namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

class rendezvous_client final : public rendezvous_store {
public:
  rendezvous_client(std::shared_ptr<transport> net, std::string coordinator,
                    std::string run)
    : net_(std::move(net)), coordinator_(std::move(coordinator)),
      run_(std::move(run)) {}

  result<void> set(const std::string& key, const std::string& value) override {
    GRAPHMILL_TRYV(ask({run_, key, value, {}}));
    return ok();
  }

  result<std::string> get(const std::string& key,
                          clock::time_point deadline) override {
    for (;;) {
      const auto left =
        std::clamp(duration_cast<milliseconds>(deadline - clock::now()),
                   milliseconds{0}, timeouts::rendezvous_wait);
      GRAPHMILL_TRY(auto answer, ask({run_, key, std::nullopt, left}));
      GRAPHMILL_TRY(auto value, decode_rendezvous_value(answer));
      if (value)
        return std::move(*value);
      if (clock::now() >= deadline)
        return fail(ec::timeout, "\"{}\" is not set", key);
    }
  }

private:
  result<payload> ask(const rendezvous_request& request) {
    auto promise = std::make_shared<std::promise<result<payload>>>();
    auto answer = promise->get_future();
    call_options options;
    options.deadline = request.wait + timeouts::rendezvous_answer;
    net_->request(
      coordinator_, method::rendezvous, encode(request), options,
      [promise](result<payload> came) { promise->set_value(std::move(came)); });
    return answer.get(); // The transport keeps the deadline.
  }

  std::shared_ptr<transport> net_;
  std::string coordinator_;
  std::string run_;
};

} // namespace

std::shared_ptr<rendezvous_store> rendezvous_at(std::shared_ptr<transport> net,
                                                std::string coordinator,
                                                std::string run) {
  return std::make_shared<rendezvous_client>(
    std::move(net), std::move(coordinator), std::move(run));
}

} // namespace graphmill
