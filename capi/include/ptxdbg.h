/* ptxdbg as a C library: PTX kernels run on the host, bit for bit as a device of compute capability 9.0 runs them, with their mistakes
 * found. docs/c.md says how to build with it, and has two programs.
 *
 * ptxdbg_run works on the memory of the process: an address among the parameters is that of the caller's memory, and so is every address
 * that memory holds. It is taken page by page when a kernel first touches it, and what the kernel wrote is written back at the end of the
 * run. Without more, a kernel may touch whatever the process has mapped; ptxdbg_register says which memory there is, and its bounds. A plan
 * has memory of its own, which can be run again, debugged, fixed and written to a file.
 *
 * Errors. What can fail returns a ptxdbg_status, and ptxdbg_error has the reason. Where a call fails, the place for its result holds a null
 * pointer. No function ends the process, and a defect of the library is a status too. A null pointer for a handle is an invalid argument;
 * functions that return a value return 0 or a null pointer for it.
 *
 * Threads. Every function may be called from several threads at once, on different handles and on the same one; calls on one session are
 * executed one after the other. A handle is freed once, and not while another thread uses it.
 *
 * Texts are UTF-8 and end with a zero byte; a byte that is no text, and a zero byte within, stands as U+FFFD. A const char * lives as long
 * as the handle that it comes from. A char * belongs to the caller and is given back with ptxdbg_text_free.
 *
 * Growth. The first member of a struct that the caller fills is its size, sizeof the struct; what a program does not know of is 0, which
 * always means the default. Structs that the library fills are pointed to and may become longer: never copy or allocate one by its size
 * and hand it back. Within one major version nothing is removed and no meaning changes; as long as that is 0, a minor version may do so. */
#ifndef PTXDBG_H
#define PTXDBG_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header. */
#define PTXDBG_VERSION_MAJOR 0
#define PTXDBG_VERSION_MINOR 1

/* The version of the library: 65536 times the major number, plus the minor one. */
uint32_t ptxdbg_version(void);

typedef enum ptxdbg_status {
    PTXDBG_OK = 0,
    PTXDBG_INVALID_ARGUMENT = 1, /* a null pointer, a text that is not UTF-8, an unknown word, a number out of range */
    PTXDBG_INVALID_MODULE = 2,   /* the PTX holds mistakes */
    PTXDBG_INVALID_LAUNCH = 3,   /* there is no such kernel or case, or the launch does not fit the kernel */
    PTXDBG_RUN_FAILED = 4,       /* a reason outside the kernel: memory that does not suffice or cannot be written back */
    PTXDBG_INTERNAL_ERROR = 5,   /* a defect of the library */
    PTXDBG_INVALID_FILE = 6,     /* a file that cannot be read or written, or is of another kind */
    PTXDBG_INVALID_COMMAND = 7,  /* a line that a session cannot execute */
    PTXDBG_INTERRUPTED = 8       /* a run that `interrupt` of its options has ended */
} ptxdbg_status;

/* Why the last call in this thread that failed did so: a line, or one for each mistake of a module or a launch file; empty before the
 * first. It lives until the next call in this thread that fails. */
const char *ptxdbg_error(void);

/* Gives back a text that belongs to the caller; a null pointer is allowed. */
void ptxdbg_text_free(char *text);

/* ---- modules ---- */

typedef struct ptxdbg_module ptxdbg_module;

/* Reads and checks a PTX text of `length` bytes. `name` stands for it in messages; it may be null. */
ptxdbg_status ptxdbg_module_create(const char *name, const char *text, size_t length, ptxdbg_module **module);

/* The same for a file: PTX, CUDA C++ (where nvcc is found), or a program, a library, a fat binary or a cubin that holds PTX. */
ptxdbg_status ptxdbg_module_load(const char *path, ptxdbg_module **module);

/* Ends the use of a module; a null pointer is allowed. What was made of it stays usable. */
void ptxdbg_module_free(ptxdbg_module *module);

/* How many kernels it has, and their names in the order of the text; a null pointer past the last one. */
size_t ptxdbg_module_kernel_count(const ptxdbg_module *module);
const char *ptxdbg_module_kernel_name(const ptxdbg_module *module, size_t index);

