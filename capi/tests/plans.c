/* Plans, fixes, bundles and sessions as a C program uses them. The argument is a folder for files. */
/* For nanosleep. */
#define _POSIX_C_SOURCE 200809L
#include "expect.h"

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

static ptxdbg_module *loaded(const char *path)
{
    ptxdbg_module *module = NULL;
    EXPECT(ptxdbg_module_load(path, &module) == PTXDBG_OK);
    return module;
}

/* What the first finding of a run of a kernel with two addresses is, none for a run without. */
static ptxdbg_result *run_of_two(const ptxdbg_module *module, const char *kernel, uint32_t grid, uint32_t block, void *one, void *other,
                                 const ptxdbg_options *options)
{
    ptxdbg_param params[] = {{&one, sizeof one}, {&other, sizeof other}};
    ptxdbg_launch launch = {
        .size = sizeof launch, .kernel = kernel, .params = params, .param_count = 2, .grid = {grid, 1, 1}, .block = {block, 1, 1}};
    ptxdbg_result *result = NULL;
    EXPECT(ptxdbg_run(module, &launch, options, &result) == PTXDBG_OK);
    return result;
}

/* The sections of the lock come in one order; what is missing shows in the other one. */
static void a_missing_fence_is_found_with_the_defaults(void)
{
    ptxdbg_module *module = loaded(FIXTURES "/orders/locks.ptx");
    const char *kernels[] = {"lock_right", "lock_no_acquire", "lock_no_release"};
    for (int kernel = 0; kernel < 3; kernel++) {
        ptxdbg_options none = {.size = sizeof none, .orders = PTXDBG_NO_ORDERS};
        for (int turn = 0; turn < 2; turn++) {
            int32_t lock = 0;
            float sum = 0;
            ptxdbg_result *result = run_of_two(module, kernels[kernel], 2, 32, &lock, &sum, turn == 0 ? NULL : &none);
            bool is_found = kernel > 0 && turn == 0;
            EXPECT((ptxdbg_result_finding_count(result) > 0) == is_found);
            if (is_found) EXPECT(strstr(ptxdbg_result_finding(result, 0)->why, "--schedule hold:") != NULL);
            EXPECT(lock == 0 && sum == 3.0f);
            ptxdbg_result_free(result);
        }
    }
    ptxdbg_module_free(module);
}

/* A run on the memory of the process is kept, and fixed. */
static void a_run_is_captured_and_fixed(const char *bundle)
{
    ptxdbg_module *module = loaded(FIXTURES "/gallery/shared_raw.ptx");
    uint32_t in[64], out[64] = {0};
    for (uint32_t i = 0; i < 64; i++) in[i] = i;
    ptxdbg_options options = {.size = sizeof options, .checks = "race,init"};
    ptxdbg_result *result = run_of_two(module, "shared_raw_bug", 1, 64, out, in, &options);
    EXPECT(ptxdbg_result_finding_count(result) == 1);
    EXPECT(strcmp(ptxdbg_result_finding(result, 0)->id, "race.shared.raw") == 0);
    ptxdbg_plan *plan = NULL;
    EXPECT(ptxdbg_plan_capture(result, &plan) == PTXDBG_OK);
    ptxdbg_result_free(result);
    ptxdbg_module_free(module);
    memset(in, 0xff, sizeof in);

    EXPECT(ptxdbg_plan_case_count(plan) == 1 && strcmp(ptxdbg_plan_case_name(plan, 0), "shared_raw_bug") == 0);
    EXPECT(ptxdbg_plan_bundle(plan, 0, NULL, bundle, "from C") == PTXDBG_OK);
    EXPECT(ptxdbg_plan_bundle(plan, 0, NULL, __FILE__, NULL) == PTXDBG_INVALID_FILE);
    ptxdbg_fix *fix = NULL;
    EXPECT(ptxdbg_plan_fix(plan, 0, NULL, 2, &fix) == PTXDBG_INVALID_ARGUMENT && fix == NULL);
    EXPECT(ptxdbg_plan_fix(plan, 0, NULL, 1, &fix) == PTXDBG_OK);
    EXPECT(strstr(ptxdbg_fix_text(fix), "the finding is gone") != NULL);
    EXPECT(ptxdbg_fix_change_count(fix) == 1 && strstr(ptxdbg_fix_change(fix, 0), "bar") != NULL);
    EXPECT(ptxdbg_fix_module_count(fix) == 1 && ptxdbg_fix_module_text(fix, 1) == NULL);
    EXPECT(strcmp(ptxdbg_fix_module_name(fix, 0), "shared_raw.ptx") == 0);

    const char *text = ptxdbg_fix_module_text(fix, 0);
    EXPECT(ptxdbg_module_create("fixed.ptx", text, strlen(text), &module) == PTXDBG_OK);
    for (uint32_t i = 0; i < 64; i++) in[i] = i;
    result = run_of_two(module, "shared_raw_bug", 1, 64, out, in, NULL);
    EXPECT(ptxdbg_result_finding_count(result) == 0);
    ptxdbg_result_free(result);
    ptxdbg_module_free(module);
    ptxdbg_fix_free(fix);
    ptxdbg_plan_free(plan);
}

