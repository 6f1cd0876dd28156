__device__ bool suits(const unsigned char* letter, int k, int low, int high) {
    int strong = 0, run = 0, before = -1;
    for (int j = 0; j < k; ++j) {
        int c = letter[j];
        strong += c == 1 || c == 2;
        run = c == before ? run + 1 : 1;
        if (run > 4) return false;
        before = c;
    }
    return strong * 100 >= low * k && strong * 100 <= high * k;
}

// Where a primer may begin. A warp asks for the room of all its places at once.
__global__ void primers(const unsigned char* letter, int* place, int* count, int n, int k, int low, int high) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    bool found = i <= n - k && suits(letter + i, k, low, high);
    unsigned all = __ballot_sync(~0u, found);
    int at = 0;
    if (lane == 0 && all) at = atomicAdd(count, __popc(all));
    at = __shfl_sync(~0u, at, 0);
    if (found) place[at + __popc(all & ((1u << lane) - 1))] = i;
}
