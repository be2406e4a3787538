#include "messages/definition/definition_codec.hpp"
#include "messages/definition/definition_schema.hpp"
#include "pipelines/definition/definition_file.hpp"
#include "pipelines/definition/definition_help.hpp"
#include "pipelines/definition/model_traits.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <capnp/message.h>

#include <algorithm>

using namespace graphmill;

namespace {

bool lies_within(capnp::DynamicValue::Reader value, const value_range& range) {
  if (value.getType() != capnp::DynamicValue::LIST)
    return range.contains(value.as<double>());
  for (auto element : value.as<capnp::DynamicList>())
    if (!range.contains(element.as<double>()))
      return false;
  return true;
}

void check_defaults(capnp::DynamicStruct::Reader defaults) {
  for (auto f : defaults.getSchema().getFields()) {
    CATCH_INFO(user_name(f));
    if (f.getType().isStruct()) {
      check_defaults(defaults.get(f).as<capnp::DynamicStruct>());
      continue;
    }
    if (has_key(f))
      CATCH_CHECK_FALSE(notes_of(f).help.empty());
    if (const auto range = range_of(f))
      CATCH_CHECK(lies_within(defaults.get(f), *range));
    if (f.getType().isEnum())
      CATCH_CHECK(defaults.get(f).as<capnp::DynamicEnum>().getRaw() != 0);
  }
}

} // namespace

CATCH_TEST_CASE("defaults lie within their ranges and all have help",
                "[definition][schema]") {
  capnp::MallocMessageBuilder message;
  check_defaults(
    message.initRoot<capnp::DynamicStruct>(definition_schema()).asReader());
}

CATCH_TEST_CASE("fields are described", "[definition][schema]") {
  const auto fields = describe_definition();
  const auto find = [&fields](const std::string& path) {
    const auto found =
      std::find_if(fields.begin(), fields.end(),
                   [&path](const auto& f) { return f.path == path; });
    CATCH_REQUIRE(found != fields.end());
    return *found;
  };
  const auto batch = find("train.batch_size");
  CATCH_CHECK(batch.type == "a whole number");
  CATCH_CHECK(batch.default_value == "1024");
  CATCH_CHECK(batch.range == "from 1 to 16777216 seeds, or all");
  CATCH_CHECK(find("train.class_weights").type == "a list or a map of numbers");
  CATCH_CHECK(find("budget.bytes").default_value == "1 GiB");
  CATCH_CHECK(find("dataset").default_value == "required");
  CATCH_CHECK(find("sampler.fanouts").default_value == "[10, 10]");
  CATCH_CHECK(find("train.seed_order").type == "one of local, global");
  for (const auto& f : fields)
    CATCH_CHECK((f.path != "sampler.edge_fanouts"
                 && f.path != "train.named_class_weights"
                 && f.path != "evaluate.metric_detail"));
}

CATCH_TEST_CASE("kinds of models are those of the schema",
                "[definition][schema]") {
  const auto words = definition_schema()
                       .getFieldByName("model")
                       .getType()
                       .asStruct()
                       .getFieldByName("kind")
                       .getType()
                       .asEnum()
                       .getEnumerants();
  CATCH_REQUIRE(words.size() == model_kinds.size() + 1);
  for (const auto& traits : model_kinds) {
    const auto word = words[static_cast<unsigned>(traits.kind) + 1];
    CATCH_CHECK(traits.name == user_name(word.getProto().getName().cStr()));
  }
}

CATCH_TEST_CASE("a definition survives its message", "[definition][schema]") {
  const auto def =
    parse_definition("{dataset: d, sampler: {fanouts: {default: [1], b: [2], "
                     "a: [3]}}, model: {kind: rgcn}}",
                     "x.yaml")
      .value;
  capnp::MallocMessageBuilder message;
  auto root = message.initRoot<capnp::DynamicStruct>(definition_schema());
  encode_definition(def, root);
  CATCH_CHECK(test::value_of(decode_definition(root.asReader())) == def);
}

CATCH_TEST_CASE("a message with bad values is refused",
                "[definition][schema]") {
  capnp::MallocMessageBuilder message;
  auto root = message.initRoot<capnp::DynamicStruct>(definition_schema());
  const auto refusal = [&root] {
    return test::error_of(decode_definition(root.asReader())).message;
  };
  CATCH_CHECK(refusal() == "dataset has 0 characters, must have from 1 to 100");
  root.set("dataset", "d");
  CATCH_CHECK(decode_definition(root.asReader()));

  auto model = root.get("model").as<capnp::DynamicStruct>();
  model.set("dropout", 1.5);
  CATCH_CHECK(refusal() == "model.dropout is 1.5, must be from 0 to 0.99");
  model.set("dropout", 0.5);
  const auto kind = model.getSchema().getFieldByName("kind");
  model.set(kind, capnp::DynamicEnum{kind.getType().asEnum(), 77});
  CATCH_CHECK(refusal()
              == "model.kind has the value 77, which this version does not "
                 "know");
  model.set(kind, capnp::DynamicEnum{kind.getType().asEnum(), 0});
  CATCH_CHECK_FALSE(decode_definition(root.asReader()));
  model.clear(kind);

  auto sampler = root.get("sampler").as<capnp::DynamicStruct>();
  auto list = sampler.init("fanouts", 1).as<capnp::DynamicList>();
  list.set(0, -2);
  CATCH_CHECK(refusal()
              == "sampler.fanouts is -2, must be from -1 to 1000000 in-edges "
                 "per node");
  sampler.init("fanouts", 0);
  CATCH_CHECK_FALSE(decode_definition(root.asReader()));
}
