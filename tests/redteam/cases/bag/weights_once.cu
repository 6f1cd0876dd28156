#define LENGTH 12

// Weighted means of rows of a table; a token equal to `padding` counts for nothing.
__global__ void bag(const float* table, const int* token, const float* weight, float* out, int bags,
                    int width, int padding) {
    __shared__ float share[LENGTH];
    __shared__ int ids[LENGTH];
    __shared__ float all;
    if (threadIdx.x == 0) {
        all = 0.f;
        for (int l = 0; l < LENGTH; ++l) {
            ids[l] = token[blockIdx.x * LENGTH + l];
            share[l] = ids[l] == padding ? 0.f : weight[blockIdx.x * LENGTH + l];
            all += share[l];
        }
    }
    __syncthreads();
    for (int j = threadIdx.x; j < width; j += blockDim.x) {
        float s = 0.f, total = all;
        for (int l = 0; l < LENGTH; ++l) {
            int id = ids[l];
            if (id == padding) continue;
            float w = share[l];
            s += w * table[(size_t)id * width + j];
        }
        out[(size_t)blockIdx.x * width + j] = total > 0.f ? s / total : 0.f;
    }
}
