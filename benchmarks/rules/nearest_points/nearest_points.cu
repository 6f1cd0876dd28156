// The two nearest known points for each point of a batch of clouds, a block a cloud.
__global__ void nearest_points(int n, int m, const float *__restrict__ unknown,
                               const float *__restrict__ known, float *__restrict__ dist,
                               int *__restrict__ nearest)
{
    int batch = blockIdx.x;
    unknown += batch * n * 3;
    known += batch * m * 3;
    dist += batch * n * 2;
    nearest += batch * n;
    int index = threadIdx.x;
    int stride = blockDim.x;
    for (int j = index; j < n; j += stride) {
        float ux = unknown[j * 3 + 0];
        float uy = unknown[j * 3 + 1];
        float uz = unknown[j * 3 + 2];
        float best1 = 1e20f, best2 = 1e20f;
        int at = 0;
        for (int k = 0; k < m; ++k) {
            float x = known[k * 3 + 0] - ux;
            float y = known[k * 3 + 1] - uy;
            float z = known[k * 3 + 2] - uz;
            float d = x * x + y * y + z * z;
            if (d < best1) {
                best2 = best1;
                best1 = d;
                at = k;
            } else if (d < best2) {
                best2 = d;
            }
        }
        dist[j * 2 + 0] = best1;
        dist[j * 2 + 1] = best2;
        nearest[j] = at;
    }
}

void find_nearest(int b, int n, int m, const float *unknown, const float *known, float *dist,
                  int *nearest)
{
    nearest_points<<<b, 256>>>(n, m, unknown, known, dist, nearest);
}
