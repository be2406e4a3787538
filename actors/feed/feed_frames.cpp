#include "actors/feed/feed_frames.hpp"

#include "partition/dataset/chosen_task.hpp"
#include "partition/files/json_text.hpp"

#include <nlohmann/json.hpp>

#include <cstring>
#include <string_view>
#include <utility>

namespace graphmill {

namespace {

using nlohmann::json;

constexpr std::int64_t batch_tag = 1;
/// Rows of a frame of `batch_back`: sequence and flags, behind a word of 0.
constexpr std::size_t word_bytes = sizeof(std::uint64_t);
constexpr std::uint64_t returned_flag = 1, freed_flag = 2;
constexpr std::size_t most_frame_values = 100'000;

/// Reads the fields of an object, and notes the first that is wrong.
class fields_of {
public:
  explicit fields_of(const json& object) : object_(object) {}

  std::string text(const char* key) {
    const auto* at = find(key);
    return at != nullptr && expect(at->is_string(), key)
             ? at->get<std::string>()
             : std::string{};
  }
  bool flag(const char* key, bool otherwise = false) {
    const auto* at = find(key);
    return at != nullptr && expect(at->is_boolean(), key) ? at->get<bool>()
                                                          : otherwise;
  }
  std::int64_t number(const char* key, std::int64_t least, std::int64_t most,
                      std::int64_t otherwise = 0) {
    const auto* at = find(key);
    if (at == nullptr)
      return otherwise;
    const auto value = integer_of(*at);
    expect(value && *value >= least && *value <= most, key);
    return value.value_or(otherwise);
  }
  std::vector<std::string> texts(const char* key) {
    std::vector<std::string> out;
    const auto* at = find(key);
    if (at == nullptr || !expect(at->is_array(), key))
      return out;
    for (const auto& item : *at)
      if (expect(item.is_string(), key))
        out.push_back(item.get<std::string>());
    return out;
  }
  bool has(const char* key) const {
    return object_.contains(key) && !object_.at(key).is_null();
  }
  void refuse(std::string_view key) { expect(false, key); }

  const std::optional<error>& wrong() const { return wrong_; }

private:
  const json* find(const char* key) const {
    return has(key) ? &object_.at(key) : nullptr;
  }
  bool expect(bool fits, std::string_view key) {
    if (!fits && !wrong_)
      wrong_ = fail(ec::invalid_data,
                    "`{}` in a frame of a consumer has no "
                    "value that a feed knows",
                    key);
    return fits;
  }

