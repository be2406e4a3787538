#pragma once

#include "actors/base/faulty_worker.hpp"
#include "actors/stages/batcher.hpp"
#include "actors/stages/fetcher.hpp"
#include "messages/definition/definition.hpp"

// What the section `faults` of a definition does to the workers of each stage.

namespace graphmill {

using faults_section = definition::faults_section;

worker_faults<neighbour_job> sampling_service_faults(const faults_section& of);
worker_faults<gather_job> feature_service_faults(const faults_section& of);
worker_faults<sample_job> sampler_faults(const faults_section& of);
worker_faults<sample_job> batch_proxy_faults(const faults_section& of);
worker_faults<fetch_job> fetcher_faults(const faults_section& of);
worker_faults<assemble_job> batcher_faults(const faults_section& of);

} // namespace graphmill
