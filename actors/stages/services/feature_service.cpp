#include "actors/stages/services/feature_service.hpp"

#include "actors/base/ticket_table.hpp"
#include "actors/stages/services/gather_items.hpp"

#include <cstdint>

namespace graphmill {

/// INTERNAL: what other threads do of a job, or a half of it, is done.
struct values_gathered {
  std::uint64_t ticket = 0;
  std::optional<error> failure;
};

} // namespace graphmill

GRAPHMILL_LOCAL_MESSAGE(graphmill::values_gathered)

namespace graphmill {

namespace {

class feature_service {
public:
  using interface = feature_service_actor;
  static constexpr const char* name = "feature_service";

  feature_service(interface::pointer, feature_service_config config)
    : config_(std::move(config)) {}

  interface::behavior_type make_behavior() {
    return {
      [this](const gather_job& job) { return answer(job); },
    };
  }

private:
  caf::result<gather_answer> answer(const gather_job& job) {
    busy_scope busy{*config_.counters};
    gather_answer out;
    for (const auto& item : job.items) {
      if (auto fits = check_item(*config_.part, item); !fits)
        return to_caf(fits.error());
      if (auto done = gather(*config_.part, item, config_.half); !done)
        return to_caf(done.error());
      out.bytes += bytes_of(*config_.part, item);
    }
    if (auto fault = mapped_file::first_fault())
      return to_caf(*fault);
    config_.counters->item_done(out.bytes);
    return out;
  }

  feature_service_config config_;
};

/// The same for a part on disk: dense features come from its ROW READER, and
/// mapped values and sparse features by a thread.
class disk_feature_service {
public:
  using interface = feature_service_actor::extend<takes<values_gathered>>;
  static constexpr const char* name = "disk_feature_service";

  disk_feature_service(interface::pointer self, feature_service_config config)
    : self_(self), config_(std::move(config)) {}

  interface::behavior_type make_behavior() {
    return {
      [this](const gather_job& job) { return begin(job); },
      [this](const values_gathered& some) { finish(some); },
    };
  }

private:
  struct work {
    caf::typed_response_promise<gather_answer> promise;
    std::uint64_t bytes = 0;
    int missing = 0; ///< Of rows and other values.
    std::optional<error> failure;
  };

  caf::result<gather_answer> begin(const gather_job& job) {
    std::vector<row_reader::request> rows;
    std::vector<gather_item> others;
    work open;
    for (const auto& item : job.items) {
      if (auto fits = check_item(*config_.part, item); !fits)
        return to_caf(fits.error());
      open.bytes += bytes_of(*config_.part, item);
      if (item.kind == gather_kind::features && !item.ids.empty()
          && config_.part->nodes(item.type).features != nullptr)
        rows.push_back(
          {item.type, item.ids, item.rows, static_cast<float*>(item.out)});
      else
        others.push_back(item);
    }
    open.missing = (rows.empty() ? 0 : 1) + (others.empty() ? 0 : 1);
    if (open.missing == 0)
      return gather_answer{};
    auto promise = self_->make_response_promise<gather_answer>();
    open.promise = promise;
    const auto ticket = open_.add(std::move(open));
    const auto me = handle_of<interface>(self_);
    if (!rows.empty())
      config_.rows->read(std::move(rows), job.owner,
                         [me, ticket](result<void> done) {
                           post(me, values_gathered{ticket, failure_of(done)});
                         });
    if (!others.empty())
      config_.thread->post(
        [me, ticket, part = config_.part, owner = job.owner,
         counters = config_.counters, half = config_.half,
         others = std::move(others)] {
          busy_scope busy{*counters};
          post(me, values_gathered{
                     ticket, failure_of(gather_all(*part, others, half))});
        },
        [me, ticket](const error& reason) {
          post(me, values_gathered{ticket, reason});
        });
    return promise;
  }

  static std::optional<error> failure_of(const result<void>& done) {
    return done ? std::nullopt : std::optional{done.error()};
  }

  static result<void> gather_all(const shard& part,
                                 const std::vector<gather_item>& items,
                                 bool half) {
    for (const auto& item : items)
      request_pages(part, item);
    for (const auto& item : items)
      GRAPHMILL_TRYV(gather(part, item, half));
    if (auto fault = mapped_file::first_fault())
      return *fault;
    return ok();
  }

  void finish(const values_gathered& some) {
    auto* open = open_.find(some.ticket);
    if (some.failure && !open->failure)
      open->failure = some.failure;
    if (--open->missing != 0)
      return;
    auto done = open_.take(some.ticket);
    if (done->failure) {
      done->promise.deliver(to_caf(*done->failure));
    } else {
      config_.counters->item_done(done->bytes);
      done->promise.deliver(gather_answer{done->bytes});
    }
  }

  interface::pointer self_;
  feature_service_config config_;
  ticket_table<work> open_;
};

} // namespace

feature_service_actor spawn_feature_service(caf::actor_system& system,
                                            feature_service_config config) {
  if (config.thread)
    return spawn_state<disk_feature_service>(system, std::move(config));
  return spawn_state<feature_service>(system, std::move(config));
}

} // namespace graphmill