  const json& object_;
  std::optional<error> wrong_;
};

constexpr std::int64_t any_number = std::int64_t{1} << 62;

phase phase_in(fields_of& in, const char* key) {
  const auto name = in.text(key);
  for (auto which : {phase::train, phase::validation, phase::test})
    if (name == to_string(which))
      return which;
  in.refuse(key);
  return phase::train;
}

storage_choice storage_in(fields_of& in) {
  storage_choice out;
  const auto where = in.text("storage");
  if (where == "memory")
    out.where = storage_kind::memory;
  else if (where == "disk")
    out.where = storage_kind::disk;
  else if (where != "auto")
    in.refuse("storage");
  out.memory_bytes =
    static_cast<std::uint64_t>(in.number("memory", 0, any_number));
  return out;
}

batch_form form_in(fields_of& in) {
  batch_form out;
  const auto layout = in.text("form");
  if (layout == "csr")
    out.layout = edge_layout::csr;
  else if (layout != "coo")
    in.refuse("form");
  out.merged = in.flag("merge_edge_types");
  out.edge_ids = in.flag("edge_ids");
  out.edge_weights = in.flag("edge_weights");
  out.edge_features = in.flag("edge_features");
  out.degrees = in.flag("degrees");
  out.ages = in.flag("edge_ages");
  if (const auto rows = in.text("rows"); rows == "triplets")
    out.rows = link_row_form::triplets;
  else if (!rows.empty() && rows != "pairs")
    in.refuse("rows");
  return out;
}

result<feed_frame> request_in(const json& object) {
  fields_of in{object};
  if (const auto version = in.number("version", 0, any_number);
      !in.wrong() && version != feed_version)
    return fail(ec::version_mismatch,
                "the package speaks version {} of the feed, and this program "
                "version {}: install both from one build",
                version, feed_version);
  constexpr std::int64_t most_ranks = 1 << 16;
  feed_request out;
  out.data = in.text("data");
  if (in.has("cluster"))
    out.cluster = {in.text("cluster"), in.text("key"), in.flag("insecure")};
  out.definition = in.text("definition");
  out.file = in.text("file");
  out.overrides = in.texts("overrides");
  out.phase = phase_in(in, "split");
  if (in.has("shuffle"))
    out.shuffled = in.flag("shuffle");
  out.world = static_cast<rank_id>(in.number("world_size", 1, most_ranks, 1));
  out.rank = static_cast<rank_id>(in.number("rank", 0, out.world - 1));
  out.form = form_in(in);
  out.storage = storage_in(in);
  out.verify = in.flag("verify", true);
  out.registers = in.flag("registers");
  out.own_seeds = in.flag("seeds");
  out.seed_type = in.text("seed_type");
  if (in.has("most_seeds"))
    out.most_seeds = in.number("most_seeds", 0, any_number);
  out.own_pairs = in.flag("pairs");
  out.negatives = in.flag("negatives", true);
  out.edge_types = in.texts("edge_types");
  if (in.wrong())
    return *in.wrong();
  return feed_frame{std::move(out)};
}

result<feed_frame> pass_in(const json& object) {
  constexpr std::int64_t most_epochs = 1 << 30;
  fields_of in{object};
  feed_pass out;
  out.number = static_cast<std::uint64_t>(in.number("number", 1, any_number));
  out.epoch = static_cast<std::int32_t>(in.number("epoch", 0, most_epochs));
  out.first = in.number("first", 0, any_number);
  out.steps = in.number("steps", 0, any_number);
  out.own_seeds = in.flag("seeds");
  if (in.wrong())
    return *in.wrong();
  return feed_frame{out};
}

std::vector<batch_back> backs_in(std::span<const std::byte> packet) {
  std::vector<batch_back> out;
  for (auto at = word_bytes; at + 2 * word_bytes <= packet.size();
       at += 2 * word_bytes) {
    std::uint64_t words[2];
    std::memcpy(words, packet.data() + at, sizeof words);
    out.push_back({words[0], (words[1] & returned_flag) != 0,
                   (words[1] & freed_flag) != 0});
  }
  return out;
}

json node_type_json(const node_type_info& type) {
  json sets = json::array();
  for (const auto& set : type.label_sets)
    sets.push_back(set.name);
  return {{"name", type.name},
          {"count", type.count},
          {"features", type.feature_width},
          {"classes", type.class_count},
          {"labels", to_string(type.labels)},
          {"splits", type.split_counts},
          {"label_sets", std::move(sets)}};
}

json edge_type_json(const dataset_info& info, const edge_type_info& type) {
  const auto name_of = [&info](node_type_id node) {
    return info.node_types[static_cast<std::size_t>(node)].name;
  };
  return {{"source", name_of(type.source)},
          {"name", type.name},
          {"destination", name_of(type.destination)},
          {"count", type.count},
          {"weighted", type.weighted}};
}

/// What decides which batches there are. States that consumers keep have it, so
/// what was added later is there only where it is not the default.
json settings_json(const feed_description& of) {
  const auto& def = of.def;
  json out{{"seed", def.seed},
           {"fanouts", def.sampler.fanouts},
           {"edge_fanouts", def.sampler.edge_fanouts},
           {"replace", def.sampler.replace},
           {"method", static_cast<int>(def.sampler.method)},
           {"precision", rounds_features(def) ? "float16" : "float32"},
           {"labels", def.labels}};
  const auto& sampler = def.sampler;
  if (sampler.is_timed())
    out["time"] = {static_cast<int>(sampler.time), sampler.latest,
                   sampler.window, sampler.disjoint,
                   static_cast<int>(def.evaluate.visible)};
  if (sampler.subgraph != subgraph_kind::directional)
    out["subgraph"] = static_cast<int>(sampler.subgraph);
  if (!draws_lists(sampler.method))
    out["walks"] = {sampler.walks, sampler.walk_length, sampler.restart};
  if (!def.task.empty()) {
    const auto& wanted = def.negatives;
    out["task"] = def.task;
    out["negatives"] = {static_cast<int>(wanted.kind), wanted.count,
                        static_cast<int>(wanted.corrupt),
                        static_cast<int>(wanted.weight),
                        def.evaluate.negatives};
    out["exclude"] = static_cast<int>(def.train.exclude);
  }
  if (!def.train.shuffle)
    out["train_shuffle"] = false;
  if (def.train.seed_order == seed_order::local && of.world > 1)
    out["seed_order"] = {"local", of.parts, of.world};
  if (def.evaluate.neighbours == neighbour_use::all)
    out["neighbours"] = "all";
  return out;
}

std::string_view about_text(array_of what) {
  return what == array_of::node_type ? "node" : "edge";
}

} // namespace

result<feed_frame> parse_feed_frame(std::span<const std::byte> packet) {
  if (packet.empty() || packet.front() != std::byte{'{'}) {
    if (packet.size() < word_bytes
        || (packet.size() - word_bytes) % (2 * word_bytes) != 0)
      return fail(ec::invalid_data, "{} bytes are no frame of a consumer",
                  packet.size());
    return feed_frame{backs_in(packet)};
  }
  const std::string_view text{reinterpret_cast<const char*>(packet.data()),
                              packet.size()};
  GRAPHMILL_TRY(const auto object,
                parse_json(text, "a frame of a consumer", most_frame_values));
  if (object.contains("open") && object.at("open").is_object())
    return request_in(object.at("open"));
  if (object.contains("begin") && object.at("begin").is_object())
    return pass_in(object.at("begin"));
  if (object.contains("judge"))
    return feed_frame{wanted_verdict{}};
  return fail(ec::invalid_data, "a consumer sent a frame of an unknown kind");
}

std::string opened_frame(const feed_description& of) {
  json node_types = json::array(), edge_types = json::array(),
       slots = json::array();
  for (const auto& type : of.info.node_types)
    node_types.push_back(node_type_json(type));
  for (const auto& type : of.info.edge_types)
    edge_types.push_back(edge_type_json(of.info, type));
  for (const auto& slot : slots_of(of.form, of.info))
    slots.push_back({{"name", slot.name},
                     {"about", about_text(slot.about)},
                     {"type", slot.type},
                     {"element", to_string(slot.element)}});
  json row_types = json::array(); // Of nodes there are none.
  if (const auto* task = chosen_task(of.info))
    row_types = task->edge_types;
  return json{{"opened",
               {{"version", feed_version},
                {"name", of.info.name},
                {"digest", of.info.digest},
                {"target", of.info.target},
                {"node_types", std::move(node_types)},
                {"edge_types", std::move(edge_types)},
                {"slots", std::move(slots)},
                {"merged", of.form.merged},
                {"hops", of.hops},
                {"seeds", of.seeds},
                {"batch_size", of.batch_size},
                {"arena", of.arena_bytes},
                {"row_types", std::move(row_types)},
                {"settings", settings_json(of)}}}}
    .dump();
}

std::string error_frame(const error& reason) {
  return json{
    {"error", {{"code", to_string(reason.code)}, {"message", reason.message}}}}
    .dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string verdict_frame(const result<verdict>& said) {
  json out;
  if (said)
    out = {{"limit", said.value().limit},
           {"sentence", said.value().sentence},
           {"evidence", said.value().evidence}};
  else
    out = {{"code", to_string(said.error().code)},
           {"message", said.error().message}};
  return json{{"verdict", std::move(out)}}.dump(-1, ' ', false,
                                                json::error_handler_t::replace);
}

std::string waits_frame(const std::string& what) {
  return json{{"waits", what}}.dump(-1, ' ', false,
                                    json::error_handler_t::replace);
}

std::vector<std::int64_t> batch_frame(std::uint64_t sequence,
                                      std::uint64_t pass,
                                      const formed_batch& batch,
                                      const arena& memory) {
  const auto& key = batch.data.key;
  std::vector<std::int64_t> out{batch_tag,
                                static_cast<std::int64_t>(sequence),
                                static_cast<std::int64_t>(pass),
                                key.epoch,
                                key.step,
                                batch.global_seeds};
  for (const auto& found : batch.found)
    out.insert(out.end(), found.begin(), found.end());
  for (const auto& edges : batch.edges)
    out.insert(out.end(), edges.begin(), edges.end());
  for (const auto& array : batch.arrays)
    out.insert(out.end(), {array.data == nullptr ? 0
                                                 : static_cast<std::int64_t>(
                                                   memory.place_of(array.data)),
                           array.rows, array.columns});
  return out;
}

} // namespace graphmill
