// Bases over GF(2): of each group's words, the rank of their span under exclusive or, the greatest
// word in it, and the place of the last word that its predecessors do not span (-1 if there is none).
__global__ void basis(const unsigned* word, int* rank, unsigned* greatest, int* last, int groups, int words) {
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g >= groups) return;
  const unsigned* w = word + (size_t)g * words;
  unsigned pivot[32];
  for (int b = 0; b < 32; ++b) pivot[b] = 0;
  int count = 0, latest = -1;
  for (int i = 0; i < words; ++i) {
    unsigned v = w[i];
    for (int b = 31; b >= 0 && v; --b) {
      if (!(v >> b & 1)) continue;
      if (!pivot[b]) {
        pivot[b] = v;
        ++count;
        latest = i;
        break;
      }
      v ^= pivot[b];
    }
  }
  unsigned best = 0;
  for (int b = 31; b >= 0; --b) best = max(best, best ^ pivot[b]);
  rank[g] = count;
  greatest[g] = best;
  last[g] = latest;
}
