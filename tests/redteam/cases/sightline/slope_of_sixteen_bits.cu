// Whether one place of a map sees another: no wall on the straight line of places between them, ends included.
// The slope is a number with sixteen bits behind the point, so that no step divides.
__global__ void sightline(const unsigned char* map, const int* from, const int* to, int* seen, int n, int h, int w) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int a = from[i] % (h * w), b = to[i] % (h * w);
    int dx = b % w - a % w, dy = b / w - a / w, right = dx < 0 ? -1 : 1, down = dy < 0 ? -w : w;
    dx = abs(dx);
    dy = abs(dy);
    bool wide = dx >= dy;
    int steps = wide ? dx : dy, less = wide ? dy : dx, along = wide ? right : down, aside = wide ? down : right;
    unsigned slope = steps ? ((unsigned)less * 65536u + steps / 2) / steps : 0u;
    int free = 1;
    for (int k = 0; k <= steps && free; ++k)
        free = map[a + k * along + (int)(k * slope + 32768u >> 16) * aside] != 0;
    seen[i] = free;
}
