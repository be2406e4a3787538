#include "messages/definition/definition_codec.hpp"

#include "messages/base/printable.hpp"
#include "messages/definition/definition.capnp.h"
#include "messages/definition/definition_schema.hpp"
#include "messages/definition/field_codec.hpp"

#include <kj/exception.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace graphmill {

namespace {

/// Whether these are our values from 0 on, and the schema's behind `unset`.
/// That they are all there are is left to a test.
template <class Wire, class Ours>
constexpr bool aligned(std::initializer_list<std::pair<Wire, Ours>> pairs) {
  int next = 0;
  for (const auto& [wire, ours] : pairs) {
    if (static_cast<int>(ours) != next || static_cast<int>(wire) != next + 1)
      return false;
    ++next;
  }
  return true;
}
static_assert(aligned<schema::ModelKind, model_kind>(
  {{schema::ModelKind::SAGE, model_kind::sage},
   {schema::ModelKind::GCN, model_kind::gcn},
   {schema::ModelKind::GAT, model_kind::gat},
   {schema::ModelKind::RGCN, model_kind::rgcn},
   {schema::ModelKind::GIN, model_kind::gin},
   {schema::ModelKind::SAGE_SUM, model_kind::sage_sum},
   {schema::ModelKind::SAGE_MAX, model_kind::sage_max},
   {schema::ModelKind::SAGE_POOL, model_kind::sage_pool},
   {schema::ModelKind::MLP, model_kind::mlp},
   {schema::ModelKind::HETERO_SAGE, model_kind::hetero_sage},
   {schema::ModelKind::RGAT, model_kind::rgat},
   {schema::ModelKind::GATV2, model_kind::gatv2},
   {schema::ModelKind::HGT, model_kind::hgt},
   {schema::ModelKind::LOOKUP, model_kind::lookup},
   {schema::ModelKind::LIGHTGCN, model_kind::lightgcn}}));
static_assert(aligned<schema::OptimizerKind, optimizer_kind>(
  {{schema::OptimizerKind::ADAM, optimizer_kind::adam},
   {schema::OptimizerKind::ADAMW, optimizer_kind::adamw},
   {schema::OptimizerKind::SGD, optimizer_kind::sgd}}));
static_assert(aligned<schema::ScheduleKind, schedule_kind>(
  {{schema::ScheduleKind::CONSTANT, schedule_kind::constant},
   {schema::ScheduleKind::COSINE, schedule_kind::cosine},
   {schema::ScheduleKind::STEP, schedule_kind::step}}));
static_assert(aligned<schema::DecayedLayers, decayed_layers>(
  {{schema::DecayedLayers::ALL, decayed_layers::all},
   {schema::DecayedLayers::FIRST, decayed_layers::first}}));
static_assert(aligned<schema::SeedOrder, seed_order>(
  {{schema::SeedOrder::LOCAL, seed_order::local},
   {schema::SeedOrder::GLOBAL, seed_order::global}}));
static_assert(aligned<schema::NeighbourUse, neighbour_use>(
  {{schema::NeighbourUse::SAMPLED, neighbour_use::sampled},
   {schema::NeighbourUse::ALL, neighbour_use::all}}));
static_assert(aligned<schema::EdgeWeights, edge_weight_use>(
  {{schema::EdgeWeights::USE, edge_weight_use::use},
   {schema::EdgeWeights::IGNORE, edge_weight_use::ignore}}));
static_assert(aligned<schema::EdgeFeatures, edge_feature_use>(
  {{schema::EdgeFeatures::USE, edge_feature_use::use},
   {schema::EdgeFeatures::IGNORE, edge_feature_use::ignore}}));
static_assert(aligned<schema::EdgeAges, edge_age_use>(
  {{schema::EdgeAges::NONE, edge_age_use::none},
   {schema::EdgeAges::LOG, edge_age_use::log},
   {schema::EdgeAges::COSINE, edge_age_use::cosine}}));
static_assert(aligned<schema::TimeUse, time_use>(
  {{schema::TimeUse::NONE, time_use::none},
   {schema::TimeUse::IGNORE, time_use::ignore},
   {schema::TimeUse::STRICT, time_use::strict},
   {schema::TimeUse::INCLUSIVE, time_use::inclusive}}));
static_assert(aligned<schema::VisibleEdges, visible_edges>(
  {{schema::VisibleEdges::TRAINING, visible_edges::training},
   {schema::VisibleEdges::PAST, visible_edges::past}}));
static_assert(aligned<schema::RelationUse, relation_use>(
  {{schema::RelationUse::SUM, relation_use::sum},
   {schema::RelationUse::MEAN, relation_use::mean},
   {schema::RelationUse::MEAN_OF_ALL, relation_use::mean_of_all}}));
static_assert(aligned<schema::Precision, feature_precision>(
  {{schema::Precision::FLOAT32, feature_precision::float32},
   {schema::Precision::FLOAT16, feature_precision::float16}}));
static_assert(aligned<schema::SamplingMethod, sampling_method>(
  {{schema::SamplingMethod::UNIFORM, sampling_method::uniform},
   {schema::SamplingMethod::WEIGHTED, sampling_method::weighted},
   {schema::SamplingMethod::LABOR, sampling_method::labor},
   {schema::SamplingMethod::PINSAGE, sampling_method::pinsage},
   {schema::SamplingMethod::HGT, sampling_method::hgt},
   {schema::SamplingMethod::SAINT, sampling_method::saint}}));
static_assert(aligned<schema::SubgraphKind, subgraph_kind>(
  {{schema::SubgraphKind::DIRECTIONAL, subgraph_kind::directional},
   {schema::SubgraphKind::BIDIRECTIONAL, subgraph_kind::bidirectional},
   {schema::SubgraphKind::INDUCED, subgraph_kind::induced}}));
static_assert(aligned<schema::CacheOrder, cache_order>(
  {{schema::CacheOrder::VIP, cache_order::vip},
   {schema::CacheOrder::DEGREE, cache_order::degree}}));
static_assert(aligned<schema::EvaluationMetric, evaluation_metric>(
  {{schema::EvaluationMetric::ACCURACY, evaluation_metric::accuracy},
   {schema::EvaluationMetric::LOSS, evaluation_metric::loss},
   {schema::EvaluationMetric::F1_MACRO, evaluation_metric::f1_macro},
   {schema::EvaluationMetric::ROC_AUC, evaluation_metric::roc_auc},
   {schema::EvaluationMetric::AVERAGE_PRECISION,
    evaluation_metric::average_precision},
   {schema::EvaluationMetric::F1_MICRO, evaluation_metric::f1_micro},
   {schema::EvaluationMetric::MSE, evaluation_metric::mse},
   {schema::EvaluationMetric::MAE, evaluation_metric::mae},
   {schema::EvaluationMetric::F1, evaluation_metric::f1},
   {schema::EvaluationMetric::PRECISION, evaluation_metric::precision},
   {schema::EvaluationMetric::RECALL, evaluation_metric::recall},
   {schema::EvaluationMetric::RECALL_AT_FPR, evaluation_metric::recall_at_fpr},
   {schema::EvaluationMetric::PRECISION_AT_K,
    evaluation_metric::precision_at_k},
   {schema::EvaluationMetric::MRR, evaluation_metric::mrr},
   {schema::EvaluationMetric::HITS, evaluation_metric::hits},
   {schema::EvaluationMetric::MEAN_RANK, evaluation_metric::mean_rank},
   {schema::EvaluationMetric::NDCG, evaluation_metric::ndcg}}));
static_assert(aligned<schema::DecoderKind, decoder_kind>(
  {{schema::DecoderKind::DOT, decoder_kind::dot},
   {schema::DecoderKind::COSINE, decoder_kind::cosine},
   {schema::DecoderKind::DISTMULT, decoder_kind::distmult},
   {schema::DecoderKind::COMPLEX, decoder_kind::complex},
   {schema::DecoderKind::TRANSE, decoder_kind::transe},
   {schema::DecoderKind::ROTATE, decoder_kind::rotate},
   {schema::DecoderKind::BILINEAR, decoder_kind::bilinear},
   {schema::DecoderKind::MLP, decoder_kind::mlp}}));
static_assert(aligned<schema::NegativeKind, negative_kind>(
  {{schema::NegativeKind::PER_EDGE, negative_kind::per_edge},
   {schema::NegativeKind::JOINT, negative_kind::joint},
   {schema::NegativeKind::GIVEN, negative_kind::given}}));
static_assert(aligned<schema::CorruptedEnd, corrupted_end>(
  {{schema::CorruptedEnd::DESTINATION, corrupted_end::destination},
   {schema::CorruptedEnd::SOURCE, corrupted_end::source},
   {schema::CorruptedEnd::BOTH, corrupted_end::both},
   {schema::CorruptedEnd::PAIR, corrupted_end::pair}}));
static_assert(aligned<schema::NegativeWeight, negative_weight>(
  {{schema::NegativeWeight::UNIFORM, negative_weight::uniform},
   {schema::NegativeWeight::DEGREE, negative_weight::degree}}));
static_assert(aligned<schema::Exclusion, exclusion>(
  {{schema::Exclusion::PAIR, exclusion::pair},
   {schema::Exclusion::NONE, exclusion::none}}));
static_assert(aligned<schema::LinkLoss, link_loss>(
  {{schema::LinkLoss::BCE, link_loss::bce},
   {schema::LinkLoss::MARGIN, link_loss::margin},
   {schema::LinkLoss::BPR, link_loss::bpr},
   {schema::LinkLoss::SOFTMAX, link_loss::softmax},
   {schema::LinkLoss::SELF_ADVERSARIAL, link_loss::self_adversarial}}));
static_assert(aligned<schema::MeasuredSplit, measured_split>(
  {{schema::MeasuredSplit::NONE, measured_split::none},
   {schema::MeasuredSplit::TRAIN, measured_split::train},
   {schema::MeasuredSplit::VALIDATION, measured_split::validation},
   {schema::MeasuredSplit::TEST, measured_split::test}}));
static_assert(aligned<schema::ValueLoss, value_loss>(
  {{schema::ValueLoss::MSE, value_loss::mse},
   {schema::ValueLoss::MAE, value_loss::mae},
   {schema::ValueLoss::HUBER, value_loss::huber}}));

// -- checks

using field = capnp::StructSchema::Field;

result<void> check_number(double value, const field_notes& notes,
                          const std::string& path) {
  if (notes.range && !notes.range->contains(value)
      && !(notes.word && notes.word->value == value))
    return fail(ec::invalid_data, "{} is {}, must be {}", path, value,
                range_text(*notes.range, notes.unit));
  return ok();
}

/// Refuses NULs: libraries to which a text is given, as a path for instance,
/// would see its end there, and what was checked would not be what is used. And
/// what is no UTF-8: the definition in a run's folder could not be read again.
result<void> check_text(capnp::Text::Reader text, const std::string& path) {
  if (std::find(text.begin(), text.end(), '\0') != text.end())
    return fail(ec::invalid_data,
                "{} has a NUL character, which no text may have; leave it out",
                path);
  for (std::string_view left{text.begin(), text.size()}; !left.empty();) {
    const auto length = utf8_length(left);
    if (length == 0)
      return fail(ec::invalid_data,
                  "{} has a byte that is not UTF-8; write it as UTF-8", path);
    left.remove_prefix(length);
  }
  return ok();
}

result<void> check_struct(capnp::DynamicStruct::Reader reader,
                          const std::string& prefix);

result<void> check_list(capnp::DynamicList::Reader list,
                        const field_notes& notes, const std::string& path) {
  if (notes.length && !notes.length->contains(list.size()))
    return fail(ec::invalid_data, "{} has {} elements, must have {}", path,
                list.size(), range_text(*notes.length, ""));
  // There is one for each type of edges, of which a batch has no more.
  constexpr unsigned most = 4096;
  if (list.getSchema().whichElementType() == capnp::schema::Type::STRUCT
      && list.size() > most)
    return fail(ec::invalid_data,
                "{} has {} elements, must have {} at the most", path,
                list.size(), most);
  for (auto element : list) {
    if (element.getType() == capnp::DynamicValue::INT
        || element.getType() == capnp::DynamicValue::FLOAT) {
      GRAPHMILL_TRYV(check_number(element.as<double>(), notes, path));
    } else if (element.getType() == capnp::DynamicValue::TEXT) {
      GRAPHMILL_TRYV(check_text(element.as<capnp::Text>(), path));
    } else if (element.getType() == capnp::DynamicValue::STRUCT) {
      GRAPHMILL_TRYV(
        check_struct(element.as<capnp::DynamicStruct>(), path + '.'));
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
    const auto text = value.as<capnp::Text>();
    const auto size = text.size();
    if (notes.length && !notes.length->contains(static_cast<double>(size)))
      return fail(ec::invalid_data, "{} has {} characters, must have {}", path,
                  size, range_text(*notes.length, ""));
    return check_text(text, path);
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
    GRAPHMILL_TRYV(
      check_value(reader.get(f), notes_of(f), prefix + user_name(f)));
  return ok();
}

} // namespace

result<definition> decode_definition(capnp::DynamicStruct::Reader reader) {
  try {
    GRAPHMILL_TRYV(check_struct(reader, ""));
    return read_fields<definition>(reader);
  } catch (const kj::Exception& broken) {
    return fail(ec::invalid_data, "cannot decode a definition: {}",
                broken.getDescription().cStr());
  }
}

void encode_definition(const definition& def,
                       capnp::DynamicStruct::Builder builder) {
  definition::fields(def, field_writer{builder});
}

void field_reader::read(const char*, const value& from,
                        definition& into) const {
  auto got = decode_definition(from.as<capnp::DynamicStruct>());
  if (got)
    into = std::move(got).value();
  else
    seen_->failure = std::move(got).error();
}

} // namespace graphmill