/* What was written is opened without what it came from: with its memory and the checkers that watched. */
static void a_bundle_is_opened(const char *bundle)
{
    ptxdbg_plan *plan = NULL;
    EXPECT(ptxdbg_plan_open(bundle, &plan) == PTXDBG_OK);
    ptxdbg_result *result = NULL;
    EXPECT(ptxdbg_plan_run(plan, 0, NULL, &result) == PTXDBG_OK);
    EXPECT(ptxdbg_result_finding_count(result) == 1 && ptxdbg_result_is_wrong(result));
    EXPECT(strcmp(ptxdbg_result_finding(result, 0)->id, "race.shared.raw") == 0);
    EXPECT(ptxdbg_result_buffer_count(result) > 0 && ptxdbg_result_buffer_name(result, 1000) == NULL);
    ptxdbg_plan *none = NULL;
    EXPECT(ptxdbg_plan_capture(result, &none) == PTXDBG_INVALID_ARGUMENT && none == NULL);
    ptxdbg_result_free(result);
    EXPECT(ptxdbg_plan_run(plan, 1, NULL, &result) == PTXDBG_INVALID_LAUNCH && result == NULL);

    ptxdbg_session *session = NULL;
    EXPECT(ptxdbg_plan_session(plan, 0, NULL, &session) == PTXDBG_OK);
    char *answer = NULL;
    EXPECT(ptxdbg_session_execute(session, "run\ninfo checks", &answer) == PTXDBG_OK);
    EXPECT(strstr(answer, "race.shared.raw") != NULL);
    ptxdbg_text_free(answer);
    EXPECT(ptxdbg_session_is_wrong(session));
    ptxdbg_session_free(session);
    ptxdbg_plan_free(plan);
}

static void a_session_answers_as_the_prompt(void)
{
    ptxdbg_plan *plan = NULL;
    EXPECT(ptxdbg_plan_open(FIXTURES "/debug/ring_sum.ron", &plan) == PTXDBG_OK);
    ptxdbg_session *session = NULL;
    EXPECT(ptxdbg_plan_session(plan, 0, NULL, &session) == PTXDBG_OK);
    ptxdbg_plan_free(plan);
    char *answer = NULL;
    EXPECT(ptxdbg_session_execute(session, "goto end\nlast sums[31]", &answer) == PTXDBG_OK);
    EXPECT(strcmp(answer, "t=17  the kernel has finished\nt=15  block (0,0,0) warp 0 lane 31  ring_sum.ptx:28  "
                          "st.global.u32 [%address], %result   0 \xe2\x86\x92 1032\n") == 0);
    ptxdbg_text_free(answer);
    EXPECT(ptxdbg_session_execute(session, "goto 12\nlane 31\nprint %there", &answer) == PTXDBG_OK);
    EXPECT(strstr(answer, "%there = 1000\n") != NULL);
    ptxdbg_text_free(answer);
    EXPECT(ptxdbg_session_execute(session, "echo before\nprint %nothing\necho after", &answer) == PTXDBG_INVALID_COMMAND);
    EXPECT(strcmp(answer, "before\n") == 0 && strstr(ptxdbg_error(), "%nothing") != NULL);
    ptxdbg_text_free(answer);
    EXPECT(ptxdbg_session_execute(session, "set %there = 1", NULL) == PTXDBG_OK);
    EXPECT(ptxdbg_session_execute(session, "set seed 5", NULL) == PTXDBG_INVALID_COMMAND);
    EXPECT(ptxdbg_session_execute(session, "set confirm off\nset seed 5", NULL) == PTXDBG_OK);
    EXPECT(!ptxdbg_session_has_ended(session));
    EXPECT(ptxdbg_session_execute(session, "quit\necho after", &answer) == PTXDBG_OK && strcmp(answer, "") == 0);
    ptxdbg_text_free(answer);
    EXPECT(ptxdbg_session_has_ended(session));
    EXPECT(ptxdbg_session_execute(session, "echo after", &answer) == PTXDBG_INVALID_COMMAND && strcmp(answer, "") == 0);
    EXPECT(strstr(ptxdbg_error(), "has ended") != NULL);
    ptxdbg_text_free(answer);
    ptxdbg_session_free(session);
}

