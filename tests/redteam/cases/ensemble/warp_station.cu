// Scores ensemble forecasts: the continuous ranked probability score of each station's members
// against what was observed, and the observation's rank among them (twice the members below, and
// one for each that is equal).
#include <cmath>

// A warp for each station: 32 members in its lanes meet all that follow, handed round.
__global__ void ensemble(const float* member, const float* observed, float* score, int* rank, int stations,
                         int members) {
  constexpr unsigned ALL = ~0u;
  int s = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5), lane = threadIdx.x & 31;
  if (s >= stations) return;
  const float* x = member + (size_t)s * members;
  float y = observed[s], a = 0.0f, d = 0.0f;
  int below = 0;
  for (int first = 0; first < members; first += 32) {
    bool in = first + lane < members;
    float v = in ? x[first + lane] : 0.0f;
    below += 2 * __popc(__ballot_sync(ALL, in && v < y)) + __popc(__ballot_sync(ALL, in && v == y));
    if (in) a += fabsf(v - y);
    int here = min(32, members - first);
    for (int k = 0; k < here; ++k) {
      float w = __shfl_sync(ALL, v, k);
      if (lane < k) d += fabsf(w - v);
    }
    for (int next = first + 32; next < members; next += 32) {
      float u = next + lane < members ? x[next + lane] : 0.0f;
      int there = min(32, members - next);
      for (int k = 0; k < there; ++k) d += fabsf(__shfl_sync(ALL, u, k) - v);
    }
  }
  for (int step = 16; step > 0; step >>= 1) {
    a += __shfl_xor_sync(ALL, a, step);
    d += __shfl_xor_sync(ALL, d, step);
  }
  if (lane == 0) {
    float m = (float)members;
    score[s] = a / m - d / (m * m);
    rank[s] = below;
  }
}
