// Bases over GF(2): of each group's words, the rank of their span under exclusive or, the greatest
// word in it, and the place of the last word that its predecessors do not span (-1 if there is none).
__global__ void basis(const unsigned* word, int* rank, unsigned* greatest, int* last, int groups, int words) {
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g >= groups) return;
  const unsigned* w = word + (size_t)g * words;
  unsigned kept[32];  // in the order in which they came
  int count = 0, latest = -1;
  unsigned best = 0;
  for (int i = 0; i < words && count < 32; ++i) {
    unsigned v = w[i];
    for (int k = 0; k < count; ++k) v = min(v, v ^ kept[k]);
    if (!v) continue;
    kept[count++] = v;
    latest = i;
    best = max(best, best ^ v);
  }
  rank[g] = count;
  greatest[g] = best;
  last[g] = latest;
}
