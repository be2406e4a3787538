#pragma once

#include "messages/definition/definition.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace graphmill {

/// The stages of a run in the order of reports: as a batch passes them, each
/// after the services that it asks.
enum class stage_kind : std::uint8_t {
  sampling_service,
  sampler,
  batch_proxy,
  feature_service,
  fetcher,
  batcher,
  trainer,
  gradient_group, // The last one.
};
inline constexpr auto stage_kinds =
  static_cast<std::size_t>(stage_kind::gradient_group) + 1;

/// A kind of stage as a plan shows it.
struct planned_stage {
  std::string name;
  std::uint32_t replicas = 0;
  std::uint32_t threads = 0; ///< Of its own, per replica; 0: shared ones.
  std::string work;          ///< What it does, for people.
};

/// How much of a run there is: in one process, or in all of them together.
struct run_extent {
  std::uint32_t parts = 0;
  std::uint32_t trainers = 0;
  std::uint32_t samplers = 0; ///< Whichever trainers they sample for.
  std::uint32_t proxies = 0;  ///< Those that ask samplers of other processes.
};

/// What reports and plans say of a kind of stage: both are made of one list, so
/// that they use the same names. Value type.
struct listed_stage {
  stage_kind kind = stage_kind::sampler;
  std::string name;           ///< In reports and errors.
  std::uint32_t workers = 0;  ///< In reports.
  planned_stage planned = {}; ///< Without a name: plans leave it out.
};

/// One entry for each kind, in the order of plans: each before the service that
/// it asks.
inline std::vector<listed_stage> list_stages(const definition& def,
                                             const run_extent& of) {
  const auto fetchers = of.trainers == 0 ? 0u : def.fetch.replicas;
  const auto groups = of.trainers == 0 ? 0u : 1u;
  return {
    {stage_kind::sampler,
     "sampler",
     of.samplers,
     {"sampler", of.samplers, 0, "builds blocks hop by hop"}},
    {stage_kind::batch_proxy, "sampler proxy", of.proxies},
    {stage_kind::sampling_service,
     "sampling service",
     of.parts * def.sampler.threads,
     {"sampling service", of.parts, def.sampler.threads,
      "draws the neighbours of one part's nodes"}},
    {stage_kind::fetcher,
     "fetcher",
     fetchers,
     {"fetcher", fetchers, 0, "collects the rows of a batch's nodes"}},
    {stage_kind::feature_service,
     "feature service",
     of.parts * def.fetch.threads,
     {"feature service", of.parts, def.fetch.threads,
      "gathers the rows of one part's nodes"}},
    {stage_kind::batcher,
     "batcher",
     of.trainers,
     {"batcher", of.trainers, 0, "assembles a batch as its trainer takes it"}},
    {stage_kind::trainer,
     "trainer",
     of.trainers,
     {"trainer", of.trainers, def.trainer.threads,
      "forward, loss, backward on " + def.trainer.device}},
    {stage_kind::gradient_group,
     "gradient group",
     groups,
     {"gradient group", groups, 0, "adds up the gradients of all trainers"}},
  };
}

} // namespace graphmill
