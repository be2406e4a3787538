#include "actors/cluster/coordinator/members/daemon_registry.hpp"
#include "actors/cluster/coordinator/runs/active_runs.hpp"
#include "actors/cluster/coordinator/runs/health_reports.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace graphmill::test {

namespace {

using namespace std::chrono_literals;

const health_reports::clock::time_point reports_began{1000s};

join_request offer() {
  return {"wordnet", "abc", {"x"}, {0}, 1, "host"};
}

peer_identity peer(const std::string& name,
                   const std::string& incarnation = "1") {
  return {name, incarnation, "tcp://" + name};
}

/// A cluster of daemons a and b, and the runs that are on.
struct reported_cluster {
  reported_cluster() {
    members.join(peer("a"), offer());
    members.join(peer("b"), offer());
  }

  void begin(const std::string& run, std::vector<std::string> daemons) {
    auto begun = std::make_shared<submitted_run>();
    begun->id = run;
    for (const auto& name : daemons)
      begun->on.where.daemons.push_back({name, "tcp://" + name});
    begun->on.health.begin(run, std::move(daemons), 1, 1);
    begun->on.health.led({}, reports_began);
    on.add(std::move(begun));
  }

  result<health_reports::taken> take(const peer_identity& who,
                                     const std::string& run,
                                     std::chrono::milliseconds after = 0s) {
    daemon_health report;
    report.daemon = "whoever";
    report.run = run;
    report.cores = 1.5;
    return reports.take(who, encode(report), members, on,
                        reports_began + after);
  }

  std::size_t told_of(const std::string& run) const {
    return on.find(run)->on.health.tell_all(reports_began).daemons.size();
  }

  bool has_load(const std::string& name) const {
    std::vector<daemon_status> out(1);
    out[0].name = name;
    reports.loads().add_to(out, reports_began);
    return out[0].load.has_value();
  }

  daemon_registry members{offer()};
  active_runs on;
  health_reports reports;
};

} // namespace

CATCH_TEST_CASE("a report is of the daemon that sent it, and of its run",
                "[cluster][health]") {
  reported_cluster cluster;
  cluster.begin("r", {"a", "b"});
  cluster.begin("s", {"a"});
  CATCH_CHECK(value_of(cluster.take(peer("a"), "s")).run == "s");
  CATCH_CHECK(cluster.told_of("r") == 0);
  CATCH_CHECK(cluster.told_of("s") == 1);
  const auto told = cluster.on.find("s")->on.health.tell_all(reports_began);
  CATCH_CHECK(told.daemons[0].daemon == "a");
  CATCH_CHECK_FALSE(cluster.has_load("a"));
  CATCH_CHECK(value_of(cluster.take(peer("a"), "")).run.empty());
  CATCH_CHECK(cluster.has_load("a"));
  CATCH_CHECK_FALSE(cluster.has_load("whoever"));
}

CATCH_TEST_CASE("of who is not in the cluster nothing is taken",
                "[cluster][health]") {
  reported_cluster cluster;
  cluster.begin("r", {"a"});
  const auto refused = [&cluster](const peer_identity& who,
                                  const std::string& run) {
    return error_of(cluster.take(who, run)).code == ec::not_found;
  };
  CATCH_CHECK(refused(peer("stranger"), ""));
  CATCH_CHECK(refused(peer("stranger"), "r"));
  // An earlier process with the name, and a later one that has yet to join.
  CATCH_CHECK(refused(peer("a", "0"), ""));
  CATCH_CHECK(refused(peer("a", "2"), "r"));
  // One of the cluster that the run does not use, and a run that is over.
  CATCH_CHECK(refused(peer("b"), "r"));
  CATCH_CHECK(refused(peer("a"), "s"));
  CATCH_CHECK_FALSE(cluster.has_load("stranger"));
  CATCH_CHECK_FALSE(cluster.has_load("a"));
  CATCH_CHECK(cluster.told_of("r") == 0);
}

CATCH_TEST_CASE("a daemon may tell of itself and of all its runs each second",
                "[cluster][health]") {
  reported_cluster cluster;
  cluster.begin("r", {"a", "b"});
  cluster.begin("s", {"a"});
  for (int second = 0; second < 1000; ++second)
    for (const auto* run : {"", "r", "s"})
      CATCH_REQUIRE(cluster.take(peer("a"), run, second * 1s));
}

CATCH_TEST_CASE("who tells too often is refused and not decoded, others are "
                "heard",
                "[cluster][health]") {
  reported_cluster cluster;
  cluster.begin("r", {"a", "b"});
  cluster.begin("s", {"b"});
  const auto taken = [&cluster](const peer_identity& who) {
    int out = 0;
    for (int i = 0; i < 100; ++i)
      out += cluster.take(who, "").has_value();
    return out;
  };
  // Five at once of itself, and five for each of its runs.
  CATCH_CHECK(taken(peer("a")) == 10);
  CATCH_CHECK(taken(peer("b")) == 15);
  CATCH_CHECK(error_of(cluster.take(peer("a"), "")).code == ec::unavailable);
  const payload garbage{frame::copy(std::vector<std::byte>(7)), {}};
  CATCH_CHECK(error_of(cluster.reports.take(peer("a"), garbage, cluster.members,
                                            cluster.on, reports_began))
                .code
              == ec::unavailable);
  CATCH_CHECK(error_of(cluster.reports.take(peer("a"), garbage, cluster.members,
                                            cluster.on, reports_began + 1s))
                .code
              == ec::invalid_data);
}

} // namespace graphmill::test
