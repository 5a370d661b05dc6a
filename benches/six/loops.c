/* What the kernels of k.cu compute, as loops of one thread over the whole grid: the limit with which their speed is compared.
   Prints a line for each kernel: its name and the processor time of the fastest of some runs, in seconds. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MANY = 1 << 20, SIDE = 256, BODIES = 2048, STARTS = 65536, RUNS = 9 };

static uint32_t state;
static uint32_t next_word(void) { return state = state * 1664525u + 1013904223u; }
static float next_float(void) { return (float)(next_word() >> 8) / 16777216.0f; }

static float *floats(size_t count) {
    float *made = malloc(4 * count);
    for (size_t i = 0; i < count; i++) made[i] = next_float();
    return made;
}

__attribute__((noinline)) static void saxpy(int n, float a, const float *restrict x, float *restrict y) {
    for (int i = 0; i < n; i++) y[i] = a * x[i] + y[i];
}

__attribute__((noinline)) static void sgemm(int n, const float *restrict a, const float *restrict b, float *restrict c) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) c[i * n + j] = 0;
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++) c[i * n + j] += a[i * n + k] * b[k * n + j];
    }
}

__attribute__((noinline)) static void reduce(int n, const float *in, float *out) {
    static float sums[256];
    for (int block = 0; block < 256; block++) {
        for (int t = 0; t < 256; t++) {
            float sum = 0;
            for (int i = block * 256 + t; i < n; i += 65536) sum += in[i];
            sums[t] = sum;
        }
        for (int d = 128; d > 0; d >>= 1)
            for (int t = 0; t < d; t++) sums[t] += sums[t + d];
        out[block] = sums[0];
    }
}

__attribute__((noinline)) static void histogram(int n, const uint32_t *in, uint32_t *bins) {
    for (int i = 0; i < n; i++) bins[in[i] >> 24]++;
}

__attribute__((noinline)) static void nbody(int n, const float *pos, float *acc, float cut2, int quota) {
    for (int i = 0; i < n; i++) {
        float x = 0, y = 0, z = 0;
        int near = 0;
        for (int j = 0; j < n; j++) {
            float dx = pos[4 * j] - pos[4 * i], dy = pos[4 * j + 1] - pos[4 * i + 1], dz = pos[4 * j + 2] - pos[4 * i + 2];
            float r2 = dx * dx + dy * dy + dz * dz + 0.0001f;
            if (r2 > cut2) continue;
            float inv = 1.0f / sqrtf(r2), f = pos[4 * j + 3] * inv * inv * inv;
            x += dx * f, y += dy * f, z += dz * f;
            if (++near >= quota) break;
        }
        acc[4 * i] = x, acc[4 * i + 1] = y, acc[4 * i + 2] = z, acc[4 * i + 3] = (float)near;
    }
}

__attribute__((noinline)) static void collatz(int n, int *steps) {
    for (int i = 0; i < n; i++) {
        uint32_t v = (uint32_t)i + 1;
        int s = 0;
        for (; v != 1; s++) v = v & 1 ? v * 3 + 1 : v >> 1;
        steps[i] = s;
    }
}

int main(void) {
    static const char *const names[] = {"saxpy", "sgemm", "reduce", "histogram", "nbody", "collatz"};
    state = 12345;
    float *x = floats(MANY), *y = floats(MANY), *out = calloc(4, 4 * BODIES);
    uint32_t *keys = malloc(4 * MANY);
    for (int i = 0; i < MANY; i++) {
        uint32_t one = next_word(), other = next_word();
        keys[i] = one < other ? one : other;
    }
    int *steps = malloc(4 * STARTS);
    float *product = malloc(4 * SIDE * SIDE);
    for (int kernel = 0; kernel < 6; kernel++) {
        double best = 1e9;
        for (int run = 0; run < RUNS; run++) {
            clock_t begun = clock();
            switch (kernel) {
            case 0: saxpy(MANY, 2.5f, x, y); break;
            case 1: sgemm(SIDE, x, y, product); break;
            case 2: reduce(MANY, x, out); break;
            case 3: memset(out, 0, 1024); histogram(MANY, keys, (uint32_t *)out); break;
            case 4: nbody(BODIES, x, out, 0.05f, 64); break;
            case 5: collatz(STARTS, steps); break;
            }
            double took = (double)(clock() - begun) / CLOCKS_PER_SEC;
            if (took < best) best = took;
        }
        printf("%s %.9f\n", names[kernel], best);
    }
    return 0;
}
