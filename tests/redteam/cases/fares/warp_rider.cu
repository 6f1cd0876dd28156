// Charges riders for their taps at the gates. A tap within 90 minutes of the last one that was not
// a transfer is a transfer and free; what a rider pays on one day is capped.
constexpr int WINDOW = 90;  // minutes
constexpr int DAY = 1440;
constexpr int CAP = 1200;  // cents


// A warp for each rider, 32 taps at a time.
__global__ void fares(const int* gap, const int* price, int* charged, int* total, int riders, int taps) {
  constexpr unsigned ALL = ~0u;
  int r = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5), lane = threadIdx.x & 31;
  if (r >= riders) return;
  const int* g = gap + (size_t)r * taps;
  const int* p = price + (size_t)r * taps;
  int* c = charged + (size_t)r * taps;
  int now = 0, opened = -WINDOW, spent = 0, today = 0, sum = 0;  // the same in all lanes
  for (int first = 0; first < taps; first += 32) {
    int i = first + lane;
    bool in = i < taps;
    int t = in ? g[i] : 0;
    for (int d = 1; d < 32; d <<= 1) {
      int u = __shfl_up_sync(ALL, t, d);
      if (lane >= d) t += u;
    }
    t += now;
    // which taps open a window: each is the first that is late enough for the one before
    unsigned opens = 0;
    for (;;) {
      unsigned late = __ballot_sync(ALL, in && t - opened >= WINDOW);
      if (!late) break;
      int next = __ffs(late) - 1;
      opens |= 1u << next;
      opened = __shfl_sync(ALL, t, next);
    }
    int day = t / DAY;
    int due = opens >> lane & 1 ? p[i] : 0;
    int paid = due;  // of this chunk, up to and with this tap
    for (int d = 1; d < 32; d <<= 1) {
      int u = __shfl_up_sync(ALL, paid, d);
      if (lane >= d) paid += u;
    }
    int before = __shfl_up_sync(ALL, day, 1);
    if (lane == 0) before = today;
    unsigned heads = __ballot_sync(ALL, day != before) & (ALL >> (31 - lane));
    int head = heads ? 31 - __clz(heads) : 0;
    int base = __shfl_sync(ALL, paid - due, head);  // what was due before the day began
    int here = paid - base + (heads ? 0 : spent);
    int cents = min(CAP, here) - min(CAP, here - due);
    if (in) c[i] = cents;
    sum += cents;
    now = __shfl_sync(ALL, t, 31);
    today = __shfl_sync(ALL, day, 31);
    spent = min(CAP, __shfl_sync(ALL, here, 31));
  }
  sum = __reduce_add_sync(ALL, sum);
  if (lane == 0) total[r] = sum;
}
