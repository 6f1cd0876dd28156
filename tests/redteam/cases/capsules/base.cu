// The distance of each point from a set of capsules: from the nearest of their skins, negative inside of one.
// Capsule j is what is within radius[j] of the line from `from` j to `to` j; where both are one point it is a ball.
// What is not a number is far away.

extern "C" __global__ void capsules(const float* point, const float* from, const float* to, const float* radius,
                                    float* distance, int n, int m)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float px = point[3 * i];
    float py = point[3 * i + 1];
    float pz = point[3 * i + 2];
    float best = INFINITY;
    for (int j = 0; j < m; j++) {
        float ax = px - from[3 * j];
        float ay = py - from[3 * j + 1];
        float az = pz - from[3 * j + 2];
        float bx = to[3 * j] - from[3 * j];
        float by = to[3 * j + 1] - from[3 * j + 1];
        float bz = to[3 * j + 2] - from[3 * j + 2];
        float length = bx * bx + by * by + bz * bz;
        float along = length > 0 ? (ax * bx + ay * by + az * bz) / length : 0;
        along = fminf(fmaxf(along, 0), 1);
        float dx = ax - along * bx;
        float dy = ay - along * by;
        float dz = az - along * bz;
        float skin = sqrtf(dx * dx + dy * dy + dz * dz) - radius[j];
        if (skin < best)
            best = skin;
    }
    distance[i] = best;
}
