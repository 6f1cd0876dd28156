// Charges riders for their taps at the gates. A tap within 90 minutes of the last one that was not
// a transfer is a transfer and free; what a rider pays on one day is capped.
constexpr int WINDOW = 90;  // minutes
constexpr int DAY = 1440;
constexpr int CAP = 1200;  // cents

__global__ void fares(const int* gap, const int* price, int* charged, int* total, int riders, int taps) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= riders) return;
  const int* g = gap + (size_t)r * taps;  // minutes since the tap before; days begin at minute 0
  const int* p = price + (size_t)r * taps;
  int* c = charged + (size_t)r * taps;
  // spent in the low half, the sum of all days in the high one: one addition for both
  unsigned money = 0;
  int now = 0, opened = -WINDOW, midnight = DAY;
  for (int i = 0; i < taps; ++i) {
    now += g[i];
    if (now >= midnight) {
      midnight = (now / DAY + 1) * DAY;
      money &= 0xffff0000u;
    }
    unsigned cents = 0;
    if (now - opened >= WINDOW) {
      cents = min((unsigned)p[i], CAP - (money & 0xffffu));
      money += cents * 0x10001u;
      opened = now;
    }
    c[i] = cents;
  }
  int sum = money >> 16;
  total[r] = sum;
}
