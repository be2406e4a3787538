#include "pipelines/health/verdict.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

using namespace graphmill;

// Two daemons with a part and a trainer each. In the scene as it is made, the
// trainers have no time to spare; each case slows one thing, and the waits that
// this causes are those that the actors of such a run count.

namespace {

using change = std::function<void(run_health&)>;

actor_health actor(actor_kind kind, std::uint32_t workers, double busy,
                   double waiting, double starved, double stalled) {
  actor_health out;
  out.kind = kind;
  out.workers = workers;
  out.busy = busy;
  out.waiting = waiting;
  out.starved = starved;
  out.stalled = stalled;
  out.items = out.answers = 100;
  out.mean_latency = out.p99_latency = 0.001;
  return out;
}

daemon_health daemon_of(const std::string& name, std::int32_t place,
                        const std::string& other) {
  daemon_health out;
  out.daemon = name;
  auto& all = out.actors;
  all.push_back(actor(actor_kind::sampling_service, 2, 0.2, 0, 0.8, 0));
  all.push_back(actor(actor_kind::feature_service, 2, 0.2, 0, 0.8, 0));
  all.push_back(actor(actor_kind::sampling_proxy, 1, 0, 0.2, 0.8, 0));
  all.push_back(actor(actor_kind::feature_proxy, 1, 0, 0.2, 0.8, 0));
  all[0].part = all[1].part = place;
  all[2].part = all[3].part = 1 - place;
  all[2].peer = all[3].peer = other;
  all[2].mean_latency = all[3].mean_latency = 0.002;
  all.push_back(actor(actor_kind::sampler, 2, 0.2, 0.1, 0, 0.7));
  all.push_back(actor(actor_kind::fetcher, 2, 0.1, 0.2, 0.7, 0));
  all.push_back(actor(actor_kind::batcher, 1, 0.2, 0, 0.8, 0));
  all.push_back(actor(actor_kind::trainer, 1, 0.95, 0.03, 0.02, 0));
  all.back().rank = place;
  all.push_back(actor(actor_kind::gradient_group, 1, 0, 0.03, 0.97, 0));
  all.push_back(actor(actor_kind::dispatcher, 1, 0.1, 0, 0, 0.9));
  all.back().peak_batches = all.back().most_batches = 4;
  all.back().most_bytes = 1'000'000;
  return out;
}

run_health scene() {
  run_health out;
  out.daemons = {daemon_of("a", 0, "b"), daemon_of("b", 1, "a")};
  return out;
}

actor_health& at(run_health& run, std::size_t daemon, actor_kind kind) {
  return *std::ranges::find(run.daemons[daemon].actors, kind,
                            &actor_health::kind);
}

void spend(actor_health& who, double busy, double waiting, double starved) {
  who.busy = busy;
  who.waiting = waiting;
  who.starved = starved;
  who.stalled = 0;
}

/// The trainer of a daemon starves, and the other one waits for it.
void starve(run_health& run, std::size_t daemon) {
  spend(at(run, daemon, actor_kind::trainer), 0.3, 0.05, 0.65);
  spend(at(run, 1 - daemon, actor_kind::trainer), 0.3, 0.65, 0.05);
}

/// A stage of `a` has no time to spare, and a line of batches before it.
void fill_stage(run_health& run, actor_kind kind, double busy, double waiting) {
  starve(run, 0);
  auto& stage = at(run, 0, kind);
  spend(stage, busy, waiting, 1 - busy - waiting);
  stage.queue = 2;
}

void slow_down(actor_health& asked, double busy, double latency) {
  spend(asked, busy, 0, 1 - busy);
  asked.mean_latency = asked.p99_latency = latency;
}

/// Samplers of `b` sample for `a`, too.
void sample_elsewhere(run_health& run, double there) {
  starve(run, 0);
  auto proxy = actor(actor_kind::batch_proxy, 4, 0.02, 0.95, 0, 0.03);
  auto link = actor(actor_kind::batch_link, 1, 0, 0.97, 0.03, 0);
  link.peer = "b";
  link.mean_latency = 0.2;
  run.daemons[0].actors.push_back(proxy);
  run.daemons[0].actors.push_back(link);
  slow_down(at(run, 1, actor_kind::sampler), 0.9, there);
}

/// What batches of a daemon may take and have taken.
struct told_credit {
  std::uint64_t most_batches = 4;
  std::uint64_t peak_batches = 4;
  std::uint64_t peak_bytes = 0; ///< Of a million that there may be.
};

/// All trainers starve, while dispatchers wait for credit.
void hold_back(run_health& run, const told_credit& of_each) {
  for (std::size_t daemon : {0, 1}) {
    spend(at(run, daemon, actor_kind::trainer), 0.35, 0.05, 0.6);
    auto& dispatcher = at(run, daemon, actor_kind::dispatcher);
    dispatcher.most_batches = of_each.most_batches;
    dispatcher.peak_batches = of_each.peak_batches;
    dispatcher.peak_bytes = of_each.peak_bytes;
  }
}

struct verdict_case {
  const char* what;
  change make;
  std::string limit;
  std::string says; ///< Somewhere in the sentence.
};

const std::vector<verdict_case> cases{
  {"nothing is slow", [](run_health&) {}, "trainer",
   "trainers' arithmetic is the limit"},
  {"trainers compute on processors",
   [](run_health& run) {
     for (auto& daemon : run.daemons)
       daemon.cores = 0.8;
   },
   "trainer", "trainers' arithmetic is the limit"},
  {"trainers that sleep",
   [](run_health& run) {
     for (auto& daemon : run.daemons)
       daemon.cores = 0.1;
   },
   "trainer",
   "the trainers are the limit: they are busy 95 % of the time with 0.2 "
   "processors; look for other programs"},
  {"replies are late, but trainers have little time to spare",
   [](run_health& run) {
     for (std::size_t daemon = 0; daemon < 2; ++daemon)
       spend(at(run, daemon, actor_kind::trainer), 0.87, 0.01, 0.12);
     slow_down(at(run, 0, actor_kind::feature_service), 0.05, 0.5);
   },
   "trainer", "busy 87 %"},
  {"everything is as slow",
   [](run_health& run) {
     spend(at(run, 0, actor_kind::sampler), 0.6, 0.25, 0);
   },
   "none", "well balanced"},
  {"the sampler's own work",
   [](run_health& run) { fill_stage(run, actor_kind::sampler, 0.9, 0.05); },
   "sampler at daemon \"a\"", "sampler.replicas"},
  {"the fetcher's own work",
   [](run_health& run) { fill_stage(run, actor_kind::fetcher, 0.9, 0.05); },
   "fetcher at daemon \"a\"", "fetch.replicas"},
  {"the batcher",
   [](run_health& run) { fill_stage(run, actor_kind::batcher, 0.95, 0); },
   "batcher at daemon \"a\"", "busy 95 %"},
  {"the sampling service here",
   [](run_health& run) {
     fill_stage(run, actor_kind::sampler, 0.05, 0.9);
     slow_down(at(run, 0, actor_kind::sampling_service), 0.9, 0.05);
   },
   "sampling service of part 0 at daemon \"a\"", "sampler.threads"},
  {"its replies, though it has time",
   [](run_health& run) {
     fill_stage(run, actor_kind::sampler, 0.05, 0.9);
     slow_down(at(run, 0, actor_kind::sampling_service), 0.02, 0.1);
   },
   "sampling service of part 0 at daemon \"a\"", "answers late, 100 ms"},
  {"a service that answers at once",
   [](run_health& run) {
     fill_stage(run, actor_kind::sampler, 0.05, 0.9);
     slow_down(at(run, 0, actor_kind::sampling_service), 0.1, 4e-5);
     at(run, 0, actor_kind::sampling_proxy).mean_latency = 2e-5;
   },
   "", "no stage is slow: the sampling service of part 0"},
  {"a link that brings answers at once",
   [](run_health& run) {
     fill_stage(run, actor_kind::sampler, 0.05, 0.9);
     slow_down(at(run, 0, actor_kind::sampling_service), 0.1, 4e-5);
     slow_down(at(run, 1, actor_kind::sampling_service), 0.1, 4e-5);
     at(run, 0, actor_kind::sampling_proxy).mean_latency = 3e-4;
   },
   "", "no stage is slow: the sampling proxy of part 1"},
  {"the sampling service there",
   [](run_health& run) {
     fill_stage(run, actor_kind::sampler, 0.05, 0.9);
     slow_down(at(run, 1, actor_kind::sampling_service), 0.9, 0.05);
     at(run, 0, actor_kind::sampling_proxy).mean_latency = 0.06;
   },
   "sampling service of part 1 at daemon \"b\"", "sampler.threads"},
  {"the link, for neighbours",
   [](run_health& run) {
     fill_stage(run, actor_kind::sampler, 0.05, 0.9);
     at(run, 0, actor_kind::sampling_proxy).mean_latency = 0.06;
   },
   "link of daemon \"a\" to daemon \"b\"", "an answer takes 60 ms"},
  {"the feature service here",
   [](run_health& run) {
     fill_stage(run, actor_kind::fetcher, 0.05, 0.9);
     slow_down(at(run, 0, actor_kind::feature_service), 0.9, 0.05);
   },
   "feature service of part 0 at daemon \"a\"", "fetch.threads"},
  {"the feature service there",
   [](run_health& run) {
     fill_stage(run, actor_kind::fetcher, 0.05, 0.9);
     slow_down(at(run, 1, actor_kind::feature_service), 0.9, 0.05);
     at(run, 0, actor_kind::feature_proxy).mean_latency = 0.06;
   },
   "feature service of part 1 at daemon \"b\"", "fetch.cache"},
  {"the link, for rows",
   [](run_health& run) {
     fill_stage(run, actor_kind::fetcher, 0.05, 0.9);
     at(run, 0, actor_kind::feature_proxy).mean_latency = 0.06;
   },
   "link of daemon \"a\" to daemon \"b\"", "plan --cache"},
  {"the same where rows were counted",
   [](run_health& run) {
     fill_stage(run, actor_kind::fetcher, 0.05, 0.9);
     at(run, 0, actor_kind::feature_proxy).mean_latency = 0.06;
     run.daemons[0].cache_offer_bytes = std::uint64_t{256} << 20;
     run.daemons[0].cache_offer_spared = 0.64;
   },
   "link of daemon \"a\" to daemon \"b\"",
   "fetch.cache: 256 MiB would have spared at most about 64 % of the rows"},
  {"the same with a cache",
   [](run_health& run) {
     fill_stage(run, actor_kind::fetcher, 0.05, 0.9);
     at(run, 0, actor_kind::feature_proxy).mean_latency = 0.06;
     run.daemons[0].cache_rows_wanted = 200;
     run.daemons[0].cache_rows_found = 50;
   },
   "link of daemon \"a\" to daemon \"b\"", "finds 25 % of the rows"},
  {"samplers of another daemon",
   [](run_health& run) { sample_elsewhere(run, 0.15); },
   "sampler at daemon \"b\"", "sampler.replicas"},
  {"the way of sampled batches",
   [](run_health& run) { sample_elsewhere(run, 0.01); },
   "link of daemon \"a\" to daemon \"b\"", "an answer takes 200 ms"},
  {"a trainer",
   [](run_health& run) {
     spend(at(run, 0, actor_kind::trainer), 0.5, 0.48, 0.02);
     spend(at(run, 1, actor_kind::trainer), 0.98, 0.01, 0.01);
   },
   "trainer of rank 1 at daemon \"b\"", "the others wait for it"},
  {"the exchange of gradients",
   [](run_health& run) {
     for (std::size_t daemon : {0, 1})
       spend(at(run, daemon, actor_kind::trainer), 0.45, 0.5, 0.05);
   },
   "gradient group", "exchange of gradients"},
  {"too few batches", [](run_health& run) { hold_back(run, {}); },
   "credit at daemon \"a\"", "raise budget.batches"},
  {"too few bytes",
   [](run_health& run) {
     hold_back(run, {.peak_batches = 2, .peak_bytes = 500'001});
   },
   "credit at daemon \"a\"", "raise budget.bytes"},
  {"one batch at a time",
   [](run_health& run) {
     hold_back(run, {.most_batches = 1, .peak_batches = 1});
   },
   "credit at daemon \"a\"", "raise budget.batches"},
  {"credit that was never used up",
   [](run_health& run) {
     hold_back(run, {.peak_batches = 3, .peak_bytes = 500'000});
   },
   "", "credit is there"},
  {"batches and bytes",
   [](run_health& run) { hold_back(run, {.peak_bytes = 1'200'000}); },
   "credit at daemon \"a\"", "raise budget.batches or .bytes"},
  {"nobody who says what to do",
   [](run_health& run) {
     for (std::size_t daemon : {0, 1}) {
       spend(at(run, daemon, actor_kind::trainer), 0.6, 0.05, 0.35);
       auto& dispatcher = at(run, daemon, actor_kind::dispatcher);
       dispatcher.starved = 0.3;
       dispatcher.stalled = 0.6;
     }
   },
   "", "no batches to make"},
  {"workers that die",
   [](run_health& run) {
     auto& sampler = at(run, 0, actor_kind::sampler);
     sampler.recent_restarts = 3;
     sampler.down = 0.3;
     starve(run, 0);
   },
   "sampler at daemon \"a\"", "3 of its workers died"},
  {"workers that die where trainers have all that they need",
   [](run_health& run) {
     auto& sampler = at(run, 0, actor_kind::sampler);
     sampler.recent_restarts = 3;
     sampler.down = 0.3;
   },
   "trainer", "arithmetic is the limit"},
  {"a daemon that is silent", [](run_health& run) { run.silent = {"b"}; },
   "daemon \"b\"", "nothing is heard of b"},
  {"the begin",
   [](run_health& run) {
     for (std::size_t daemon : {0, 1})
       at(run, daemon, actor_kind::trainer).items = 0;
   },
   "", "no batch has been trained yet"},
  {"a first batch that takes long",
   [](run_health& run) {
     for (std::size_t daemon : {0, 1}) {
       at(run, daemon, actor_kind::trainer).items = 0;
       auto& fetcher = at(run, daemon, actor_kind::fetcher);
       fetcher.state = actor_state::running;
       fetcher.in_state = daemon == 0 ? 2 : 7;
     }
     at(run, 0, actor_kind::sampler).in_state = 9; // It does not work.
   },
   "fetcher at daemon \"b\"",
   "the fetcher at daemon \"b\" has been at work "
   "for 7 s"},
  {"the begin of an attempt",
   [](run_health& run) {
     for (std::size_t daemon : {0, 1})
       at(run, daemon, actor_kind::trainer).items = 0;
     run.progress.emplace().epoch = 40;
   },
   "", "no daemon has told of a trained batch yet"},
  {"the first validation",
   [](run_health& run) {
     for (std::size_t daemon : {0, 1})
       at(run, daemon, actor_kind::trainer).items = 0;
     run.progress.emplace().phase = phase::validation;
   },
   "", "no daemon has told of a trained batch yet"},
};

} // namespace

CATCH_TEST_CASE("the verdict names what is slow, and nothing else",
                "[pipelines][health][verdict]") {
  for (const auto& one : cases) {
    CATCH_INFO(one.what);
    auto run = scene();
    one.make(run);
    const auto said = verdict_of(run);
    CATCH_INFO(said.sentence);
    CATCH_CHECK(said.limit == one.limit);
    CATCH_CHECK(said.sentence.find(one.says) != std::string::npos);
    for (const auto& evidence : said.evidence)
      CATCH_CHECK_FALSE(evidence.empty());
  }
}

CATCH_TEST_CASE("a verdict has its evidence", "[pipelines][health][verdict]") {
  auto run = scene();
  fill_stage(run, actor_kind::fetcher, 0.05, 0.9);
  slow_down(at(run, 0, actor_kind::feature_service), 0.9, 0.05);
  const auto evidence = verdict_of(run).evidence;
  CATCH_REQUIRE(evidence.size() == 3);
  CATCH_CHECK(evidence[0]
              == "trainers: busy 30 %, starve 35 %, wait 35 % for each other");
  CATCH_CHECK(evidence[1]
              == "feature service of part 0 at daemon \"a\": an answer takes "
                 "50 ms on average, 50 ms in 99 of 100 cases at the most");
  CATCH_CHECK(evidence[2]
              == "fetcher at daemon \"a\": busy 5 %, waits 90 % for answers, "
                 "5 % for input, 0 % for credit");
}

CATCH_TEST_CASE("whether training was told of",
                "[pipelines][health][verdict]") {
  auto run = scene();
  CATCH_CHECK(tells_of_training(run));
  at(run, 0, actor_kind::trainer).items = 0;
  CATCH_CHECK(tells_of_training(run));
  at(run, 1, actor_kind::trainer).items = 0;
  CATCH_CHECK_FALSE(tells_of_training(run));
  CATCH_CHECK_FALSE(tells_of_training({}));
}

CATCH_TEST_CASE("a run of nobody gets no verdict",
                "[pipelines][health][verdict]") {
  CATCH_CHECK(verdict_of({}).limit.empty());
}
