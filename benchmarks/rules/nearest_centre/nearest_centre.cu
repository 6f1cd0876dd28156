// The nearest of a few hundred centres on a line for each sample: all threads walk the same list.
__global__ void nearest_centre(const float *x, const float *centre, const float *weight, int *best,
                               int n, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float mine = x[i];
    float least = 3.0e38f;
    int at = 0;
    for (int j = 0; j < k; j++) {
        float d = fabsf(mine - centre[j]) * weight[j];
        if (d < least) {
            least = d;
            at = j;
        }
    }
    best[i] = at;
}
