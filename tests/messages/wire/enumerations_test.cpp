#include "messages/wire/chaos.hpp"
#include "messages/wire/cluster.capnp.h"
#include "messages/wire/cluster.hpp"
#include "messages/wire/codecs/enum_codec.hpp"
#include "messages/wire/data.capnp.h"
#include "messages/wire/data.hpp"
#include "messages/wire/gradients.hpp"
#include "messages/wire/health.capnp.h"
#include "messages/wire/health.hpp"
#include "messages/wire/log.capnp.h"
#include "messages/wire/log.hpp"
#include "messages/wire/run.capnp.h"
#include "messages/wire/run.hpp"
#include "messages/wire/wire.capnp.h"
#include "messages/wire/wire.hpp"
#include "tests/support/catch.hpp"

#include <capnp/schema.h>

#include <cstdint>

using namespace graphmill;

namespace {

/// How many values an enumeration of the schema has.
template <class Wire>
int count_of(Wire) {
  return static_cast<int>(capnp::Schema::from<Wire>().getEnumerants().size());
}

} // namespace

CATCH_TEST_CASE("our enumerations end with the schemas'",
                "[messages][enumerations]") {
  CATCH_CHECK(count_of(schema::Kind{}) == int(message_kind::farewell) + 1);
  CATCH_CHECK(count_of(schema::Method{}) == int(method_count));
  CATCH_CHECK(count_of(schema::FailureCode{}) == int(ec::superseded) + 1);
  CATCH_CHECK(count_of(schema::Channel{}) == int(channel::data) + 2);
  CATCH_CHECK(count_of(schema::DaemonState{})
              == int(daemon_state::damaged) + 1);
  CATCH_CHECK(count_of(schema::ActorKind{}) == int(actor_kind::conductor) + 1);
  CATCH_CHECK(count_of(schema::ActorState{}) == int(actor_states));
  CATCH_CHECK(count_of(schema::LogLevel{}) == int(log_level::critical) + 1);
  CATCH_CHECK(count_of(schema::KeyRole{}) == int(key_role::reader) + 1);
  CATCH_CHECK(count_of(schema::ChaosKind{}) == int(chaos_kind_count) + 1);
  CATCH_CHECK(count_of(schema::ChaosMoment{}) == int(moment_count) + 1);
  CATCH_CHECK(count_of(schema::RunState{}) == int(run_state::cancelled) + 1);
  CATCH_CHECK(count_of(schema::TrainerAction{})
              == int(trainer_action::restore) + 1);
  CATCH_CHECK(count_of(schema::RunPhase{}) == int(phase::test) + 2);
  CATCH_CHECK(count_of(schema::Element{}) == int(element::float32) + 1);
  CATCH_CHECK(count_of(schema::GatherKind{})
              == int(gather_kind::edge_features) + 1);
  CATCH_CHECK(count_of(schema::BatchKind{}) == int(batch_kind::evaluate) + 1);
  CATCH_CHECK(count_of(schema::GradientPurpose{})
              == int(gradient_purpose::farewell) + 1);
}

CATCH_TEST_CASE("a value is compared before it is narrowed",
                "[messages][enumerations]") {
  enum class wide : std::uint16_t {};
  enum class narrow : std::uint8_t { first = 1, last };
  const auto known = [](int raw) {
    return wire::known_value(static_cast<wide>(raw), narrow::first,
                             narrow::last);
  };
  CATCH_CHECK((known(1) == narrow::first));
  CATCH_CHECK((known(2) == narrow::last));
  for (int raw : {0, 3, 256, 257, 258, 65535})
    CATCH_CHECK_FALSE(known(raw).has_value());
}
