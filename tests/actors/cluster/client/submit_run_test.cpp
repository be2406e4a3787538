#include "actors/cluster/client/submit_run.hpp"

#include "pipelines/definition/definition_file.hpp"
#include "pipelines/results/checkpoint.hpp"
#include "pipelines/results/safetensors.hpp"
#include "tests/actors/cluster/client/fake_coordinator.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <fstream>
#include <optional>

using namespace graphmill;
using namespace graphmill::test;

namespace {

/// A coordinator that keeps what it is sent.
struct taking_coordinator {
  taking_coordinator() {
    fake.on(method::upload, [this](const payload& body) -> result<payload> {
      GRAPHMILL_TRY(const auto piece, decode_upload_request(body));
      std::ofstream{uploaded / piece.file, std::ios::app}.write(
        reinterpret_cast<const char*>(piece.bytes.data()),
        static_cast<std::streamsize>(piece.bytes.size()));
      return payload{};
    });
    fake.on(method::submit, [this](const payload& body) -> result<payload> {
      GRAPHMILL_TRY(submitted, decode_definition_body(body));
      GRAPHMILL_TRY(wanted, decode_resumption(body));
      return encode_run_id("r1");
    });
  }

  result<std::string> submit(const definition& def,
                             std::optional<learnt_from> learnt = std::nullopt) {
    cluster_client::settings with;
    with.command = "test";
    with.address = fake.address();
    with.key = fake.key_file();
    auto client = value_of(cluster_client::make(std::move(with)));
    return submit_run(client, def, true, {}, learnt);
  }

  temp_folder uploaded;
  definition submitted;
  resume_request wanted;
  fake_coordinator fake; ///< Last: it uses all of the above.
};

} // namespace

CATCH_TEST_CASE("the weights that a run begins with are sent before it",
                "[client]") {
  temp_folder folder;
  const auto file = folder / "weights.safetensors";
  value_of(
    write_safetensors(file, {.tensors = {{"a", {2}, {1, 2}},
                                         {"best.a", {2}, {3, 4}},
                                         {"b", {1, 1}, {5}},
                                         {"optimizer.first.a", {1}, {6}}},
                             .metadata = {}}));
  auto def = parse_definition("dataset: cora", "cora.yaml").value;
  taking_coordinator there;
  CATCH_CHECK(value_of(there.submit(def)) == "r1");
  CATCH_CHECK_FALSE(there.wanted.uploaded);
  CATCH_CHECK(there.fake.count(method::upload) == 0);

  def.model.weights = file.string();
  CATCH_CHECK(
    value_of(there.submit(def, learnt_from{"abc", {label_kind::multi_label}}))
    == "r1");
  CATCH_CHECK(there.wanted.uploaded);
  CATCH_CHECK(there.wanted.tensorboard);
  CATCH_CHECK(there.wanted.run.empty());
  CATCH_CHECK(
    there.submitted.model.weights.empty()); // It cannot be read there.
  const auto sent = value_of(read_checkpoint(there.uploaded.path()));
  CATCH_CHECK(sent.state.at == course_position{});
  CATCH_CHECK(sent.dataset_digest.empty());
  CATCH_CHECK(sent.learnt == learnt_from{"abc", {label_kind::multi_label}});
  CATCH_CHECK(sent.definition == definition_yaml(there.submitted));
  const auto& tensors = *sent.state.tensors;
  CATCH_REQUIRE(tensors.size() == 2);
  CATCH_CHECK(tensors[0].name == "a");
  CATCH_CHECK(tensors[0].values == std::vector<float>{1, 2});
  CATCH_CHECK(tensors[1].name == "b");
  CATCH_CHECK(tensors[1].shape == std::vector<std::int64_t>{1, 1});
}

CATCH_TEST_CASE("a run does not begin with weights that are not there",
                "[client]") {
  temp_folder folder;
  auto def = parse_definition("dataset: cora", "cora.yaml").value;
  def.model.weights = (folder / "none").string();
  taking_coordinator there;
  CATCH_CHECK(error_of(there.submit(def)).code == ec::not_found);
  CATCH_CHECK(there.fake.count(method::submit) == 0);
}
