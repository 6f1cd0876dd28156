// Charges riders for their taps at the gates. A tap within 90 minutes of the last one that was not
// a transfer is a transfer and free; what a rider pays on one day is capped.
constexpr int WINDOW = 90;  // minutes
constexpr int DAY = 1440;
constexpr int CAP = 1200;  // cents

constexpr int TILE = 32;

// A warp for each 32 riders; their taps come and go by way of shared memory, a row at a time.
__global__ void fares(const int* gap, const int* price, int* charged, int* total, int riders, int taps) {
  __shared__ int gaps[TILE][TILE + 1], prices[TILE][TILE + 1];
  int lane = threadIdx.x, first = blockIdx.x * TILE;
  int rows = min(TILE, riders - first);
  int now = 0, opened = -WINDOW, today = 0, spent = 0, sum = 0;
  for (int from = 0; from < taps; from += TILE) {
    int n = min(TILE, taps - from);
    for (int k = 0; k < rows; ++k)
      if (lane < n) {
        size_t at = (size_t)(first + k) * taps + from + lane;
        gaps[k][lane] = gap[at];
        prices[k][lane] = price[at];
      }
    __syncwarp();
    if (lane < rows)
      for (int i = 0; i < n; ++i) {
        now += gaps[lane][i];
        int cents = 0;
        if (now - opened >= WINDOW) {
          int day = now / DAY;  // of the taps that are charged alone
          if (day != today) spent = 0;
          today = day;
          cents = min(prices[lane][i], CAP - spent);
          spent += cents;
          sum += cents;
          opened = now;
        }
        prices[lane][i] = cents;
      }
    __syncwarp();
    for (int k = 0; k < rows; ++k)
      if (lane < n) charged[(size_t)(first + k) * taps + from + lane] = prices[k][lane];
    __syncwarp();
  }
  if (lane < rows) total[first + lane] = sum;
}
