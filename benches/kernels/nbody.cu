// Gravity between near bodies: the inner loop skips with `continue`, far ones too, and leaves early with `break`, so lanes of a warp
// seldom do the same. A thread a body; `near_max` is how many neighbours it takes.
extern "C" __global__ void nbody(int n, float cutoff2, int near_max, const float4 *__restrict__ body, float4 *pull)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 own = body[i];
    float x = 0, y = 0, z = 0;
    int near = 0;
    for (int j = 0; j < n; j++) {
        if (j == i) continue;
        float4 other = body[j];
        float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
        float r2 = dx * dx + dy * dy + dz * dz;
        if (r2 > cutoff2) continue;
        float strength = other.w / ((r2 + 0.01f) * sqrtf(r2 + 0.01f));
        x += strength * dx;
        y += strength * dy;
        z += strength * dz;
        if (++near == near_max) break;
    }
    pull[i] = make_float4(x, y, z, near);
}
