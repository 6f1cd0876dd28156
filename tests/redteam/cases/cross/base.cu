__global__ void cross(const float3* a, const float3* b, float3* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float3 v = make_float3(a[i].y * b[i].z - a[i].z * b[i].y, a[i].z * b[i].x - a[i].x * b[i].z,
                           a[i].x * b[i].y - a[i].y * b[i].x);
    float size = sqrtf(v.x * v.x + v.y * v.y + v.z * v.z);
    float by = size > 0.0f ? 1.0f / size : 0.0f;
    c[i] = make_float3(v.x * by, v.y * by, v.z * by);
}
