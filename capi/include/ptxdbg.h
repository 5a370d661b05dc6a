/* ptxdbg as a C library: PTX kernels run on the host, bit for bit as a device of compute capability 9.0 runs them, with their mistakes
 * found.
 *
 * Kernels work on the memory of the process: an address among the parameters is that of the caller's memory, and so is every address that
 * memory holds. It is taken page by page when a kernel first touches it, and what the kernel wrote is written back at the end of the run.
 * Without more, a kernel may touch whatever the process has mapped; ptxdbg_register says which memory there is, and its bounds.
 *
 * Every function may be called from several threads at once, on different handles and on the same one. A handle is freed once. Texts are
 * UTF-8, end with a zero byte, and live as long as the handle that they come from. No function ends the process. */
#ifndef PTXDBG_H
#define PTXDBG_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this surface: another major number is another surface. */
#define PTXDBG_VERSION_MAJOR 0
#define PTXDBG_VERSION_MINOR 1

typedef enum ptxdbg_status {
    PTXDBG_OK = 0,
    PTXDBG_INVALID_ARGUMENT = 1, /* a null pointer, a text that is not UTF-8, an unknown word, a number out of range */
    PTXDBG_INVALID_MODULE = 2,   /* the PTX holds mistakes */
    PTXDBG_INVALID_LAUNCH = 3,   /* there is no such kernel, or the launch does not fit it */
    PTXDBG_RUN_FAILED = 4,       /* a reason outside the kernel: memory that does not suffice or cannot be written back */
    PTXDBG_INTERNAL_ERROR = 5    /* a defect of the library */
} ptxdbg_status;

/* Why the last call in this thread that failed did so, in one line; empty before the first. It lives until the next one that fails. */
const char *ptxdbg_error(void);

/* ---- modules ---- */

typedef struct ptxdbg_module ptxdbg_module;

/* Reads and checks a PTX text of `length` bytes. `name` stands for it in messages. */
ptxdbg_status ptxdbg_module_create(const char *name, const char *text, size_t length, ptxdbg_module **module);

/* Ends the use of a module; a null pointer is allowed. */
void ptxdbg_module_free(ptxdbg_module *module);

/* How many kernels it has, and their names in the order of the text; a null pointer past the last one. */
size_t ptxdbg_module_kernel_count(const ptxdbg_module *module);
const char *ptxdbg_module_kernel_name(const ptxdbg_module *module, size_t index);

/* ---- memory ---- */

/* The bytes from `start` on are one allocation. As long as anything is registered, runs that begin find registered memory alone: every other
 * address is out of bounds. It must stay allocated until it is unregistered. Ranges are apart from each other. */
ptxdbg_status ptxdbg_register(const void *start, size_t length);

/* The range that starts there is none any more. */
ptxdbg_status ptxdbg_unregister(const void *start);

/* ---- runs ---- */

/* The value of a parameter: its bytes as the kernel finds them. */
typedef struct ptxdbg_param {
    const void *bytes;
    size_t length;
} ptxdbg_param;

typedef struct ptxdbg_launch {
    const char *kernel;         /* null for the only one of the module */
    uint32_t grid[3];           /* blocks in x, y and z */
    uint32_t block[3];          /* threads of a block in x, y and z */
    uint32_t cluster[3];        /* blocks of a cluster in x, y and z; all 0 for what the kernel says */
    uint32_t dynamic_shared;    /* bytes of dynamic shared memory */
    uint32_t cooperative;       /* not 0: the whole grid is resident at once */
    const ptxdbg_param *params; /* in the order of the kernel */
    size_t param_count;
} ptxdbg_launch;

/* How a launch is run. All zeros are the defaults. */
typedef struct ptxdbg_options {
    const char *checks;   /* as after --checks: "all", "none", "race,init"; null for all */
    const char *schedule; /* as after --schedule: "in-order", "random", "pct:3"; null for in-order */
    uint64_t seed;        /* of everything that is random */
    uint64_t step_limit;  /* warp-instructions at most; 0 for no limit */
} ptxdbg_options;

typedef struct ptxdbg_result ptxdbg_result;

/* Runs a kernel to its end or its first fault, and once more at most for critical sections of one lock that came in one order only. What
 * the kernel does wrong is among the findings of the result; the status says whether it could be run. `options` may be null. */
ptxdbg_status ptxdbg_run(const ptxdbg_module *module, const ptxdbg_launch *launch, const ptxdbg_options *options, ptxdbg_result **result);

/* Ends the use of a result; a null pointer is allowed. */
void ptxdbg_result_free(ptxdbg_result *result);

typedef enum ptxdbg_severity { PTXDBG_NOTE = 0, PTXDBG_WARNING = 1, PTXDBG_ERROR = 2 } ptxdbg_severity;

/* One of the two sides of a finding. */
typedef struct ptxdbg_side {
    const char *place;       /* "kernel.ptx:12"; null if there is no such side */
    const char *source;      /* "kernel.cu:7", or null */
    const char *instruction; /* its text */
    uint64_t tick;           /* when: warp-instructions since the start */
    uint32_t block[3];
    uint32_t warp;
    uint32_t lanes;          /* a bit for each lane */
} ptxdbg_side;

typedef struct ptxdbg_finding {
    const char *id;          /* "race.shared.raw": stable */
    ptxdbg_severity severity;
    const char *message;     /* what is wrong, in one line */
    const char *memory;      /* "out[17]", or null */
    const char *why;         /* empty where the message says it */
    const char *fix;         /* what to change; empty if nothing is known */
    const char *text;        /* all of it, as the debugger prints it */
    uint64_t count;          /* how often the same instructions did it */
    ptxdbg_side first;       /* the earlier side */
    ptxdbg_side second;      /* where it was noticed */
} ptxdbg_finding;

/* How many findings there are, and each; what stopped the kernel is the last. */
size_t ptxdbg_result_finding_count(const ptxdbg_result *result);
ptxdbg_status ptxdbg_result_finding(const ptxdbg_result *result, size_t index, ptxdbg_finding *finding);

/* Warp-instructions, and instructions of single threads, that were executed. */
uint64_t ptxdbg_result_ticks(const ptxdbg_result *result);
uint64_t ptxdbg_result_thread_instructions(const ptxdbg_result *result);

/* Whether what was found holds for every order of warps and blocks, in one line, or what depends on it; and how far the run equals that of
 * a device. Either is empty where it cannot be said. */
const char *ptxdbg_result_certificate(const ptxdbg_result *result);
const char *ptxdbg_result_fidelity(const ptxdbg_result *result);

/* What printf wrote, `*length` bytes. */
const char *ptxdbg_result_printed(const ptxdbg_result *result, size_t *length);

/* ---- one function ---- */

/* Runs the first kernel of a PTX text, with all checkers, as GPU Ocelot's function of this name does: args[i] is the value of parameter i,
 * of which a parameter takes as many bytes as it has. What is found, and why nothing could be run, is written to standard error. 0 if
 * the kernel ended and nothing is wrong; 1 for findings, 2 if it could not be run. The environment variable PTXDBG_CHECKS says which
 * checkers watch, as after --checks. */
int ptx_run(const char *source, int n_args, void *args[], int block_x, int block_y, int block_z, int grid_x, int grid_y, int grid_z,
            int dynamic_shared);

#ifdef __cplusplus
}
#endif

#endif
