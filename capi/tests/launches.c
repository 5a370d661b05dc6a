/* Ten thousand launches in one process leave no memory, whatever came of them. */
#include "expect.h"

static const char PTX[] =
    ".version 8.0\n"
    ".target sm_80\n"
    ".address_size 64\n"
    ".visible .entry add(.param .u64 p, .param .u32 n)\n"
    "{\n"
    "    .reg .b32 %r<4>;\n"
    "    .reg .b64 %d<3>;\n"
    "    ld.param.u64 %d1, [p];\n"
    "    ld.param.u32 %r1, [n];\n"
    "    mov.u32 %r2, %tid.x;\n"
    "    mul.wide.u32 %d2, %r2, 4;\n"
    "    add.s64 %d1, %d1, %d2;\n"
    "    ld.global.u32 %r3, [%d1];\n"
    "    add.u32 %r3, %r3, %r1;\n"
    "    st.global.u32 [%d1], %r3;\n"
    "    ret;\n"
    "}\n";

static unsigned data[64];

/* Pages of the process in memory. */
static long pages(void)
{
    long all = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &all, &resident) != 2) resident = 0;
    if (file) fclose(file);
    return resident;
}

static ptxdbg_module *module;

static void run(void *address, ptxdbg_status expected, int is_wrong)
{
    unsigned one = 1;
    ptxdbg_param params[] = {{&address, sizeof address}, {&one, sizeof one}};
    ptxdbg_launch launch = {.size = sizeof launch, .params = params, .param_count = 2, .grid = {1, 1, 1}, .block = {64, 1, 1}};
    ptxdbg_result *result;
    EXPECT(ptxdbg_run(module, &launch, NULL, &result) == expected);
    EXPECT(ptxdbg_result_is_wrong(result) == is_wrong);
    ptxdbg_result_free(result);
}

static void launches(void) { run(data, PTXDBG_OK, 0); }
static void faults(void) { run(NULL, PTXDBG_OK, 1); }

static void one_function(void)
{
    void *args[] = {data, (void *)1};
    EXPECT(ptx_run(PTX, 2, args, 64, 1, 1, 1, 1, 1, 0) == 0);
}

static void modules(void)
{
    ptxdbg_module *own;
    EXPECT(ptxdbg_module_create("add.ptx", PTX, strlen(PTX), &own) == PTXDBG_OK);
    ptxdbg_module_free(own);
    EXPECT(ptxdbg_module_create("bad.ptx", PTX, strlen(PTX) / 2, &own) == PTXDBG_INVALID_MODULE);
    EXPECT(!own);
}

static void sessions(void)
{
    unsigned one = 1, *address = data;
    ptxdbg_param params[] = {{&address, sizeof address}, {&one, sizeof one}};
    ptxdbg_launch launch = {.size = sizeof launch, .params = params, .param_count = 2, .grid = {1, 1, 1}, .block = {64, 1, 1}};
    ptxdbg_result *result;
    ptxdbg_plan *plan;
    ptxdbg_session *session;
    char *answer;
    EXPECT(ptxdbg_run(module, &launch, NULL, &result) == PTXDBG_OK);
    EXPECT(ptxdbg_plan_capture(result, &plan) == PTXDBG_OK);
    EXPECT(ptxdbg_plan_session(plan, 0, NULL, &session) == PTXDBG_OK);
    EXPECT(ptxdbg_session_execute(session, "break 14\nrun\nprint %r3", &answer) == PTXDBG_OK);
    ptxdbg_text_free(answer);
    ptxdbg_session_free(session);
    ptxdbg_plan_free(plan);
    ptxdbg_result_free(result);
}

int main(void)
{
    struct { const char *name; void (*call)(void); int times; } kinds[] = {
        {"launches", launches, 10000}, {"faults", faults, 1000}, {"ptx_run", one_function, 10000}, {"modules", modules, 1000},
        {"sessions", sessions, 300}};
    EXPECT(ptxdbg_module_create("add.ptx", PTX, strlen(PTX), &module) == PTXDBG_OK);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        for (int warm = 0; warm < kinds[i].times / 10; warm++) kinds[i].call();
        long before = pages();
        for (int time = 0; time < kinds[i].times; time++) kinds[i].call();
        long more = pages() - before;
        printf("%s: %d times, %ld pages more\n", kinds[i].name, kinds[i].times, more);
        EXPECT(more < 256);
    }
    ptxdbg_module_free(module);
    return 0;
}
