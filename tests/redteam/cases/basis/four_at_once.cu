// Bases over GF(2): of each group's words, the rank of their span under exclusive or, the greatest
// word in it, and the place of the last word that its predecessors do not span (-1 if there is none).
__global__ void basis(const unsigned* word, int* rank, unsigned* greatest, int* last, int groups, int words) {
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g >= groups) return;
  const unsigned* w = word + (size_t)g * words;
  unsigned pivot[32];
  for (int b = 0; b < 32; ++b) pivot[b] = 0;
  int count = 0, latest = -1;
  auto insert = [&](unsigned v, int i) {
    while (v) {
      int b = 31 - __clz(v);
      if (!pivot[b]) {
        pivot[b] = v;
        ++count;
        latest = i;
        break;
      }
      v ^= pivot[b];
    }
  };
  int i = 0;
  if ((long long)groups * words % 4 == 0)
    for (; i + 4 <= words; i += 4) {
      uint4 q = *(const uint4*)(w + i);
      insert(q.x, i);
      insert(q.y, i + 1);
      insert(q.z, i + 2);
      insert(q.w, i + 3);
    }
  for (; i < words; ++i) insert(w[i], i);
  unsigned best = 0;
  for (int b = 31; b >= 0; --b) best = max(best, best ^ pivot[b]);
  rank[g] = count;
  greatest[g] = best;
  last[g] = latest;
}
