// Moves the points of a skin with the bones that they hang on, in place: four of 64 bones with a weight for each, a bone
// being three rows of four numbers.
// The bones come into shared memory, one by each of the first 64 threads.
__device__ float3 moved(const float4* rows, float x, float y, float z, const unsigned char* joint, const float* weight) {
    float3 sum = make_float3(0, 0, 0);
    for (int k = 0; k < 4; ++k) {
        const float4* m = rows + 3 * (joint[k] & 63);
        float4 a = m[0], b = m[1], c = m[2];
        sum.x += weight[k] * (a.x * x + a.y * y + a.z * z + a.w);
        sum.y += weight[k] * (b.x * x + b.y * y + b.z * z + b.w);
        sum.z += weight[k] * (c.x * x + c.y * y + c.z * z + c.w);
    }
    return sum;
}

__global__ void skinning(float* place, const unsigned char* joint, const float* weight, const float* bone, int n) {
    __shared__ float4 rows[192];
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = place[3 * i], y = place[3 * i + 1], z = place[3 * i + 2];
    if (threadIdx.x < 64) {
        const float* m = bone + 12 * threadIdx.x;
        for (int k = 0; k < 3; ++k)
            rows[3 * threadIdx.x + k] = make_float4(m[4 * k], m[4 * k + 1], m[4 * k + 2], m[4 * k + 3]);
    }
    __syncthreads();
    float3 p = moved(rows, x, y, z, joint + 4 * i, weight + 4 * i);
    place[3 * i] = p.x, place[3 * i + 1] = p.y, place[3 * i + 2] = p.z;
}
