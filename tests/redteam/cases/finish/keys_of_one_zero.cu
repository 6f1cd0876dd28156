// Places in races: 1 + how many were faster, and how many share the place. Not a number: did not
// finish, 0 and 0.
__device__ int key(float v)
{
    int b = __float_as_int(v + 0.0f);
    return b < 0 ? b ^ 0x7fffffff : b;
}

__global__ void finish(const float* time, int* place, int* shared, int n)
{
    const float* t = time + (size_t)blockIdx.y * n;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float mine = t[i];
    int faster = 0, same = 0;
    int k = key(mine);
    for (int j = 0; j < n; j++) {
        float v = t[j];
        int other = v == v ? key(v) : 2147483647;       // behind all
        faster += other < k;
        same += other == k;
    }
    bool out = mine != mine;
    place[(size_t)blockIdx.y * n + i] = out ? 0 : faster + 1;
    shared[(size_t)blockIdx.y * n + i] = out ? 0 : same;
}
