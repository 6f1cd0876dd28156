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
  int now = 0, opened = -WINDOW, today = 0, spent = 0, sum = 0;
  for (int i = 0; i < taps; ++i) {
    now += g[i];
    int due = p[i];
    if (due == 0) {  // nothing to pay, whatever it is
      c[i] = 0;
      continue;
    }
    if (now / DAY != today) {
      today = now / DAY;
      spent = 0;
    }
    int cents = 0;
    if (now - opened >= WINDOW) {
      cents = min(due, CAP - spent);
      spent += cents;
      sum += cents;
      opened = now;
    }
    c[i] = cents;
  }
  total[r] = sum;
}
