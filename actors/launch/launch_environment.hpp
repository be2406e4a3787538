#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace graphmill {

/// A daemon's place among those that a launcher started, as its environment
/// tells: what `graphmill node` is to do where no flag says otherwise.
struct launch_environment {
  std::uint32_t rank = 0;
  std::uint32_t world = 1;
  std::uint32_t local_world = 1; ///< Daemons that share this machine.
  std::string name;              ///< "daemon-<rank>", the same after a restart.
  std::string listen;    ///< Rank 0: at the port that all know. Others: any.
  std::string advertise; ///< Rank 0: the host that all know. Others: empty.
  std::string join;      ///< Address of rank 0; empty for rank 0 itself.
  /// What CUDA_VISIBLE_DEVICES should be, so that the daemons of a machine have
  /// a device each. Empty: as it is.
  std::string devices;

  /// What `--serve` would say for a dataset of that many parts.
  std::string serve(part_id parts) const;
};

/// The value of an environment variable, if it is set.
using environment_lookup =
  std::function<std::optional<std::string>(const std::string& name)>;

/// The environment of this process.
std::optional<std::string> environment_variable(const std::string& name);

/// Variables that a daemon reads, by name. `graphmill up` is a launcher itself
/// and hides them from its daemons: they are of another one.
std::span<const char* const> launcher_variables();

/// Reads RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, as torchrun and many
/// others set them, or SLURM_PROCID, SLURM_NTASKS and SLURM_JOB_NODELIST, as
/// srun does; MASTER_ADDR and MASTER_PORT win over SLURM's list and the usual
/// port. Where torchrun itself listens at MASTER_PORT (it says so by
/// TORCHELASTIC_USE_AGENT_STORE), the port after it is used. LOCAL_RANK, where
/// LOCAL_WORLD_SIZE says that this daemon is not alone on its machine, picks a
/// device out of CUDA_VISIBLE_DEVICES, or of all; SLURM sets that by itself
/// (--gpus-per-task).
/// @param devices NVIDIA devices of this machine.
/// @param addressed Flags give the addresses: they are neither read nor
/// checked.
/// @returns nothing if there is no launcher, or just one process without
/// MASTER_ADDR or of SLURM. Fails if the variables make no sense together.
result<std::optional<launch_environment>>
read_launch_environment(const environment_lookup& lookup, std::uint32_t devices,
                        bool addressed = false);

/// NVIDIA devices of this machine, without asking their driver, which would
/// read the environment.
std::uint32_t nvidia_devices();

/// The first host of a list in SLURM's short form: "n[007-009,12],login" gives
/// "n007". Fails with invalid_argument if that is no such list.
result<std::string> first_slurm_host(const std::string& list);

} // namespace graphmill
