/* The surface as a C program uses it. Ends with 0, or says which expectation does not hold. */
#include "expect.h"

static const char *const ADD =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry add(.param .u64 p, .param .u32 n, .param .f32 x)\n{\n"
    "  .reg .pred %p; .reg .b32 %r<4>; .reg .f32 %f<3>; .reg .b64 %d<4>;\n"
    "  ld.param.u64 %d1, [p]; ld.param.u32 %r1, [n]; ld.param.f32 %f1, [x];\n"
    "  mov.u32 %r2, %tid.x; setp.ge.u32 %p, %r2, %r1; @%p bra done;\n"
    "  mul.wide.u32 %d2, %r2, 4; add.s64 %d1, %d1, %d2;\n"
    "  ld.global.f32 %f2, [%d1]; add.f32 %f2, %f2, %f1; st.global.f32 [%d1], %f2;\n"
    "done: ret;\n}\n";

/* Follows a list: each node holds the address of the next one, and a number. */
static const char *const WALK =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry walk(.param .u64 node, .param .u64 sum)\n{\n"
    "  .reg .pred %p; .reg .b64 %d<6>;\n"
    "  ld.param.u64 %d1, [node]; ld.param.u64 %d2, [sum]; mov.u64 %d3, 0;\n"
    "again: setp.eq.u64 %p, %d1, 0; @%p bra done;\n"
    "  ld.u64 %d4, [%d1+8]; add.u64 %d3, %d3, %d4; ld.u64 %d1, [%d1]; bra again;\n"
    "done: st.u64 [%d2], %d3; ret;\n}\n";

/* All threads write their number to one place. */
static const char *const RACE =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry race(.param .u64 p)\n{\n"
    "  .reg .b32 %r1; .reg .b64 %d1;\n"
    "  ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; st.global.u32 [%d1], %r1; ret;\n}\n";

/* Scales by a constant, and counts what it did. */
static const char *const VARIABLES =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".const .align 4 .f32 factors[2];\n.global .align 4 .u32 _ZN1n5countE;\n"
    ".visible .entry scale(.param .u64 p)\n{\n"
    "  .reg .b32 %r<3>; .reg .f32 %f<3>; .reg .b64 %d1;\n"
    "  ld.param.u64 %d1, [p]; ld.global.f32 %f1, [%d1]; ld.const.f32 %f2, [factors+4]; mul.f32 %f1, %f1, %f2; st.global.f32 [%d1], %f1;\n"
    "  ld.global.u32 %r1, [_ZN1n5countE]; add.u32 %r1, %r1, 1; st.global.u32 [_ZN1n5countE], %r1; ret;\n}\n";

struct node {
    struct node *next;
    uint64_t value;
};

static ptxdbg_module *module_of(const char *text)
{
    ptxdbg_module *module = NULL;
    EXPECT(ptxdbg_module_create("test.ptx", text, strlen(text), &module) == PTXDBG_OK);
    return module;
}

static void kernels_work_on_the_memory_of_the_caller(void)
{
    ptxdbg_module *module = module_of(ADD);
    EXPECT(ptxdbg_module_kernel_count(module) == 1);
    EXPECT(strcmp(ptxdbg_module_kernel_name(module, 0), "add") == 0);
    EXPECT(ptxdbg_module_kernel_name(module, 1) == NULL);
    enum { COUNT = 3000 };
    float *data = malloc(COUNT * sizeof *data);
    for (int i = 0; i < COUNT; i++) data[i] = (float)i;
    uint32_t n = 1000;
    float x = 0.5f;
    ptxdbg_param params[] = {{&data, sizeof data}, {&n, sizeof n}, {&x, sizeof x}};
    ptxdbg_launch launch = {.size = sizeof(ptxdbg_launch), .kernel = "add", .grid = {1, 1, 1}, .block = {1024, 1, 1},
                            .params = params, .param_count = 3};
    ptxdbg_result *result = NULL;
    EXPECT(ptxdbg_run(module, &launch, NULL, &result) == PTXDBG_OK);
    EXPECT(ptxdbg_result_finding_count(result) == 0 && !ptxdbg_result_is_wrong(result) && ptxdbg_result_is_certified(result));
    EXPECT(ptxdbg_result_ticks(result) > 0 && ptxdbg_result_thread_instructions(result) > 1000);
    EXPECT(strstr(ptxdbg_result_certificate(result), "every order") != NULL);
    EXPECT(strstr(ptxdbg_result_fidelity(result), "bit-exact") != NULL);
    for (int i = 0; i < COUNT; i++) EXPECT(data[i] == (float)i + (i < 1000 ? 0.5f : 0.0f));
    ptxdbg_result_free(result);
    free(data);
    ptxdbg_module_free(module);
}

static void pointers_in_memory_lead_on(void)
{
    ptxdbg_module *module = module_of(WALK);
    struct node *list = NULL;
    uint64_t expected = 0, sum = 0;
    for (uint64_t i = 0; i < 50; i++) {
        struct node *node = malloc(sizeof *node + 9000);
        node->next = list;
        node->value = i * i;
        expected += i * i;
        list = node;
    }
    uint64_t *at = &sum;
    ptxdbg_param params[] = {{&list, sizeof list}, {&at, sizeof at}};
    ptxdbg_launch launch = {.size = sizeof(ptxdbg_launch), .grid = {1, 1, 1}, .block = {1, 1, 1}, .params = params, .param_count = 2};
    ptxdbg_result *result = NULL;
    EXPECT(ptxdbg_run(module, &launch, NULL, &result) == PTXDBG_OK);
    EXPECT(sum == expected);
    ptxdbg_result_free(result);
    while (list) {
        struct node *next = list->next;
        free(list);
        list = next;
    }
    ptxdbg_module_free(module);
}

static void findings_have_both_sides(void)
{
    ptxdbg_module *module = module_of(RACE);
    uint32_t cell = 7, *at = &cell;
    ptxdbg_param params[] = {{&at, sizeof at}};
    ptxdbg_launch launch = {.size = sizeof(ptxdbg_launch), .grid = {2, 1, 1}, .block = {32, 1, 1}, .params = params, .param_count = 1};
    ptxdbg_result *result = NULL;
    EXPECT(ptxdbg_run(module, &launch, NULL, &result) == PTXDBG_OK);
    EXPECT(ptxdbg_result_finding_count(result) > 0);
    EXPECT(ptxdbg_result_is_wrong(result) && !ptxdbg_result_is_certified(result));
    const ptxdbg_finding *finding = ptxdbg_result_finding(result, 0);
    EXPECT(finding != NULL && strcmp(finding->id, "race.global") == 0 && finding->severity == PTXDBG_ERROR);
    EXPECT(finding->first != NULL && strcmp(finding->first->place, "test.ptx:7") == 0 && finding->first->source == NULL);
    EXPECT(finding->second != NULL && finding->second->lanes != 0);
    EXPECT(strstr(finding->text, "race.global") != NULL);
    EXPECT(ptxdbg_result_finding(result, 99) == NULL);
    ptxdbg_result_free(result);
    ptxdbg_options none = {.size = sizeof(ptxdbg_options), .checks = "none"};
    EXPECT(ptxdbg_run(module, &launch, &none, &result) == PTXDBG_OK);
    EXPECT(ptxdbg_result_finding_count(result) == 0);
    ptxdbg_result_free(result);
    ptxdbg_options wrong = {.size = sizeof(ptxdbg_options), .checks = "nothing"};
    EXPECT(ptxdbg_run(module, &launch, &wrong, &result) == PTXDBG_INVALID_ARGUMENT);
    EXPECT(strstr(ptxdbg_error(), "nothing") != NULL);
    ptxdbg_module_free(module);
}

static void registered_memory_has_bounds(void)
{
    ptxdbg_module *module = module_of(ADD);
    float *data = aligned_alloc(64, 4096);
    memset(data, 0, 4096);
    EXPECT(ptxdbg_register(data, 256) == PTXDBG_OK);
    EXPECT(ptxdbg_register(data + 2, 8) == PTXDBG_INVALID_ARGUMENT);
    uint32_t n = 65;
    float x = 1;
    ptxdbg_param params[] = {{&data, sizeof data}, {&n, sizeof n}, {&x, sizeof x}};
    ptxdbg_launch launch = {.size = sizeof(ptxdbg_launch), .grid = {1, 1, 1}, .block = {128, 1, 1}, .params = params, .param_count = 3};
    ptxdbg_result *result = NULL;
    EXPECT(ptxdbg_run(module, &launch, NULL, &result) == PTXDBG_OK);
    EXPECT(ptxdbg_result_finding_count(result) == 1);
    EXPECT(strcmp(ptxdbg_result_finding(result, 0)->id, "memory.out_of_bounds") == 0);
    ptxdbg_result_free(result);
    EXPECT(ptxdbg_unregister(data) == PTXDBG_OK && ptxdbg_unregister(data) == PTXDBG_INVALID_ARGUMENT);
    free(data);
    ptxdbg_module_free(module);
}

static const char *const INCREMENT =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry increment(.param .u64 at)\n"
    "{ .reg .b32 %r<2>; .reg .b64 %d; ld.param.u64 %d, [at];\n"
    "  ld.global.u32 %r1, [%d]; add.u32 %r1, %r1, 7; st.global.u32 [%d], %r1; ret; }\n";

/* The finding of an increment at `at`, or none. */
static ptxdbg_result *increment(ptxdbg_module *module, uint32_t *at)
{
    ptxdbg_param params[] = {{&at, sizeof at}};
    ptxdbg_launch launch = {.size = sizeof(ptxdbg_launch), .grid = {1, 1, 1}, .block = {1, 1, 1}, .params = params, .param_count = 1};
    ptxdbg_result *result = NULL;
    EXPECT(ptxdbg_run(module, &launch, NULL, &result) == PTXDBG_OK);
    return result;
}

static void registered_memory_begins_where_it_is_said_to(void)
{
    ptxdbg_module *module = module_of(INCREMENT);
    uint32_t *data = aligned_alloc(4096, 4096);
    for (size_t first = 1; first < 5; first++) {
        memset(data, 0, 4096);
        EXPECT(ptxdbg_register(data + first, 64) == PTXDBG_OK);
        ptxdbg_result *before = increment(module, data + first - 1);
        EXPECT(ptxdbg_result_finding_count(before) == 1 && data[first - 1] == 0);
        EXPECT(strcmp(ptxdbg_result_finding(before, 0)->id, "memory.out_of_bounds") == 0);
        EXPECT(strstr(ptxdbg_result_finding(before, 0)->text, "4 bytes before the start of") != NULL);
        EXPECT(strstr(ptxdbg_result_finding(before, 0)->text, "(64 bytes at ") != NULL);
        ptxdbg_result *lowest = increment(module, data + first), *highest = increment(module, data + first + 15);
        EXPECT(ptxdbg_result_finding_count(lowest) == 0 && data[first] == 7);
        EXPECT(ptxdbg_result_finding_count(highest) == 0 && data[first + 15] == 7);
        ptxdbg_result *after = increment(module, data + first + 16);
        EXPECT(ptxdbg_result_finding_count(after) == 1 && data[first + 16] == 0);
        ptxdbg_result_free(before), ptxdbg_result_free(lowest), ptxdbg_result_free(highest), ptxdbg_result_free(after);
        EXPECT(ptxdbg_unregister(data + first) == PTXDBG_OK);
    }
    free(data);
    ptxdbg_module_free(module);
}

static void mistakes_are_statuses(void)
{
    ptxdbg_module *module = NULL;
    EXPECT(ptxdbg_module_create("bad.ptx", "nonsense", 8, &module) == PTXDBG_INVALID_MODULE && module == NULL);
    EXPECT(strstr(ptxdbg_error(), "bad.ptx:") != NULL);
    EXPECT(ptxdbg_module_create("bad.ptx", NULL, 8, &module) == PTXDBG_INVALID_ARGUMENT);
    module = module_of(ADD);
    ptxdbg_launch launch = {.size = sizeof(ptxdbg_launch), .kernel = "absent", .grid = {1, 1, 1}, .block = {1, 1, 1}};
    ptxdbg_result *result = NULL;
    EXPECT(ptxdbg_run(module, &launch, NULL, &result) == PTXDBG_INVALID_LAUNCH);
    EXPECT(strstr(ptxdbg_error(), "absent") != NULL);
    launch.kernel = "add";
    EXPECT(ptxdbg_run(module, &launch, NULL, &result) == PTXDBG_INVALID_LAUNCH);
    EXPECT(ptxdbg_run(NULL, &launch, NULL, &result) == PTXDBG_INVALID_ARGUMENT && result == NULL);
    float *null = NULL;
    uint32_t n = 1;
    float x = 1;
    ptxdbg_param params[] = {{&null, sizeof null}, {&n, sizeof n}, {&x, sizeof x}};
    launch = (ptxdbg_launch){.size = sizeof(ptxdbg_launch), .grid = {1, 1, 1}, .block = {1, 1, 1}, .params = params, .param_count = 3};
    EXPECT(ptxdbg_run(module, &launch, NULL, &result) == PTXDBG_OK);
    EXPECT(strcmp(ptxdbg_result_finding(result, 0)->id, "memory.null") == 0);
    ptxdbg_result_free(result);
    ptxdbg_module_free(module);
    ptxdbg_module_free(NULL);
    ptxdbg_result_free(NULL);
}

static void one_function_runs_a_text(void)
{
    float data[32] = {0};
    float one = 1.0f;
    uint64_t bits = 0;
    memcpy(&bits, &one, sizeof one);
    void *args[] = {data, (void *)(uintptr_t)32, (void *)(uintptr_t)bits};
    for (int turn = 0; turn < 3; turn++) EXPECT(ptx_run(ADD, 3, args, 32, 1, 1, 1, 1, 1, 0) == 0);
    for (int i = 0; i < 32; i++) EXPECT(data[i] == 3.0f);
    EXPECT(ptx_run("nonsense", 0, NULL, 1, 1, 1, 1, 1, 1, 0) == 2);
    EXPECT(ptx_run(ADD, 3, args, -1, 1, 1, 1, 1, 1, 0) == 2);
}

static void variables_have_contents(void)
{
    ptxdbg_module *module = module_of(VARIABLES);
    float x = 3.0f, *address = &x, factors[] = {0.0f, 2.5f};
    uint32_t count = 41;
    ptxdbg_param params[] = {{&address, sizeof address}};
    ptxdbg_variable variables[] = {{"factors", factors, sizeof factors}, {"count", &count, sizeof count}};
    ptxdbg_launch launch = {.size = sizeof(ptxdbg_launch), .grid = {1, 1, 1}, .block = {1, 1, 1}, .params = params, .param_count = 1,
                            .variables = variables, .variable_count = 2};
    ptxdbg_result *result = NULL;
    EXPECT(ptxdbg_run(module, &launch, NULL, &result) == PTXDBG_OK);
    EXPECT(x == 7.5f && count == 42 && factors[1] == 2.5f);

    /* What is captured of it has them too. */
    ptxdbg_plan *plan = NULL;
    ptxdbg_session *session = NULL;
    char *answer = NULL;
    EXPECT(ptxdbg_plan_capture(result, &plan) == PTXDBG_OK);
    EXPECT(ptxdbg_plan_session(plan, 0, NULL, &session) == PTXDBG_OK);
    EXPECT(ptxdbg_session_execute(session, "print _ZN1n5countE\nrun\nprint _ZN1n5countE\nprint factors", &answer) == PTXDBG_OK);
    EXPECT(strstr(answer, "_ZN1n5countE = 41\n") && strstr(answer, "_ZN1n5countE = 42\n") && strstr(answer, "{0, 2.5}"));
    ptxdbg_text_free(answer);
    ptxdbg_session_free(session);
    ptxdbg_plan_free(plan);
    ptxdbg_result_free(result);

    variables[1].name = "nothing";
    EXPECT(ptxdbg_run(module, &launch, NULL, &result) == PTXDBG_INVALID_LAUNCH && strstr(ptxdbg_error(), "variables: factors, count"));
    variables[1] = (ptxdbg_variable){"factors", factors, 4};
    EXPECT(ptxdbg_run(module, &launch, NULL, &result) == PTXDBG_INVALID_LAUNCH && strstr(ptxdbg_error(), "given twice"));
    variables[1] = (ptxdbg_variable){"count", factors, 8};
    EXPECT(ptxdbg_run(module, &launch, NULL, &result) == PTXDBG_INVALID_LAUNCH && strstr(ptxdbg_error(), "has 4 bytes, and 8 are given"));
    variables[1] = (ptxdbg_variable){NULL, &count, 4};
    EXPECT(ptxdbg_run(module, &launch, NULL, &result) == PTXDBG_INVALID_ARGUMENT);
    EXPECT(x == 7.5f && count == 42);
    ptxdbg_module_free(module);
}

int main(void)
{
    kernels_work_on_the_memory_of_the_caller();
    pointers_in_memory_lead_on();
    findings_have_both_sides();
    registered_memory_has_bounds();
    registered_memory_begins_where_it_is_said_to();
    variables_have_contents();
    mistakes_are_statuses();
    one_function_runs_a_text();
    puts("the surface does what its header says");
    return 0;
}
