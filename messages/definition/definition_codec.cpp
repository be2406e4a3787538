#include "messages/definition/definition_codec.hpp"

#include "messages/definition/definition.capnp.h"
#include "messages/definition/definition_schema.hpp"

#include <kj/exception.h>

namespace graphmill {

namespace {

// Enumerations of the schema have `unset` before the values of ours.
template <class Wire, class Ours>
constexpr bool aligned(Wire wire, Ours ours) {
  return static_cast<int>(wire) == static_cast<int>(ours) + 1;
}
static_assert(aligned(schema::ModelKind::RGCN, model_kind::rgcn));
static_assert(aligned(schema::OptimizerKind::SGD, optimizer_kind::sgd));
static_assert(aligned(schema::ScheduleKind::STEP, schedule_kind::step));
static_assert(aligned(schema::SeedOrder::GLOBAL, seed_order::global));
static_assert(aligned(schema::NeighbourUse::ALL, neighbour_use::all));
static_assert(aligned(schema::Precision::FLOAT16, feature_precision::float16));
static_assert(aligned(schema::CacheOrder::DEGREE, cache_order::degree));

template <class Ours, class Wire>
Ours ours(Wire value) {
  return static_cast<Ours>(static_cast<int>(value) - 1);
}

template <class Wire, class Ours>
Wire to_wire(Ours value) {
  return static_cast<Wire>(static_cast<int>(value) + 1);
}

template <class List>
std::vector<std::int32_t> numbers(List list) {
  std::vector<std::int32_t> out;
  out.reserve(list.size());
  for (auto value : list)
    out.push_back(value);
  return out;
}

// -- checks

using field = capnp::StructSchema::Field;

result<void> check_number(double value, const field_notes& notes,
                          const std::string& path) {
  if (notes.range && !notes.range->contains(value))
    return fail(ec::invalid_data, "{} is {}, must be {}", path, value,
                range_text(*notes.range, notes.unit));
  return ok();
}

result<void> check_struct(capnp::DynamicStruct::Reader reader,
                          const std::string& prefix);

result<void> check_list(capnp::DynamicList::Reader list,
                        const field_notes& notes, const std::string& path) {
  if (notes.length && !notes.length->contains(list.size()))
    return fail(ec::invalid_data, "{} has {} elements, must have {}", path,
                list.size(), range_text(*notes.length, ""));
  for (auto element : list) {
    if (element.getType() == capnp::DynamicValue::INT) {
      TRYV(check_number(element.as<double>(), notes, path));
    } else if (element.getType() == capnp::DynamicValue::STRUCT) {
      TRYV(check_struct(element.as<capnp::DynamicStruct>(), path + '.'));
    }
  }
  return ok();
}

result<void> check_value(capnp::DynamicValue::Reader value,
                         const field_notes& notes, const std::string& path) {
  switch (value.getType()) {
  case capnp::DynamicValue::INT:
  case capnp::DynamicValue::UINT:
  case capnp::DynamicValue::FLOAT:
    return check_number(value.as<double>(), notes, path);
  case capnp::DynamicValue::TEXT: {
    const auto size = value.as<capnp::Text>().size();
    if (notes.length && !notes.length->contains(static_cast<double>(size)))
      return fail(ec::invalid_data, "{} has {} characters, must have {}", path,
                  size, range_text(*notes.length, ""));
    return ok();
  }
  case capnp::DynamicValue::ENUM: {
    const auto raw = value.as<capnp::DynamicEnum>();
    if (raw.getRaw() == 0 || raw.getEnumerant() == nullptr)
      return fail(ec::invalid_data,
                  "{} has the value {}, which this version does not know", path,
                  raw.getRaw());
    return ok();
  }
  case capnp::DynamicValue::LIST:
    return check_list(value.as<capnp::DynamicList>(), notes, path);
  case capnp::DynamicValue::STRUCT:
    return check_struct(value.as<capnp::DynamicStruct>(), path + '.');
  default:
    return ok();
  }
}

result<void> check_struct(capnp::DynamicStruct::Reader reader,
                          const std::string& prefix) {
  for (auto f : reader.getSchema().getFields())
    TRYV(check_value(reader.get(f), notes_of(f), prefix + user_name(f)));
  return ok();
}

// -- sections

definition::sampler_section section(schema::Sampler::Reader in) {
  definition::sampler_section out;
  out.fanouts = numbers(in.getFanouts());
  for (auto entry : in.getEdgeFanouts())
    out.edge_fanouts[entry.getKey().cStr()] = numbers(entry.getValues());
  out.replace = in.getReplace();
  out.replicas = in.getReplicas();
  out.threads = in.getThreads();
  return out;
}

void section(const definition::sampler_section& in,
             schema::Sampler::Builder out) {
  out.setFanouts({in.fanouts.data(), in.fanouts.size()});
  auto entries =
    out.initEdgeFanouts(static_cast<unsigned>(in.edge_fanouts.size()));
  unsigned i = 0;
  for (const auto& [key, values] : in.edge_fanouts) {
    entries[i].setKey(key);
    entries[i++].setValues({values.data(), values.size()});
  }
  out.setReplace(in.replace);
  out.setReplicas(in.replicas);
  out.setThreads(in.threads);
}

definition::fetch_section section(schema::Fetch::Reader in) {
  return {in.getReplicas(), in.getThreads(),
          ours<feature_precision>(in.getPrecision()), in.getCache(),
          ours<cache_order>(in.getCacheOrder())};
}

void section(const definition::fetch_section& in, schema::Fetch::Builder out) {
  out.setReplicas(in.replicas);
  out.setThreads(in.threads);
  out.setPrecision(to_wire<schema::Precision>(in.precision));
  out.setCache(in.cache);
  out.setCacheOrder(to_wire<schema::CacheOrder>(in.cache_order));
}

definition::model_section section(schema::Model::Reader in) {
  return {ours<model_kind>(in.getKind()),
          in.getHidden(),
          in.getHeads(),
          in.getDropout(),
          in.getEmbedding(),
          in.getLayerNorm()};
}

void section(const definition::model_section& in, schema::Model::Builder out) {
  out.setKind(to_wire<schema::ModelKind>(in.kind));
  out.setHidden(in.hidden);
  out.setHeads(in.heads);
  out.setDropout(in.dropout);
  out.setEmbedding(in.embedding);
  out.setLayerNorm(in.layer_norm);
}

definition::optimizer_section section(schema::Optimizer::Reader in) {
  return {ours<optimizer_kind>(in.getKind()),
          in.getLearningRate(),
          in.getWeightDecay(),
          in.getMomentum(),
          ours<schedule_kind>(in.getSchedule()),
          in.getWarmupEpochs(),
          in.getStepEpochs(),
          in.getStepFactor()};
}

void section(const definition::optimizer_section& in,
             schema::Optimizer::Builder out) {
  out.setKind(to_wire<schema::OptimizerKind>(in.kind));
  out.setLearningRate(in.learning_rate);
  out.setWeightDecay(in.weight_decay);
  out.setMomentum(in.momentum);
  out.setSchedule(to_wire<schema::ScheduleKind>(in.schedule));
  out.setWarmupEpochs(in.warmup_epochs);
  out.setStepEpochs(in.step_epochs);
  out.setStepFactor(in.step_factor);
}

definition::train_section section(schema::Train::Reader in) {
  return {in.getBatchSize(), in.getEpochs(),
          in.getMaxSteps(),  ours<seed_order>(in.getSeedOrder()),
          in.getPatience(),  in.getRecordSteps()};
}

void section(const definition::train_section& in, schema::Train::Builder out) {
  out.setBatchSize(in.batch_size);
  out.setEpochs(in.epochs);
  out.setMaxSteps(in.max_steps);
  out.setSeedOrder(to_wire<schema::SeedOrder>(in.seed_order));
  out.setPatience(in.patience);
  out.setRecordSteps(in.record_steps);
}

template <class List>
std::vector<std::string> texts(List list) {
  std::vector<std::string> out;
  out.reserve(list.size());
  for (auto value : list)
    out.emplace_back(value.begin(), value.end());
  return out;
}

void put_texts(const std::vector<std::string>& from,
               capnp::List<capnp::Text>::Builder to) {
  for (unsigned i = 0; i < to.size(); ++i)
    to.set(i, from[i]);
}

definition::placement_section section(schema::Placement::Reader in) {
  return {texts(in.getTrainers()), texts(in.getSamplers())};
}

void section(const definition::placement_section& in,
             schema::Placement::Builder out) {
  put_texts(in.trainers,
            out.initTrainers(static_cast<unsigned>(in.trainers.size())));
  put_texts(in.samplers,
            out.initSamplers(static_cast<unsigned>(in.samplers.size())));
}

definition decode(schema::Definition::Reader in) {
  definition out;
  out.name = in.getName().cStr();
  out.dataset = in.getDataset().cStr();
  out.seed = in.getSeed();
  out.sampler = section(in.getSampler());
  out.fetch = section(in.getFetch());
  out.model = section(in.getModel());
  const auto trainer = in.getTrainer();
  out.trainer = {trainer.getReplicas(), trainer.getThreads(),
                 trainer.getDevice().cStr(), trainer.getStepTimeout()};
  out.optimizer = section(in.getOptimizer());
  out.train = section(in.getTrain());
  const auto evaluate = in.getEvaluate();
  out.evaluate = {ours<neighbour_use>(evaluate.getNeighbours()),
                  evaluate.getBatchSize(), evaluate.getEvery()};
  out.budget = {in.getBudget().getBytes(), in.getBudget().getBatches()};
  const auto faults = in.getFaults();
  out.faults = {faults.getReplyDelayMs(), faults.getTrainerDelayMs(),
                faults.getCrashEvery()};
  out.placement = section(in.getPlacement());
  return out;
}

} // namespace

result<definition> decode_definition(capnp::DynamicStruct::Reader reader) {
  try {
    TRYV(check_struct(reader, ""));
    return decode(reader.as<schema::Definition>());
  } catch (const kj::Exception& broken) {
    return fail(ec::invalid_data, "cannot decode a definition: {}",
                broken.getDescription().cStr());
  }
}

void encode_definition(const definition& def,
                       capnp::DynamicStruct::Builder builder) {
  auto out = builder.as<schema::Definition>();
  out.setName(def.name);
  out.setDataset(def.dataset);
  out.setSeed(def.seed);
  section(def.sampler, out.initSampler());
  section(def.fetch, out.initFetch());
  section(def.model, out.initModel());
  auto trainer = out.initTrainer();
  trainer.setReplicas(def.trainer.replicas);
  trainer.setThreads(def.trainer.threads);
  trainer.setDevice(def.trainer.device);
  trainer.setStepTimeout(def.trainer.step_timeout);
  section(def.optimizer, out.initOptimizer());
  section(def.train, out.initTrain());
  auto evaluate = out.initEvaluate();
  evaluate.setNeighbours(
    to_wire<schema::NeighbourUse>(def.evaluate.neighbours));
  evaluate.setBatchSize(def.evaluate.batch_size);
  evaluate.setEvery(def.evaluate.every);
  auto budget = out.initBudget();
  budget.setBytes(def.budget.bytes);
  budget.setBatches(def.budget.batches);
  auto faults = out.initFaults();
  faults.setReplyDelayMs(def.faults.reply_delay_ms);
  faults.setTrainerDelayMs(def.faults.trainer_delay_ms);
  faults.setCrashEvery(def.faults.crash_every);
  section(def.placement, out.initPlacement());
}

} // namespace graphmill
