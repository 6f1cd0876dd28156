// Whether one place of a map sees another: no wall on the straight line of places between them, ends included.
// Both ends walk towards each other: a wall near either of them ends it.
__global__ void sightline(const unsigned char* map, const int* from, const int* to, int* seen, int n, int h, int w) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int a = from[i] % (h * w), b = to[i] % (h * w);
    int dx = b % w - a % w, dy = b / w - a / w, right = dx < 0 ? -1 : 1, down = dy < 0 ? -w : w;
    dx = abs(dx);
    dy = abs(dy);
    bool wide = dx >= dy;
    int steps = wide ? dx : dy, less = wide ? dy : dx, along = wide ? right : down, aside = wide ? down : right;
    int rest = steps, free = map[a] != 0 && map[b] != 0;
    for (int k = 1; 2 * k <= steps && free; ++k) {
        a += along;
        b -= along;
        rest += 2 * less;
        if (rest >= 2 * steps) {
            rest -= 2 * steps;
            a += aside;
            b -= aside;
        }
        free = map[a] != 0 && map[b] != 0;
    }
    seen[i] = free;
}
