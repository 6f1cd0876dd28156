// Moves the points of a skin with the bones that they hang on, in place: four of 64 bones with a weight for each, a bone
// being three rows of four numbers.
__global__ void skinning(float* place, const unsigned char* joint, const float* weight, const float* bone, int n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = place[3 * i], y = place[3 * i + 1], z = place[3 * i + 2];
    float u = 0, v = 0, w = 0;
    for (int k = 0; k < 4; ++k) {
        const float* m = bone + 12 * (joint[4 * i + k] & 63);
        float part = weight[4 * i + k];
        u += part * (m[0] * x + m[1] * y + m[2] * z + m[3]);
        v += part * (m[4] * x + m[5] * y + m[6] * z + m[7]);
        w += part * (m[8] * x + m[9] * y + m[10] * z + m[11]);
    }
    place[3 * i] = u;
    place[3 * i + 1] = v;
    place[3 * i + 2] = w;
}
