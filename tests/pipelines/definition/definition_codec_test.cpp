#include "messages/definition/definition.capnp.h"
#include "messages/definition/definition_codec.hpp"
#include "messages/definition/definition_schema.hpp"
#include "partition/files/content_hash.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <capnp/message.h>
#include <capnp/pretty-print.h>
#include <capnp/schema.h>
#include <capnp/serialize.h>

#include <string>

using namespace graphmill;
using namespace graphmill::test;

namespace {

using field = capnp::StructSchema::Field;

capnp::DynamicStruct::Builder
new_definition(capnp::MallocMessageBuilder& message) {
  return message.initRoot<capnp::DynamicStruct>(definition_schema());
}

/// What comes out where a definition has crossed the wire.
result<definition> decoded(const definition& def) {
  capnp::MallocMessageBuilder message;
  auto root = new_definition(message);
  encode_definition(def, root);
  return decode_definition(root.asReader());
}

void fill(capnp::DynamicStruct::Builder into);

void fill_list(capnp::DynamicStruct::Builder into, field f) {
  auto list = into.init(f, 2).as<capnp::DynamicList>();
  for (unsigned i = 0; i < 2; ++i)
    if (f.getType().asList().getElementType().isStruct())
      fill(list[i].as<capnp::DynamicStruct>());
    else if (f.getType().asList().getElementType().isText())
      list.set(i, i == 0 ? "north" : "south");
    else
      list.set(i, i + 3);
}

/// A number that is allowed, and not the default.
double other_number(double present, const field_notes& notes) {
  const auto next = present + 1;
  return !notes.range || notes.range->contains(next)
           ? next
           : (notes.range->min + notes.range->max) / 2;
}

/// Gives every field another value than its default.
void fill(capnp::DynamicStruct::Builder into) {
  for (auto f : into.getSchema().getFields()) {
    const auto type = f.getType();
    const auto present = into.asReader().get(f);
    if (type.isStruct())
      fill(into.init(f).as<capnp::DynamicStruct>());
    else if (type.isList())
      fill_list(into, f);
    else if (type.isText())
      into.set(f, user_name(f).c_str());
    else if (type.isEnum())
      into.set(f,
               capnp::DynamicEnum{type.asEnum(),
                                  static_cast<std::uint16_t>(
                                    type.asEnum().getEnumerants().size() - 1)});
    else if (type.isBool())
      into.set(f, !present.as<bool>());
    else
      into.set(f, other_number(present.as<double>(), notes_of(f)));
  }
}

std::string text_of(capnp::DynamicStruct::Reader section) {
  return capnp::prettyPrint(section).flatten().cStr();
}

std::string hash_of(const definition& def) {
  capnp::MallocMessageBuilder message;
  encode_definition(def, new_definition(message));
  const auto words = capnp::messageToFlatArray(message);
  const auto bytes = words.asBytes();
  content_hash hash;
  hash.update(std::as_bytes(std::span{bytes.begin(), bytes.size()}));
  return hash.digest();
}

definition full_definition() {
  definition def;
  def.name = "a-run";
  def.dataset = "films";
  def.seed = 0xfedcba9876543210ull;
  def.sampler = {{15, -1, 5},
                 {{"actor__plays__movie", {1, 2, 3}}, {"likes", {-1, 0, 7}}},
                 true,
                 2,
                 3};
  def.sampler.walks = 20;
  def.sampler.walk_length = 2;
  def.sampler.restart = 0.5;
  def.fetch = {
    4, 5, feature_precision::float16, 1ull << 40, cache_order::degree, 0.25};
  def.model = {model_kind::rgcn,
               48,
               6,
               0.125,
               24,
               true,
               "w",
               true,
               true,
               0.5,
               3,
               0.25,
               true};
  def.trainer = {7, 8, "cuda:1", 900, 3, {"0/0:7"}};
  def.optimizer = {optimizer_kind::sgd,   0.05,  1e-4, 0.9,
                   schedule_kind::step,   2,     3,    0.25,
                   decayed_layers::first, false, 2,    3};
  def.train = {2048,
               20,
               1000,
               seed_order::global,
               5,
               true,
               6,
               0.25,
               false,
               {1, 0.5},
               value_loss::mae,
               1,
               {{"fraud", 10}},
               2};
  def.evaluate = {neighbour_use::all,    512,      4,
                  evaluation_metric::f1, false,    false,
                  measured_split::none,  ":fraud", "f1:fraud"};
  def.budget = {1ull << 33, 9};
  def.faults = {10, 11, 12, 18, 19, 20, 21, 22, 23, {"west"}};
  def.placement = {{"north", "south"}, {"east"}, 7};
  def.checkpoint = {13, 14, 15};
  def.recovery = {16, 17};
  def.labels = "genre";
  return def;
}

} // namespace

CATCH_TEST_CASE("every field of a definition crosses the wire",
                "[definition][schema]") {
  capnp::MallocMessageBuilder sent;
  auto root = new_definition(sent);
  fill(root);
  auto entries = root.get("sampler")
                   .as<capnp::DynamicStruct>()
                   .get("edgeFanouts")
                   .as<capnp::DynamicList>();
  entries[1].as<capnp::DynamicStruct>().set("key", "other");
  auto weights = root.get("train")
                   .as<capnp::DynamicStruct>()
                   .get("namedClassWeights")
                   .as<capnp::DynamicList>();
  weights[1].as<capnp::DynamicStruct>().set("key", "other");
  const auto def = value_of(decode_definition(root.asReader()));
  capnp::MallocMessageBuilder back;
  auto again = new_definition(back);
  encode_definition(def, again);
  CATCH_CHECK(text_of(again.asReader()) == text_of(root.asReader()));
}

