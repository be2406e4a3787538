#pragma once

#include "pipelines/definition/yaml/yaml_tree.hpp"

#include <cstddef>
#include <cstdint>

/// What a coordinator keeps for others, at the most. The transport bounds what
/// one client has under way (`client_limits`); these are of all together, and
/// where something outlives its request, of one host.
namespace graphmill::coordinator_limits {

/// Runs that wait: each has a folder, and its definition in memory.
inline constexpr std::size_t queued = 100;
/// Of those, runs that were submitted from one host. A script may fill the
/// queue but for ten places, which are there for others.
inline constexpr std::size_t queued_of_host = 90;
/// The longest definition, as YAML: what can be read again from the run's
/// folder. A thousand edge types have room in it.
inline constexpr std::size_t definition_bytes = yaml_size_limit;

/// Runs that go on with others, those that are on included: each has weights
/// and moments in memory until it has begun.
inline constexpr long resumed = 3;

/// Checkpoints that are being uploaded, of all clients and of those of a host.
inline constexpr std::size_t uploads = 4;
inline constexpr std::size_t uploads_of_host = 3;
/// Bytes of a file of theirs: the state of a hundred thousand epochs; weights,
/// moments and best weights of a model with half a billion parameters.
inline constexpr std::uint64_t upload_state_bytes = std::uint64_t{64} << 20;
inline constexpr std::uint64_t upload_tensor_bytes = std::uint64_t{8} << 30;
/// Of one client, who uploads one at a time, of one host, whose clients leave
/// room for the largest upload of another one, and of all together.
inline constexpr std::uint64_t upload_client_bytes = std::uint64_t{8} << 30;
inline constexpr std::uint64_t upload_host_bytes = std::uint64_t{8} << 30;
inline constexpr std::uint64_t upload_bytes = std::uint64_t{16} << 30;
/// Bytes a second, on the whole, that an upload brings after its first
/// `timeouts::upload_piece`: room is kept for all that is announced.
inline constexpr std::uint64_t upload_rate = std::uint64_t{1} << 20;

/// Watchers that wait at a time.
inline constexpr std::size_t watchers = 1024;
/// Questions that wait for the history.
inline constexpr std::size_t history_questions = 256;
/// Requests for files that wait; an answer takes 8 MiB.
inline constexpr std::size_t file_requests = 64;
/// Runs of one answer, and their bytes: an answer must fit in a frame.
inline constexpr std::uint32_t listed_runs = 500;

/// Daemons that ask to join and have not been reached yet: a connection is
/// attempted to each, for `timeouts::reach`. One that finds no room asks again.
inline constexpr std::size_t unreached = 64;
inline constexpr std::size_t unreached_of_host = 16;
/// Comings and goings of daemons that the log tells within ten seconds, each of
/// them three times: a large cluster may start at once.
inline constexpr std::size_t told_daemons = 2048;

} // namespace graphmill::coordinator_limits
