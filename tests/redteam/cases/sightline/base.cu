// Whether one place of a map sees another: no wall on the straight line of places between them, ends included.
__global__ void sightline(const unsigned char* map, const int* from, const int* to, int* seen, int n, int h, int w) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int a = from[i] % (h * w), b = to[i] % (h * w);
    int dx = b % w - a % w, dy = b / w - a / w, sx = dx < 0 ? -1 : 1, sy = dy < 0 ? -1 : 1;
    dx = abs(dx);
    dy = abs(dy);
    int steps = max(dx, dy), around = max(2 * steps, 1), free = 1;
    for (int k = 0; k <= steps && free; ++k) {
        int x = a % w + sx * ((2 * k * dx + steps) / around), y = a / w + sy * ((2 * k * dy + steps) / around);
        free = map[y * (size_t)w + x] != 0;
    }
    seen[i] = free;
}
