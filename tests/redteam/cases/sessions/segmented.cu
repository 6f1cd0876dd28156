// Sessions of a click stream: an event opens a session if it is the first one, if its user differs from the event before, or if
// more than `gap` seconds lie between the two. Numbers the sessions, notes where each starts and adds up what was spent in it.
// start is -1 and total 0 beyond the last session.

#define BLOCKS 256
#define THREADS 256   // not fewer than BLOCKS: one thread per block adds up the blocks before

__device__ int opened[BLOCKS];

__device__ __forceinline__ bool opens(const int* user, const int* stamp, int i, int gap)
{
    return i == 0 || user[i] != user[i - 1] || (long long)stamp[i] - stamp[i - 1] > gap;
}

__global__ void count_opened(const int* user, const int* stamp, int* start, float* total, int n, int gap, int chunk)
{
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    long long lo = (long long)blockIdx.x * chunk, hi = lo + chunk < n ? lo + chunk : n;
    int c = 0;
    for (long long i = lo + threadIdx.x; i < hi; i += THREADS) {
        c += opens(user, stamp, (int)i, gap);
        start[i] = -1;
        total[i] = 0.0f;
    }
    atomicAdd(&sum, c);
    __syncthreads();
    if (threadIdx.x == 0) opened[blockIdx.x] = sum;
}

__global__ void number(const int* user, const int* stamp, const float* spend, int* session, int* start, float* total,
                       int* count, int n, int gap, int chunk)
{
    __shared__ int before, warps[THREADS / 32];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    if (threadIdx.x == 0) before = 0;
    __syncthreads();
    if (threadIdx.x < blockIdx.x) atomicAdd(&before, opened[threadIdx.x]);
    __syncthreads();
    int base = before;
    long long lo = (long long)blockIdx.x * chunk, hi = lo + chunk < n ? lo + chunk : n;
    for (long long tile = lo; tile < hi; tile += THREADS) {
        long long i = tile + threadIdx.x;
        bool flag = i < hi && opens(user, stamp, (int)i, gap);
        int scan = flag;
        for (int off = 1; off < 32; off <<= 1) {
            int o = __shfl_up_sync(0xffffffffu, scan, off);
            if (lane >= off) scan += o;
        }
        if (lane == 31) warps[warp] = scan;
        __syncthreads();
        int sum = 0;
        for (int k = 0; k < THREADS / 32; ++k) {
            if (k < warp) scan += warps[k];
            sum += warps[k];
        }
        int id = base + scan - 1;
        if (i < hi) {
            session[i] = id;
            if (flag) start[id] = (int)i;
        }
        // add up runs of one session inside the warp, so that its first lane alone goes to memory
        int key = i < hi ? id : -1;
        float run = i < hi ? spend[i] : 0.0f;
        for (int off = 1; off < 32; off <<= 1) {
            float more = __shfl_down_sync(0xffffffffu, run, off);
            int whose = __shfl_down_sync(0xffffffffu, key, off);
            if (lane + off < 32 && whose == key) run += more;
        }
        int left = __shfl_up_sync(0xffffffffu, key, 1);
        if (key >= 0 && (lane == 0 || left != key)) atomicAdd(&total[key], run);
        base += sum;
        __syncthreads();
    }
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) count[0] = base;
}

extern "C" void sessions(const int* user, const int* stamp, const float* spend, int* session, int* start, float* total,
                         int* count, int n, int gap)
{
    int chunk = ((n + BLOCKS - 1) / BLOCKS + THREADS - 1) / THREADS * THREADS;
    count_opened<<<BLOCKS, THREADS>>>(user, stamp, start, total, n, gap, chunk);
    number<<<BLOCKS, THREADS>>>(user, stamp, spend, session, start, total, count, n, gap, chunk);
}
