// Bases over GF(2): of each group's words, the rank of their span under exclusive or, the greatest
// word in it, and the place of the last word that its predecessors do not span (-1 if there is none).
// A warp for each group: words look for free pivots all at once.
__global__ void basis(const unsigned* word, int* rank, unsigned* greatest, int* last, int groups, int words) {
  __shared__ unsigned slots[4][32];
  __shared__ int found[4][2];
  int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  int g = blockIdx.x * 4 + warp;
  if (g >= groups) return;
  const unsigned* w = word + (size_t)g * words;
  unsigned* pivot = slots[warp];
  pivot[lane] = 0;
  if (lane < 2) found[warp][lane] = -lane;
  __syncwarp();
  for (int i = lane; i < words; i += 32) {
    unsigned v = w[i];
    while (v) {
      int b = 31 - __clz(v);
      unsigned p = atomicCAS(&pivot[b], 0u, v);
      if (p == 0) {
        atomicAdd(&found[warp][0], 1);
        atomicMax(&found[warp][1], i);
        break;
      }
      v ^= p;
    }
  }
  __syncwarp();
  if (lane == 0) {
    unsigned best = 0;
    for (int b = 31; b >= 0; --b) best = max(best, best ^ pivot[b]);
    rank[g] = found[warp][0];
    greatest[g] = best;
    last[g] = found[warp][1];
  }
}
