// Scores ensemble forecasts: the continuous ranked probability score of each station's members
// against what was observed, and the observation's rank among them (twice the members below, and
// one for each that is equal).
#include <cmath>

// Floats in their order, as whole numbers.
__device__ inline int key(float f) {
  int k = __float_as_int(f);
  return k < 0 ? k ^ 0x7fffffff : k;
}

__global__ void ensemble(const float* member, const float* observed, float* score, int* rank, int stations,
                         int members) {
  __shared__ float away[64], apart[64];
  __shared__ int place;
  int s = blockIdx.x, t = threadIdx.x;
  const float* x = member + (size_t)s * members;
  float y = observed[s];
  if (t == 0) place = 0;
  __syncthreads();
  extern __shared__ float sorted[];
  float a = 0.0f, d = 0.0f;
  int below = 0;
  for (int i = t; i < members; i += 64) {
    float v = x[i];
    a += fabsf(v - y);
    int mine = key(v), at = 0;
    for (int j = 0; j < members; ++j) {
      int other = key(x[j]);
      at += other < mine || (other == mine && j < i);
    }
    sorted[at] = v;
  }
  __syncthreads();
  // a gap with k members on its left is crossed by k * (members - k) pairs
  for (int k = t + 1; k < members; k += 64) d += (float)k * (float)(members - k) * (sorted[k] - sorted[k - 1]);
  if (t == 0) {
    // members below and members not above, by bisection
    int mark = key(y);
    for (int side = 0; side < 2; ++side) {
      int low = 0, high = members;
      while (low < high) {
        int mid = (low + high) / 2;
        if (key(sorted[mid]) < mark + side) low = mid + 1;
        else high = mid;
      }
      below += low;
    }
  }
  away[t] = a;
  apart[t] = d;
  atomicAdd(&place, below);
  __syncthreads();
  for (int half = 32; half > 0; half >>= 1) {
    if (t < half) {
      away[t] += away[t + half];
      apart[t] += apart[t + half];
    }
    __syncthreads();
  }
  if (t == 0) {
    float m = (float)members;
    score[s] = away[0] / m - apart[0] / (m * m);
    rank[s] = place;
  }
}
