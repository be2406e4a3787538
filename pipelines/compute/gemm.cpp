#include "pipelines/compute/gemm.hpp"

#include "pipelines/replica.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <dlfcn.h>

#include <algorithm>

namespace graphmill {

namespace {

at::Tensor wrap(const_matrix m) {
  // Torch knows no tensors of constant data; inputs of products stay unchanged.
  return at::from_blob(const_cast<float*>(m.data), {m.rows, m.columns},
                       at::kFloat);
}

void multiply(const at::Tensor& a, const at::Tensor& b, float beta, matrix c) {
  if (c.size() == 0)
    return;
  if (a.size(1) == 0) {
    if (beta == 0)
      std::fill(c.data, c.data + c.size(), 0.0f);
    return;
  }
  const at::NoGradGuard no_grad;
  auto out = wrap(c);
  if (beta == 0)
    at::mm_out(out, a, b);
  else
    at::addmm_out(out, out, a, b, beta, 1);
}

} // namespace

void multiply(const_matrix a, const_matrix b, float beta, matrix c) {
  multiply(wrap(a), wrap(b), beta, c);
}

void multiply_tn(const_matrix a, const_matrix b, float beta, matrix c) {
  multiply(wrap(a).t(), wrap(b), beta, c);
}

void multiply_nt(const_matrix a, const_matrix b, float beta, matrix c) {
  multiply(wrap(a), wrap(b).t(), beta, c);
}

void set_compute_threads(unsigned threads) {
  const auto count = static_cast<int>(std::clamp(threads, 1u, 1024u));
  at::set_num_threads(count);
  // libtorch does not bound OpenBLAS's own threads; another BLAS has no such
  // function.
  using setter = void (*)(int);
  if (auto* symbol = dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))
    reinterpret_cast<setter>(symbol)(count);
}

} // namespace graphmill
