#pragma once

#include "actors/base/interfaces.hpp"
#include "actors/cluster/coordinator/leading/run_leader.hpp"
#include "actors/cluster/coordinator/leading/run_places.hpp"
#include "actors/cluster/coordinator/leading/run_queue.hpp"
#include "actors/cluster/coordinator/leading/run_starter.hpp"
#include "actors/cluster/coordinator/leading/submissions.hpp"
#include "actors/cluster/coordinator/members/cluster_daemons.hpp"
#include "actors/cluster/coordinator/members/lead_guard.hpp"
#include "actors/cluster/coordinator/outside/cluster_notices.hpp"
#include "actors/cluster/coordinator/outside/coordinator_config.hpp"
#include "actors/cluster/coordinator/records/run_archive.hpp"
#include "actors/cluster/coordinator/records/run_watchers.hpp"
#include "actors/cluster/coordinator/runs/active_runs.hpp"
#include "actors/cluster/coordinator/runs/run_filing.hpp"
#include "actors/cluster/coordinator/runs/submitted_run.hpp"
#include "actors/cluster/history/run_history.hpp"
#include "actors/cluster/history/state_lock.hpp"
#include "pipelines/definition/definition_file.hpp"
#include "tests/actors/cluster/coordinator/fake_port.hpp"
#include "tests/partition/dataset/example.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/null_sink.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace graphmill::test {

/// Does nothing, and notes what it is told.
class noting_conductor : public run_conductor {
public:
  explicit noting_conductor(std::vector<std::string>& told) : told_(told) {}

  void fail_run(error reason) override { told_.push_back(reason.message); }
  void lose_member(std::size_t member, const error&) override {
    told_.push_back("lost " + std::to_string(member));
  }
  void cancel(bool) override { told_.emplace_back("cancel"); }
  void pause() override { told_.emplace_back("pause"); }
  void take(step_result) override { told_.emplace_back("step"); }
  void stopped(rank_id) override { told_.emplace_back("stopped"); }

private:
  std::vector<std::string>& told_;
};

/// All that leads runs on a cluster, but for sockets, threads and actors. The
/// test is the daemons and the conductors.
struct led_cluster {
  led_cluster() {
    std::filesystem::create_directory(config.data);
    std::filesystem::create_directory(config.runs);
    value_of(write_example(config.data));
    config.graph = std::make_shared<const partitioned_graph>(
      value_of(partitioned_graph::open(config.data)));
    config.offer = offer();
    config.history = std::make_shared<run_history>(
      value_of(run_history::open(config.runs / "runs.sqlite", 100)));
    config.lock = std::make_shared<const state_lock>(
      value_of(state_lock::take(config.runs)));
    config.log = std::make_shared<spdlog::logger>(
      "lead", std::make_shared<spdlog::sinks::null_sink_mt>());
    whole.emplace(*this);
  }

  join_request offer() const {
    join_request out;
    out.dataset = config.graph->info().name;
    out.dataset_digest = config.graph->info().digest;
    out.part_digests = {config.graph->info().digest};
    out.parts = {0};
    return out;
  }

  /// A daemon joins, and has been reached.
  void join(const std::string& name, const std::string& incarnation = "1") {
    whole->daemons.registry().join({name, incarnation, "tcp://" + name},
                                   offer());
    whole->queue.daemon_returned(name);
    whole->starter.start();
    port.settle();
  }

  /// A daemon is lost.
  void lose(const std::string& name) {
    peer_event event;
    event.change = peer_event::kind::lost;
    event.identity.address = "tcp://" + name;
    event.reason = "killed";
    whole->daemons.on_peer(event);
    port.settle();
  }

  /// A client submits a run. @returns its id.
  std::string submit(const std::string& definition) {
    std::optional<result<payload>> answer;
    incoming_request request;
    request.data = encode_definition_body(
      parse_definition("dataset: example\n" + definition, "test.yaml").value);
    request.reply =
      responder{[&answer](result<payload> came) { answer = std::move(came); }};
    whole->submissions.submit(request);
    port.settle();
    CATCH_REQUIRE(answer);
    value_of(*answer);
    const auto& queue = whole->queue.all();
    return queue.empty() ? whole->active.all().back()->id : queue.back()->id;
  }

  /// A run that is on.
  submitted_run& run(const std::string& id) {
    const auto found = whole->active.find(id);
    CATCH_REQUIRE(found);
    return *found;
  }

  std::string message_of(const std::string& id) const {
    const auto* known = whole->archive.find(id);
    CATCH_REQUIRE(known);
    return known->message;
  }

  run_record record_in_history(const std::string& id) {
    auto found = value_of(config.history->get(id));
    CATCH_REQUIRE(found);
    return found->record;
  }

  struct objects {
    explicit objects(led_cluster& of)
      : notices(of.config, of.port.self().name),
        daemons(of.port, notices, of.config,
                {[this](const std::string& daemon, const error& reason) {
                   leader.lose(daemon, reason);
                 },
                 [](const peer_identity&) {}, [](const std::string&, bool) {},
                 [this] { starter.start(); },
                 [this](const std::string& daemon) {
                   return active.needing(daemon);
                 }}),
        lead(of.port, notices, daemons.registry(), of.config,
             {[](const error&) {}, [](const std::string&, const error&) {}}),
        archive(of.port, notices, lead, of.config.history, of.config.lock,
                {[] {},
                 [this](bool done) {
                   if (done)
                     leader.recorded();
                   starter.start();
                 }}),
        watchers(archive, 1), files(of.port, of.config.runs, of.folder / "up"),
        parts{of.config, of.port, notices,  lead,
              daemons,   archive, watchers, active},
        places(daemons.registry(), active, of.config.graph->part_count()),
        starter(parts, queue, places,
                {[this](const run_ptr& run, placement where) {
                   leader.begin(run, std::move(where));
                 },
                 [this](const run_ptr& run, const error& reason) {
                   leader.give_up(run, reason);
                 }}),
        leader(
          parts, queue, starter, places,
          {[&of](submitted_run& run) {
             if (of.has_no_threads)
               throw std::runtime_error("no thread is left");
             run.on.conductor =
               std::make_unique<noting_conductor>(of.conductors_told);
             run.life.led();
           },
           [] {},
           [&of](const std::string& run, const std::optional<error>& failure) {
             of.fed.emplace_back(run, failure);
           }}),
        submissions(parts, files, queue, starter, places, [] {}) {
      // nop
    }

    active_runs active;
    cluster_notices notices;
    cluster_daemons daemons;
    lead_guard lead;
    run_archive archive;
    run_watchers watchers;
    file_service files;
    leading_parts parts;
    run_queue queue;
    run_places places;
    run_starter starter;
    run_leader leader;
    graphmill::submissions submissions;
  };

  temp_folder folder;
  coordinator_config config{.data = folder / "data", .runs = folder / "runs"};
  fake_port port;
  std::vector<std::string> conductors_told;
  /// Feeds that are over, and why.
  std::vector<std::pair<std::string, std::optional<error>>> fed;
  bool has_no_threads = false; ///< No conductor can be spawned.
  std::optional<objects> whole;
};

} // namespace graphmill::test
