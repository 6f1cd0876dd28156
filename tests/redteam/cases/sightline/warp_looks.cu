// Whether one place of a map sees another: no wall on the straight line of places between them, ends included.
// A warp looks at 32 places of a line at once.
__global__ void sightline(const unsigned char* map, const int* from, const int* to, int* seen, int n, int h, int w) {
    int i = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (i >= n) return;
    int a = from[i] % (h * w), b = to[i] % (h * w);
    int ax = a % w, ay = a / w, dx = b % w - ax, dy = b / w - ay, sx = dx < 0 ? -1 : 1, sy = dy < 0 ? -1 : 1;
    dx = abs(dx);
    dy = abs(dy);
    int steps = max(dx, dy), around = max(2 * steps, 1), free = 1;
    for (int first = 0; first <= steps && free; first += 32) {
        int k = min(first + lane, steps);
        int x = ax + sx * ((2 * k * dx + steps) / around), y = ay + sy * ((2 * k * dy + steps) / around);
        free = __all_sync(0xffffffffu, map[y * (size_t)w + x] != 0);
    }
    if (lane == 0) seen[i] = free;
}
