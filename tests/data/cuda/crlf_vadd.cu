// Windows line ends, a class with a launching method, streams, and a grid-z loop.
#include <cuda_runtime.h>
#include <cstdio>
#include "helper_ops.h"

class Adder {
 public:
  explicit Adder(int n) : n_(n) { cudaStreamCreate(&stream_); }
  ~Adder() { cudaStreamDestroy(stream_); }
  void run(const float* a, const float* b, float* c) const;
 private:
  int n_;
  cudaStream_t stream_;
  static const int kThreads = 192;
};

static __global__ void add(const float* a, const float* b, float* c, const int n)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	c[i] = a[i] + b[i];
}

__global__ void chain(float* data, int n, int rounds)
{
	int tid = threadIdx.x + blockIdx.x * blockDim.x;
	if (tid < n)
	{
		float v = data[tid];
		for (int r = 0; r < rounds; r++)
		{
			v = v * 1.0001f + 0.5f;
			if (v > 1e6f) break;
		}
		data[tid] = v;
	}
}

void Adder::run(const float* a, const float* b, float* c) const
{
  const int blocks = (n_ + kThreads - 1) / kThreads;
  add<<<blocks, kThreads, 0, stream_>>>(a, b, c, n_);
  chain<<<dim3(blocks), dim3(kThreads), 0, stream_>>>(c, n_, 64);
}

int main()
{
  int n = 100000;
  float *a, *b, *c;
  cudaMallocManaged(&a, n * 4); cudaMallocManaged(&b, n * 4); cudaMallocManaged(&c, n * 4);
  Adder adder(n);
  adder.run(a, b, c);
  cudaDeviceSynchronize();
  std::printf("%g\n", c[0]);
  return 0;
}
