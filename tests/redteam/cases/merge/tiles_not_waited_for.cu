#define TILE 1024

// Two sorted lists as one: a block finds its part of both lists, and merges them in shared memory.
__device__ int split(const float* a, const float* b, int na, int nb, int at) {
    int low = max(0, at - nb), high = min(at, na);
    while (low < high) {
        int mid = low + (high - low) / 2;
        if (a[mid] <= b[at - 1 - mid]) low = mid + 1;
        else high = mid;
    }
    return low;
}

__global__ void merge(const float* a, const float* b, float* out, int na, int nb) {
    __shared__ float held[TILE];
    __shared__ int border[2];
    int many = na + nb, begin = blockIdx.x * TILE, t = threadIdx.x;
    if (begin >= many) return;
    int end = many - begin > TILE ? begin + TILE : many;
    if (t < 2) border[t] = split(a, b, na, nb, t == 0 ? begin : end);
    __syncthreads();
    int i0 = border[0], ma = border[1] - i0, j0 = begin - i0, mb = end - begin - ma;
    for (int k = t; k < ma + mb; k += blockDim.x) held[k] = k < ma ? a[i0 + k] : b[j0 + k - ma];
    __syncwarp();
    const float *left = held, *right = held + ma;
    for (int k = 4 * t; k < ma + mb; k += 4 * blockDim.x) {
        int i = split(left, right, ma, mb, k), j = k - i;
        for (int e = k; e < k + 4 && e < ma + mb; ++e)
            out[begin + e] = j >= mb || (i < ma && left[i] <= right[j]) ? left[i++] : right[j++];
    }
}