static const char *const COUNTS =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry counts()\n{\n"
    "  .reg .b64 %d<2>;\n"
    "  mov.u64 %d1, 0;\n"
    "again: add.u64 %d1, %d1, 1; bra again;\n}\n";

struct waiting {
    ptxdbg_session *session;
    char *answer;
    ptxdbg_status status;
};

static void *runs(void *argument)
{
    struct waiting *waiting = argument;
    waiting->status = ptxdbg_session_execute(waiting->session, "run\necho after", &waiting->answer);
    return NULL;
}

/* Counts on and on. */
static const char *const ENDLESS =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry endless(.param .u64 p)\n{\n"
    "  .reg .b32 %r1; .reg .b64 %d1; ld.param.u64 %d1, [p];\n"
    "again: ld.volatile.global.u32 %r1, [%d1]; add.u32 %r1, %r1, 1; st.volatile.global.u32 [%d1], %r1; bra again;\n}\n";

struct endless {
    ptxdbg_module *module;
    ptxdbg_plan *plan;
    volatile int flag;
    uint32_t counter;
    ptxdbg_status status, of_plan;
};

static void *runs_on(void *given)
{
    struct endless *own = given;
    uint32_t *address = &own->counter;
    ptxdbg_param param = {&address, sizeof address};
    ptxdbg_launch launch = {.size = sizeof launch, .grid = {1, 1, 1}, .block = {1, 1, 1}, .params = &param, .param_count = 1};
    ptxdbg_options options = {.size = sizeof options, .interrupt = &own->flag};
    ptxdbg_result *result;
    own->status = ptxdbg_run(own->module, &launch, &options, &result);
    EXPECT(result == NULL && strstr(ptxdbg_error(), "interrupted") != NULL);
    own->of_plan = ptxdbg_plan_run(own->plan, 0, &options, &result);
    EXPECT(result == NULL);
    return NULL;
}

static void another_thread_ends_a_run(void)
{
    struct endless own = {0};
    EXPECT(ptxdbg_module_create("endless.ptx", ENDLESS, strlen(ENDLESS), &own.module) == PTXDBG_OK);
    EXPECT(ptxdbg_plan_create(own.module,
                              "Launch(grid: (1, 1, 1), block: (1, 1, 1), "
                              "params: [Buffer(name: \"p\", elem: U32, len: 1, init: Zero)])",
                              &own.plan) == PTXDBG_OK);
    pthread_t thread;
    EXPECT(pthread_create(&thread, NULL, runs_on, &own) == 0);
    struct timespec moment = {0, 100000000};
    nanosleep(&moment, NULL);
    __atomic_store_n(&own.flag, 1, __ATOMIC_RELAXED);
    EXPECT(pthread_join(thread, NULL) == 0);
    EXPECT(own.status == PTXDBG_INTERRUPTED && own.of_plan == PTXDBG_INTERRUPTED && own.counter == 0);
    ptxdbg_plan_free(own.plan);
    ptxdbg_module_free(own.module);
}

static void another_thread_interrupts(void)
{
    ptxdbg_module *module = NULL;
    EXPECT(ptxdbg_module_create(NULL, COUNTS, strlen(COUNTS), &module) == PTXDBG_OK);
    ptxdbg_plan *plan = NULL;
    EXPECT(ptxdbg_plan_create(module, "Launch(grid: (1, 1, 1), block: (32, 1, 1), params: [])", &plan) == PTXDBG_OK);
    struct waiting waiting = {0};
    ptxdbg_options options = {.size = sizeof options, .checks = "none", .step_limit = 1000000000};
    EXPECT(ptxdbg_plan_session(plan, 0, &options, &waiting.session) == PTXDBG_OK);
    pthread_t thread;
    EXPECT(pthread_create(&thread, NULL, runs, &waiting) == 0);
    EXPECT(ptxdbg_session_interrupt(waiting.session) == PTXDBG_OK);
    EXPECT(pthread_join(thread, NULL) == 0);
    EXPECT(waiting.status == PTXDBG_OK && strncmp(waiting.answer, "interrupted\n", 12) == 0);
    EXPECT(strstr(waiting.answer, "after") == NULL);
    ptxdbg_text_free(waiting.answer);
    ptxdbg_session_free(waiting.session);
    ptxdbg_plan_free(plan);
    ptxdbg_module_free(module);
}

static void *runs_alone(void *argument)
{
    uint32_t in[64] = {0}, out[64] = {0};
    for (int turn = 0; turn < 8; turn++) {
        ptxdbg_result *result = run_of_two(argument, "shared_raw_bug", 1, 64, out, in, NULL);
        EXPECT(ptxdbg_result_finding_count(result) == 1);
        ptxdbg_result_free(result);
        EXPECT(ptxdbg_module_load("", NULL) == PTXDBG_INVALID_ARGUMENT);
    }
    return NULL;
}

static void threads_share_a_module(void)
{
    ptxdbg_module *module = loaded(FIXTURES "/gallery/shared_raw.ptx");
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) EXPECT(pthread_create(&threads[i], NULL, runs_alone, module) == 0);
    for (int i = 0; i < 4; i++) EXPECT(pthread_join(threads[i], NULL) == 0);
    /* What failed there is not what failed here. */
    EXPECT(strstr(ptxdbg_error(), "place for the result") == NULL);
    ptxdbg_module_free(module);
}

static void a_plan_is_compared_and_read(void)
{
    ptxdbg_plan *plan = NULL;
    EXPECT(ptxdbg_plan_open(FIXTURES "/orders/locks.ron", &plan) == PTXDBG_OK);
    EXPECT(ptxdbg_plan_case_count(plan) > 2 && ptxdbg_plan_case_name(plan, 1000) == NULL);
    EXPECT(strcmp(ptxdbg_plan_case_name(plan, 1), "lock_no_acquire") == 0);
    ptxdbg_result *result = NULL;
    EXPECT(ptxdbg_plan_run(plan, 0, NULL, &result) == PTXDBG_OK);
    EXPECT(!ptxdbg_result_is_wrong(result) && ptxdbg_result_buffer_count(result) == 2);
    EXPECT(strcmp(ptxdbg_result_buffer_name(result, 1), "sum") == 0);
    float sum = 0;
    size_t needed = 0;
    EXPECT(ptxdbg_result_buffer(result, "sum", &sum, sizeof sum, &needed) == PTXDBG_OK && sum == 3.0f && needed == sizeof sum);
    EXPECT(ptxdbg_result_buffer(result, "lock", NULL, 0, NULL) == PTXDBG_OK);
    EXPECT(ptxdbg_result_buffer(result, "nothing", &sum, sizeof sum, NULL) == PTXDBG_INVALID_ARGUMENT);
    ptxdbg_result_free(result);
    ptxdbg_plan_free(plan);
    EXPECT(ptxdbg_plan_open(FIXTURES "/nothing.ron", &plan) == PTXDBG_INVALID_FILE && plan == NULL);
}

int main(int count, char **arguments)
{
    EXPECT(count == 2);
    char bundle[4096];
    snprintf(bundle, sizeof bundle, "%s/captured.ptxcap", arguments[1]);
    a_missing_fence_is_found_with_the_defaults();
    a_run_is_captured_and_fixed(bundle);
    a_bundle_is_opened(bundle);
    a_session_answers_as_the_prompt();
    another_thread_interrupts();
    another_thread_ends_a_run();
    threads_share_a_module();
    a_plan_is_compared_and_read();
    puts("plans, fixes, bundles and sessions do what the header says");
    return 0;
}
