// The distance of each point from a set of capsules: from the nearest of their skins, negative inside of one.
// Capsule j is what is within radius[j] of the line from `from` j to `to` j; where both are one point it is a ball.
// What is not a number is far away.

// Capsules come by 128 into shared memory; the one root is that of the least square.
constexpr int tile = 128;

struct Capsule {
    float x, y, z, bx, by, bz, length, size;
};

extern "C" __global__ void capsules(const float* point, const float* from, const float* to, const float* radius,
                                    float* distance, int n, int m)
{
    __shared__ Capsule near[tile];
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    bool mine = i < n;
    float px = mine ? point[3 * i] : 0;
    float py = mine ? point[3 * i + 1] : 0;
    float pz = mine ? point[3 * i + 2] : 0;
    float best = INFINITY;
    float size = 0;
    for (int start = 0; start < m; start += tile) {
        int j = start + threadIdx.x;
        if (j < m && threadIdx.x < tile) {
            Capsule c;
            c.x = from[3 * j];
            c.y = from[3 * j + 1];
            c.z = from[3 * j + 2];
            c.bx = to[3 * j] - c.x;
            c.by = to[3 * j + 1] - c.y;
            c.bz = to[3 * j + 2] - c.z;
            c.length = c.bx * c.bx + c.by * c.by + c.bz * c.bz;
            c.size = radius[j];
            near[threadIdx.x] = c;
        }
        __syncthreads();
        int count = min(tile, m - start);
        for (int k = 0; k < count; k++) {
            Capsule c = near[k];
            float ax = px - c.x;
            float ay = py - c.y;
            float az = pz - c.z;
            float along = __saturatef((ax * c.bx + ay * c.by + az * c.bz) / c.length);
            float dx = ax - along * c.bx;
            float dy = ay - along * c.by;
            float dz = az - along * c.bz;
            float square = dx * dx + dy * dy + dz * dz;
            if (square < best) {
                best = square;
                size = c.size;
            }
        }
        __syncthreads();
    }
    if (mine)
        distance[i] = sqrtf(best) - size;
}