/* What is worth a warning in its text, a line each; a null pointer past the last one. */
size_t ptxdbg_module_warning_count(const ptxdbg_module *module);
const char *ptxdbg_module_warning(const ptxdbg_module *module, size_t index);

/* ---- memory ---- */

/* The bytes from `start` on are one allocation. As long as anything is registered, runs that begin find registered memory alone: every
 * other address is out of bounds. It must stay allocated until it is unregistered. Ranges are apart from each other. */
ptxdbg_status ptxdbg_register(const void *start, size_t length);

/* The range that starts there is none any more. */
ptxdbg_status ptxdbg_unregister(const void *start);

/* ---- how a launch is run ---- */

/* For `orders`: critical sections are run in the order in which they came, and in no other. */
#define PTXDBG_NO_ORDERS UINT32_MAX

/* All zeros but for the size are the defaults, those of `ptxdbg --batch`. Texts are as after the option of the same name of ptxdbg(1); a
 * null pointer is the default. */
typedef struct ptxdbg_options {
    size_t size;            /* sizeof (ptxdbg_options) */
    const char *checks;     /* which checkers watch: "all", "none", "race,init"; all */
    const char *schedule;   /* the order of warps: "in-order", "random", "pct:3"; in-order */
    const char *copies;     /* --async, when asynchronous copies end: "lazy", "eager", "random", "random:7"; lazy */
    const char *divergence; /* "independent", "stack"; what the target of the module has */
    uint64_t seed;          /* of everything that is random */
    uint64_t step_limit;    /* warp-instructions of a launch at most; 0 for no limit */
    uint64_t memory_limit;  /* bytes of simulated state at most; 0 for 8 GiB */
    uint32_t resident;      /* blocks on the machine at once at most, up to 4224; 0 for as many as there is room for */
    uint32_t orders;        /* more runs at most for critical sections of a lock that came in one order only; 0 for 1 */
    const volatile int *interrupt; /* another thread, or a handler of a signal, ends ptxdbg_run and ptxdbg_plan_run by another value than 0
                                    * there: they return PTXDBG_INTERRUPTED within a second, and no memory is changed; null for none */
} ptxdbg_options;

/* ---- runs ---- */

typedef struct ptxdbg_result ptxdbg_result;

/* The value of a parameter: its bytes as the kernel finds them. */
typedef struct ptxdbg_param {
    const void *bytes;
    size_t length;
} ptxdbg_param;

/* What a .const or .global variable of the module holds in its first `length` bytes: before the launch, and what the kernel leaves. */
typedef struct ptxdbg_variable {
    const char *name; /* in the module or in the source */
    void *bytes;      /* written to where the kernel changes it */
    size_t length;    /* as many as the variable has at most; the others are zero, or as the module initializes them */
} ptxdbg_variable;

typedef struct ptxdbg_launch {
    size_t size;                /* sizeof (ptxdbg_launch) */
    const char *kernel;         /* null for the only one of the module */
    const ptxdbg_param *params; /* in the order of the kernel */
    size_t param_count;
    uint32_t grid[3];           /* blocks in x, y and z */
    uint32_t block[3];          /* threads of a block in x, y and z */
    uint32_t cluster[3];        /* blocks of a cluster in x, y and z; all 0 for what the kernel says */
    uint32_t dynamic_shared;    /* bytes of dynamic shared memory */
    uint32_t cooperative;       /* not 0: the whole grid is resident at once */
    const ptxdbg_variable *variables; /* those that are given contents */
    size_t variable_count;
} ptxdbg_launch;

/* Runs a kernel on the memory of the process, to its end or its first fault, and once more at most for critical sections of one lock that
 * came in one order only. What the kernel does wrong is among the findings of the result; the status says whether it could be run.
 * `options` may be null. */
ptxdbg_status ptxdbg_run(const ptxdbg_module *module, const ptxdbg_launch *launch, const ptxdbg_options *options, ptxdbg_result **result);

/* Ends the use of a result; a null pointer is allowed. */
void ptxdbg_result_free(ptxdbg_result *result);

typedef enum ptxdbg_severity { PTXDBG_NOTE = 0, PTXDBG_WARNING = 1, PTXDBG_ERROR = 2 } ptxdbg_severity;

