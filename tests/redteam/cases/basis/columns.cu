// Bases over GF(2): of each group's words, the rank of their span under exclusive or, the greatest
// word in it, and the place of the last word that its predecessors do not span (-1 if there is none).
// A warp for each group: bit by bit, the first word that has it clears it from all behind.
__global__ void basis(const unsigned* word, int* rank, unsigned* greatest, int* last, int groups, int words) {
  constexpr unsigned ALL = ~0u;
  int g = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5), lane = threadIdx.x & 31;
  if (g >= groups) return;
  const unsigned* w = word + (size_t)g * words;
  unsigned pivot = 0;  // lane b: the one whose highest bit is b
  int count = 0, latest = -1;
  for (int first = 0; first < words; first += 32) {
    unsigned v = first + lane < words ? w[first + lane] : 0;
    for (int b = 31; b >= 0; --b) {
      unsigned have = __ballot_sync(ALL, v >> b & 1);
      if (!have) continue;
      unsigned p = __shfl_sync(ALL, pivot, b);
      if (!p) {
        int source = __ffs(have) - 1;
        p = __shfl_sync(ALL, v, source);
        if (lane == b) pivot = p;
        ++count;
        latest = max(latest, first + source);
      }
      if (v >> b & 1) v ^= p;
    }
  }
  unsigned best = 0;
  for (int b = 31; b >= 0; --b) best = max(best, best ^ __shfl_sync(ALL, pivot, b));
  if (lane == 0) {
    rank[g] = count;
    greatest[g] = best;
    last[g] = latest;
  }
}
