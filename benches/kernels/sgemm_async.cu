// The product of sgemm.cu with its tiles brought by cp.async: while one stage of the ring is multiplied, the next ones are on their way.
constexpr int TILE = 16, STAGES = 3;

__device__ __forceinline__ void copy16(void *to, const void *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory");
}

extern "C" __global__ void sgemm_async(int n, const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c)
{
    __shared__ alignas(16) float tile_a[STAGES][TILE][TILE], tile_b[STAGES][TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y, t = y * TILE + x;
    int row = blockIdx.y * TILE, column = blockIdx.x * TILE;
    auto load = [&](int k) {
        int stage = k / TILE % STAGES, r = t / 4 % TILE, q = t % 4 * 4;
        if (k < n && t < 64) copy16(&tile_a[stage][r][q], a + (row + r) * n + k + q);
        else if (k < n && t < 128) copy16(&tile_b[stage][r][q], b + (k + r) * n + column + q);
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    for (int s = 0; s < STAGES - 1; s++) load(s * TILE);
    float sum = 0;
    for (int k = 0; k < n; k += TILE) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
        __syncthreads();
        load(k + (STAGES - 1) * TILE);
        int stage = k / TILE % STAGES;
        for (int i = 0; i < TILE; i++) sum += tile_a[stage][y][i] * tile_b[stage][i][x];
    }
    c[(row + y) * n + column + x] = sum;
}
