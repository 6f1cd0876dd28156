// The cosine transform of eight numbers: those mirrored to each other are added and subtracted first.
__device__ void eight(float* v) {
    const float c1 = 0.490392640f, c2 = 0.461939766f, c3 = 0.415734806f, c4 = 0.353553391f, c5 = 0.277785117f,
                c6 = 0.191341716f, c7 = 0.0975451610f;
    float a0 = v[0] + v[7], a1 = v[1] + v[6], a2 = v[2] + v[5], a3 = v[3] + v[4];
    float d0 = v[0] - v[7], d1 = v[1] - v[6], d2 = v[2] - v[5], d3 = v[3] - v[4];
    v[0] = c4 * ((a0 + a3) + (a1 + a2));
    v[4] = c4 * ((a0 + a3) - (a1 + a2));
    v[2] = c2 * (a0 - a3) + c6 * (a1 - a2);
    v[6] = c6 * (a0 - a3) - c2 * (a1 - a2);
    v[1] = c1 * d0 + c3 * d1 + c5 * d2 + c7 * d3;
    v[3] = c3 * d0 - c7 * d1 - c1 * d2 - c5 * d3;
    v[5] = c5 * d0 - c1 * d1 + c7 * d2 + c3 * d3;
    v[7] = c7 * d0 - c5 * d1 + c3 * d2 - c1 * d3;
}

// The cosine transform of each 8 by 8 pixels of a picture of bh by bw such squares: eight lanes a square, a
// row and then a column each.
__global__ void dct8(const float* in, float* out, int bh, int bw) {
    __shared__ float turned[32][8][9];
    int lane = threadIdx.x % 8, s = threadIdx.x / 8, w = 8 * bw;
    long long square = blockIdx.x * 32ll + s;
    bool mine = square < (long long)bh * bw;
    size_t at = mine ? (size_t)(square / bw) * 8 * w + (size_t)(square % bw) * 8 : 0;
    float v[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) v[k] = mine ? in[at + (size_t)lane * w + k] : 0.f;
    eight(v);
#pragma unroll
    for (int k = 0; k < 8; ++k) turned[s][lane][k] = v[k];
    __syncwarp();
#pragma unroll
    for (int k = 0; k < 8; ++k) v[k] = turned[s][k][lane];
    eight(v);
    if (!mine) return;
#pragma unroll
    for (int k = 0; k < 8; ++k) out[at + (size_t)k * w + lane] = v[k];
}
