#pragma once

#include "messages/wire/cluster.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <nlohmann/json.hpp>

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace graphmill::test {

struct finished {
  int code = -1;
  std::string output; ///< Standard output.
  std::string errors; ///< Standard error.
};

/// A user at a shell in a folder of theirs, where their key lies, too. No
/// command may take a minute.
class user {
public:
  /// @param key Becomes the user's own, if it is named.
  explicit user(std::string cluster, const std::filesystem::path& key = {})
    : cluster_(std::move(cluster)) {
    if (!key.empty()) {
      const auto lies_in = own_key().parent_path();
      std::filesystem::create_directories(lies_in);
      std::filesystem::permissions(lies_in, std::filesystem::perms::owner_all);
      std::filesystem::copy_file(key, own_key());
    }
    std::ofstream{folder_ / "good.yaml"} << "dataset: cora\n"
                                            "train: {epochs: 2}\n";
    std::ofstream{folder_ / "bad.yaml"} << "dataset: cora\n"
                                           "train: {epoch: 2}\n";
  }

  finished runs(const std::string& arguments,
                const std::string& within = "timeout 60") const {
    const auto command =
      "cd '" + folder_.path().string() + "' && GRAPHMILL_CLUSTER='" + cluster_
      + "' XDG_CONFIG_HOME='" + (folder_ / "config").string() + "' " + within
      + " '" GRAPHMILL_PROGRAM "' " + arguments + " > out.txt 2> err.txt";
    const auto status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1,
            content_of(folder_ / "out.txt"), content_of(folder_ / "err.txt")};
  }

  nlohmann::json asks(const std::string& arguments, int code = 0) const {
    const auto got = runs(arguments + " --json");
    CATCH_INFO(got.errors);
    CATCH_CHECK(got.code == code);
    return nlohmann::json::parse(got.output);
  }

  const temp_folder& folder() const { return folder_; }
  std::filesystem::path own_key() const {
    return folder_ / "config" / "graphmill" / "key";
  }

private:
  std::string cluster_;
  temp_folder folder_;
};

/// Of a run that a fake coordinator tells of.
inline run_record record(run_state state) {
  run_record out;
  out.id = out.name = "good-1";
  out.state = state;
  out.submitted = unix_time{1700000000000};
  return out;
}

/// Its summary, as far as commands use it.
inline const nlohmann::json summary{{"test_accuracy", 0.8125},
                                    {"validation_accuracy", 0.75},
                                    {"epochs", 2},
                                    {"seconds", 1.0},
                                    {"steps", 8},
                                    {"digest", "abc"},
                                    {"run", "/there/good-1"}};

} // namespace graphmill::test