CATCH_TEST_CASE("the bytes of a definition stay what they are",
                "[definition][schema]") {
  // Daemons of several builds read each other's, and clients keep them. They
  // have grown by the words of tasks of edges, and of walks, which are 0
  // without them.
  CATCH_CHECK(hash_of(full_definition()) == "c8acbb4313355d08d996e06692f20f69");
  definition bare;
  bare.sampler.walks = 20;
  bare.sampler.walk_length = 2;
  bare.sampler.restart = 0.5;
  bare.trainer.step_timeout = 1800;
  bare.checkpoint.keep = 2;
  bare.recovery = {300, 5};
  CATCH_CHECK(hash_of(bare) == "842c190e5deedb76f94062d94d66e9b4");
}

CATCH_TEST_CASE("a NUL in a text of a definition is refused, not its end",
                "[definition][schema]") {
  const std::string text{"a\0b", 3};
  const auto refused = [](const definition& def) {
    return error_of(decoded(def)).message;
  };
  auto def = full_definition();
  def.name = text;
  CATCH_CHECK(refused(def)
              == "name has a NUL character, which no text may have; leave it "
                 "out");
  def = full_definition();
  def.placement.samplers.push_back(text);
  CATCH_CHECK_THAT(refused(def), contains("placement.samplers has a NUL"));
  def = full_definition();
  def.sampler.edge_fanouts[text] = {1, 2, 3};
  CATCH_CHECK_THAT(refused(def), contains("edge_fanouts.key has a NUL"));
}

CATCH_TEST_CASE("numbers that cross the wire are in range, or stand for a word",
                "[definition][schema]") {
  auto def = full_definition();
  def.train.batch_size = def.evaluate.batch_size = 4294967295u; // The word all.
  CATCH_CHECK(value_of(decoded(def)) == def);
  def.train.batch_size = 4294967294u;
  CATCH_CHECK_THAT(error_of(decoded(def)).message,
                   contains("train.batch_size is")
                     && contains("must be from 1 to 16777216 seeds"));
  def = full_definition();
  def.train.class_weights = {1, 0, 1e9};
  CATCH_CHECK(value_of(decoded(def)) == def);
  for (const auto wrong : {-1.0, 2e9, std::nan("")}) {
    def.train.class_weights.back() = wrong;
    CATCH_CHECK_THAT(error_of(decoded(def)).message,
                     contains("train.class_weights is"));
  }
}

CATCH_TEST_CASE("ours are all values of the enumerations of a definition",
                "[definition][schema]") {
  // Behind `unset`.
  const auto last = []<class Wire>(Wire) {
    return static_cast<int>(capnp::Schema::from<Wire>().getEnumerants().size())
           - 2;
  };
  CATCH_CHECK(last(schema::ModelKind{}) == int(model_kind::lightgcn));
  CATCH_CHECK(last(schema::DecayedLayers{}) == int(decayed_layers::first));
  CATCH_CHECK(last(schema::OptimizerKind{}) == int(optimizer_kind::sgd));
  CATCH_CHECK(last(schema::ScheduleKind{}) == int(schedule_kind::step));
  CATCH_CHECK(last(schema::SeedOrder{}) == int(seed_order::global));
  CATCH_CHECK(last(schema::NeighbourUse{}) == int(neighbour_use::all));
  CATCH_CHECK(last(schema::EdgeWeights{}) == int(edge_weight_use::ignore));
  CATCH_CHECK(last(schema::EdgeFeatures{}) == int(edge_feature_use::ignore));
  CATCH_CHECK(last(schema::TimeUse{}) == int(time_use::inclusive));
  CATCH_CHECK(last(schema::VisibleEdges{}) == int(visible_edges::past));
  CATCH_CHECK(last(schema::RelationUse{}) == int(relation_use::mean_of_all));
  CATCH_CHECK(last(schema::Precision{}) == int(feature_precision::float16));
  CATCH_CHECK(last(schema::CacheOrder{}) == int(cache_order::degree));
  CATCH_CHECK(last(schema::SamplingMethod{}) == int(sampling_method::saint));
  CATCH_CHECK(last(schema::SubgraphKind{}) == int(subgraph_kind::induced));
  CATCH_CHECK(last(schema::EvaluationMetric{}) == int(evaluation_metric::ndcg));
  CATCH_CHECK(last(schema::DecoderKind{}) == int(decoder_kind::mlp));
  CATCH_CHECK(last(schema::NegativeKind{}) == int(negative_kind::given));
  CATCH_CHECK(last(schema::CorruptedEnd{}) == int(corrupted_end::pair));
  CATCH_CHECK(last(schema::NegativeWeight{}) == int(negative_weight::degree));
  CATCH_CHECK(last(schema::LinkLoss{}) == int(link_loss::self_adversarial));
  CATCH_CHECK(last(schema::MeasuredSplit{}) == int(measured_split::test));
  CATCH_CHECK(last(schema::ValueLoss{}) == int(value_loss::huber));
}

CATCH_TEST_CASE("texts of a definition may be empty, and lists, too",
                "[definition][schema]") {
  auto def = full_definition();
  def.name = "";
  def.sampler.edge_fanouts.clear();
  def.placement = {};
  CATCH_CHECK(value_of(decoded(def)) == def);
}
