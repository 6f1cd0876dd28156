// Gather the features of chosen points, a block a cloud.
#define TOTAL_THREADS 512

__global__ void group_points(int c, int n, int m, const float *points, const int *idx, float *out)
{
    int batch = blockIdx.x;
    points += batch * n * c;
    idx += batch * m;
    out += batch * m * c;
    const int index = threadIdx.y * blockDim.x + threadIdx.x;
    const int stride = blockDim.y * blockDim.x;
    for (int i = index; i < c * m; i += stride) {
        const int l = i / m;
        const int j = i % m;
        out[l * m + j] = points[l * n + idx[j]];
    }
}

void group(int b, int c, int n, int m, const float *points, const int *idx, float *out)
{
    dim3 threads(TOTAL_THREADS / 4, 4);
    group_points<<<b, threads>>>(c, n, m, points, idx, out);
}
