// The places of a picture that stand out from the four beside them, and how many they are; in any order. Tiles
// with a border in shared memory; a block keeps its own list.
__global__ void specks(const unsigned char* p, int* place, int* count, int w, int h, int limit) {
    __shared__ unsigned char tile[10][34];
    __shared__ int list[256], many, at;
    int x0 = blockIdx.x * 32, y0 = blockIdx.y * 8, t = threadIdx.y * 32 + threadIdx.x;
    if (t == 0) many = 0;
    for (int e = t; e < 340; e += 256) {
        int x = min(max(x0 + e % 34 - 1, 0), w - 1), y = min(max(y0 + e / 34 - 1, 0), h - 1);
        tile[e / 34][e % 34] = p[y * w + x];
    }
    __syncthreads();
    int x = threadIdx.x + 1, y = threadIdx.y + 1;
    int sum = tile[y][x - 1] + tile[y][x + 1] + tile[y - 1][x] + tile[y + 1][x];
    if (x0 + x <= w && y0 + y <= h && abs(4 * tile[y][x] - sum) > limit)
        list[atomicAdd(&many, 1)] = (y0 + y - 1) * w + x0 + x - 1;
    __syncthreads();
    if (t == 0 && many) at = atomicAdd(count, many);
    __syncthreads();
    for (int e = t; e < many; e += 256) place[at + e] = list[e];
}