/* One of the two sides of a finding. */
typedef struct ptxdbg_side {
    const char *place;       /* "kernel.ptx:12" */
    const char *source;      /* "kernel.cu:7", or null */
    const char *instruction; /* its text */
    uint64_t tick;           /* when: warp-instructions since the start */
    uint32_t block[3];
    uint32_t warp;
    uint32_t lanes;          /* a bit for each lane */
} ptxdbg_side;

typedef struct ptxdbg_finding {
    const char *id;            /* "race.shared.raw": stable */
    ptxdbg_severity severity;
    const char *message;       /* what is wrong, in one line */
    const char *memory;        /* "out[17]", or null */
    const char *why;           /* empty where the message says it */
    const char *fix;           /* what to change; empty if nothing is known */
    const char *text;          /* all of it, as the debugger prints it */
    uint64_t count;            /* how often the same instructions did it */
    const ptxdbg_side *first;  /* the earlier side, or null */
    const ptxdbg_side *second; /* where it was noticed, or null where that is no single instruction */
} ptxdbg_finding;

/* How many findings there are, and each; what stopped the kernel is the last. A null pointer past the last one. */
size_t ptxdbg_result_finding_count(const ptxdbg_result *result);
const ptxdbg_finding *ptxdbg_result_finding(const ptxdbg_result *result, size_t index);

/* Whether a finding is an error, or a buffer is not as the launch expects: what makes the exit status of `ptxdbg --batch` 1. */
int ptxdbg_result_is_wrong(const ptxdbg_result *result);

/* Warp-instructions, and instructions of single threads, that were executed. */
uint64_t ptxdbg_result_ticks(const ptxdbg_result *result);
uint64_t ptxdbg_result_thread_instructions(const ptxdbg_result *result);

/* Whether what was found holds for every order of warps and blocks, in one line, or what depends on it; empty where it cannot be said. The
 * first function is 1 where it holds for every order. */
int ptxdbg_result_is_certified(const ptxdbg_result *result);
const char *ptxdbg_result_certificate(const ptxdbg_result *result);

/* How far the run equals that of a device, in one line for each degree. */
const char *ptxdbg_result_fidelity(const ptxdbg_result *result);

/* What printf wrote: `*length` bytes, which may hold zeros. */
const char *ptxdbg_result_printed(const ptxdbg_result *result, size_t *length);

/* The buffers of a plan's launch, of which ptxdbg_run has none: how many, and their names; a null pointer past the last one. */
size_t ptxdbg_result_buffer_count(const ptxdbg_result *result);
const char *ptxdbg_result_buffer_name(const ptxdbg_result *result, size_t index);

/* Copies what a buffer holds at the end, `length` bytes at most. `*needed`, unless it is null, is how many it has. */
ptxdbg_status ptxdbg_result_buffer(const ptxdbg_result *result, const char *name, void *bytes, size_t length, size_t *needed);

/* ---- plans: launches with memory of their own ---- */

/* Cases, each one or more launches in order on the same memory. A launch file may have several. */
typedef struct ptxdbg_plan ptxdbg_plan;

/* What `ptxdbg FILE` opens: a module with the launch file beside it or a launch that is made up, a launch file (.ron), or a bundle. */
ptxdbg_status ptxdbg_plan_open(const char *path, ptxdbg_plan **plan);

/* A launch of a module, as the text of a launch file says it (ptxdbg-launch(5)); the module that it names does not count. */
ptxdbg_status ptxdbg_plan_create(const ptxdbg_module *module, const char *text, ptxdbg_plan **plan);

/* The launch of a result of ptxdbg_run, on a copy of the memory that it touched, as it was before. */
ptxdbg_status ptxdbg_plan_capture(const ptxdbg_result *result, ptxdbg_plan **plan);

/* Ends the use of a plan; a null pointer is allowed. What was made of it stays usable. */
void ptxdbg_plan_free(ptxdbg_plan *plan);

/* How many cases it has, and their names; a null pointer past the last one. */
size_t ptxdbg_plan_case_count(const ptxdbg_plan *plan);
const char *ptxdbg_plan_case_name(const ptxdbg_plan *plan, size_t number);

