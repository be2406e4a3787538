#include "actors/run/member/node_order.hpp"
#include "tests/actors/stages/stages.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace graphmill::test {

namespace {

using found_order = result<std::shared_ptr<const std::vector<node_id>>>;

/// Looks for the order of nodes once it is told to.
class order_asker {
public:
  using interface = caf::typed_actor<takes<tick>>;
  static constexpr const char* name = "order_asker";

  order_asker(interface::pointer self,
              std::shared_ptr<const partitioned_graph> graph,
              std::vector<feature_service_actor> services,
              std::shared_ptr<std::vector<found_order>> found)
    : search_(self, std::move(graph), std::move(services)),
      found_(std::move(found)) {}

  interface::behavior_type make_behavior() {
    return {[this](const tick&) {
      search_.find(
        [this](found_order order) { found_->push_back(std::move(order)); });
    }};
  }

private:
  node_order<std::remove_pointer_t<interface::pointer>> search_;
  std::shared_ptr<std::vector<found_order>> found_;
};

/// A graph in two parts, whose nodes are dealt out in turn.
struct ordered_parts {
  using led_service = led_stage<gather_job, gather_answer>;

  explicit ordered_parts(std::int64_t nodes) {
    assignment owners(1);
    for (std::int64_t i = 0; i < nodes; ++i)
      owners[0].push_back(static_cast<part_id>(i % 2));
    graph = cut(cycle(nodes), 2, owners);
    std::vector<feature_service_actor> handles;
    for (auto& service : services) {
      service.spawn(sim, [this](const gather_job& job) {
        for (const auto& item : job.items)
          for (std::size_t i = 0; i < item.ids.size(); ++i)
            static_cast<node_id*>(item.out)[i] = original_of(item.ids[i]);
        return gather_answer{};
      });
      handles.push_back(service.handle);
    }
    asker = sim.own(
      spawn_state<order_asker>(sim.system(), graph.graph, handles, found));
  }

  node_id original_of(node_id global) const {
    const auto known = graph.original[0][static_cast<std::size_t>(global)];
    return known == forged ? said : known;
  }

  /// What has come of asking; just one thing does.
  const found_order& ask() {
    post(asker, tick{});
    sim.run();
    CATCH_REQUIRE(found->size() == 1);
    return found->front();
  }

  simulation sim;
  cut_graph graph;
  led_service services[2];
  node_id forged = -1; ///< About which node a service lies,
  node_id said = -1;   ///< and what it says.
  std::shared_ptr<std::vector<found_order>> found =
    std::make_shared<std::vector<found_order>>();
  order_asker::interface asker;
};

} // namespace

CATCH_TEST_CASE("the order of nodes is found piece by piece",
                "[actors][node_order]") {
  ordered_parts parts{140000};
  const auto& order = parts.ask();
  CATCH_REQUIRE(order);
  CATCH_CHECK(*order.value() == parts.graph.to_global[0]);
  for (const auto& service : parts.services) {
    CATCH_REQUIRE(service.jobs().size() == 2); // 65536 of 70000, and the rest.
    CATCH_CHECK(service.jobs()[0].items.at(0).ids.size() == 65536);
    CATCH_CHECK(service.jobs()[1].items.at(0).ids.size() == 70000 - 65536);
  }
}

CATCH_TEST_CASE("what is no order of nodes is refused",
                "[actors][node_order]") {
  for (const auto said : {node_id{3}, node_id{10}, node_id{-1}}) {
    CATCH_INFO(said);
    ordered_parts parts{10};
    parts.forged = 8; // In part 0, as the even ones are; 3 comes in part 1.
    parts.said = said;
    const auto& order = parts.ask();
    CATCH_REQUIRE_FALSE(order);
    CATCH_CHECK(order.error().code == ec::invalid_data);
    CATCH_CHECK(order.error().message.find(said == 3 ? "part 1 says that node"
                                                     : "part 0 says that node")
                == 0);
  }
}

CATCH_TEST_CASE("a part that cannot be asked has no order",
                "[actors][node_order]") {
  ordered_parts parts{10};
  parts.services[0].script->hold = true;
  post(parts.asker, tick{});
  parts.sim.run();
  CATCH_CHECK(parts.found->empty());
  parts.services[0].answer(parts.sim, 0, fail(ec::unavailable, "gone"));
  CATCH_REQUIRE(parts.found->size() == 1);
  CATCH_CHECK(parts.found->front().error().code == ec::unavailable);
  CATCH_CHECK(parts.services[1].jobs().empty()); // One after the other.
}

} // namespace graphmill::test
