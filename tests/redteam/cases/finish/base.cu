// Places in races: 1 + how many were faster, and how many share the place. Not a number: did not
// finish, 0 and 0.
__global__ void finish(const float* time, int* place, int* shared, int n)
{
    const float* t = time + (size_t)blockIdx.y * n;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float mine = t[i];
    int faster = 0, same = 0;
    for (int j = 0; j < n; j++) {
        faster += t[j] < mine;
        same += t[j] == mine;
    }
    bool out = mine != mine;
    place[(size_t)blockIdx.y * n + i] = out ? 0 : faster + 1;
    shared[(size_t)blockIdx.y * n + i] = out ? 0 : same;
}