/* In what follows a case is chosen by its number, from 0, and without options a bundle, or what was captured, is run as it was. */

/* Runs a case on fresh memory. */
ptxdbg_status ptxdbg_plan_run(const ptxdbg_plan *plan, size_t number, const ptxdbg_options *options, ptxdbg_result **result);

/* Writes all that a case starts from to a file, a bundle, which `ptxdbg FILE` and ptxdbg_plan_open open on any machine. `notes`, which may
 * be null, are shown there. A file that is no bundle is not replaced. */
ptxdbg_status ptxdbg_plan_bundle(const ptxdbg_plan *plan, size_t number, const ptxdbg_options *options, const char *path,
                                 const char *notes);

/* ---- fixes ---- */

typedef struct ptxdbg_fix ptxdbg_fix;

/* Tries what a finding proposes, by its number from 1, or with 0 what all findings do, in copies of the program. A change holds if the
 * finding is gone and no new one has come, in this order and in others that show it. */
ptxdbg_status ptxdbg_plan_fix(const ptxdbg_plan *plan, size_t number, const ptxdbg_options *options, size_t finding, ptxdbg_fix **fix);

/* Ends the use of a fix; a null pointer is allowed. */
void ptxdbg_fix_free(ptxdbg_fix *fix);

/* What came of each finding, as the debugger prints it. */
const char *ptxdbg_fix_text(const ptxdbg_fix *fix);

/* The changes that hold, in words; a null pointer past the last one. */
size_t ptxdbg_fix_change_count(const ptxdbg_fix *fix);
const char *ptxdbg_fix_change(const ptxdbg_fix *fix, size_t index);

/* The modules with these changes: more than one where modules are linked, none where nothing holds. */
size_t ptxdbg_fix_module_count(const ptxdbg_fix *fix);
const char *ptxdbg_fix_module_name(const ptxdbg_fix *fix, size_t index);
const char *ptxdbg_fix_module_text(const ptxdbg_fix *fix, size_t index);

/* ---- sessions ---- */

/* A case being debugged: a recorded run, where one stands in it, breakpoints and settings. */
typedef struct ptxdbg_session ptxdbg_session;

/* A session that stands before the first instruction of a case; of a bundle where it was written. */
ptxdbg_status ptxdbg_plan_session(const ptxdbg_plan *plan, size_t number, const ptxdbg_options *options, ptxdbg_session **session);

/* Ends the use of a session; a null pointer is allowed. */
void ptxdbg_session_free(ptxdbg_session *session);

/* Executes command lines as at the prompt, `help` lists them: "break 12", "run", "print %r7@*", "info registers", "reverse-continue". What
 * takes several lines is given all of them in one call. `*answer`, unless `answer` is null, is what is printed, also where a line cannot be
 * executed: then those after it are not, and ptxdbg_error says why. Questions are not asked: "set confirm off" has commands done that
 * drop recorded history. What follows `quit` is not executed. */
ptxdbg_status ptxdbg_session_execute(ptxdbg_session *session, const char *lines, char **answer);

/* Stops the run of the command that is being executed in another thread, as Ctrl-C does; the lines after it are not executed. Where none is
 * executed, it is that of the next one. */
ptxdbg_status ptxdbg_session_interrupt(ptxdbg_session *session);

/* Whether the kernel was seen to do something wrong, and whether `quit` was executed. */
int ptxdbg_session_is_wrong(ptxdbg_session *session);
int ptxdbg_session_has_ended(ptxdbg_session *session);

/* ---- one function ---- */

/* Runs the first kernel of a PTX text, with all checkers, as GPU Ocelot's function of this name does: args[i] is the value of parameter i,
 * of which a parameter takes as many bytes as it has. What is found, and why nothing could be run, is written to standard error, what
 * the kernel prints to standard output. 0 if the kernel ended and nothing is wrong; 1 for findings, 2 if it could not be run. The
 * environment variable PTXDBG_CHECKS says which checkers watch, as after --checks. */
int ptx_run(const char *source, int n_args, void *args[], int block_x, int block_y, int block_z, int grid_x, int grid_y, int grid_z,
            int dynamic_shared);

#ifdef __cplusplus
}
#endif

#endif
