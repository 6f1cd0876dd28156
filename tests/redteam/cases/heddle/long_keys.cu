// Every pick that begins a float walks it to its end; the longest and then earliest one
// wins by atomicMax on a key. Done once for each of the 16 shafts in every block.
extern "C" __global__ void __launch_bounds__(512) heddle(const int* threading, const int* treadling,
                                                         const int* tieup, int* longest, int* begin,
                                                         int ends, int picks)
{
    __shared__ unsigned long long key[16];
    __shared__ int lifts[12];
    int shaft = threadIdx.x >> 5, lane = threadIdx.x & 31;
    if (threadIdx.x < 16)
        key[threadIdx.x] = 0;
    if (threadIdx.x < 12)
        lifts[threadIdx.x] = tieup[threadIdx.x];
    __syncthreads();
    unsigned long long mine = 0;
    for (int p = lane; p < picks; p += 32) {
        int up = (lifts[treadling[p]] >> shaft) & 1;
        if (p > 0 && ((lifts[treadling[p - 1]] >> shaft) & 1) == up)
            continue;
        int q = p + 1;
        while (q < picks && ((lifts[treadling[q]] >> shaft) & 1) == up)
            q++;
        unsigned long long k = ((unsigned long long)(q - p) << 32) | (0xffffffffu - (unsigned)p);
        if (k > mine)
            mine = k;
    }
    atomicMax(&key[shaft], mine);
    __syncthreads();
    int e = blockIdx.x * 512 + threadIdx.x;
    if (e < ends) {
        unsigned long long k = key[threading[e]];
        longest[e] = (int)(k >> 32);
        begin[e] = (int)(0xffffffffu - (unsigned)k);
    }
}
