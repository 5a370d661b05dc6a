/* The surface as it is not to be used: every call has a status or a value, and the process goes on. */
#include "expect.h"

static const char *const EMPTY = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u32 n)\n{\n  ret;\n}\n";

/* Null pointers for everything that a function takes. */
static void null_pointers_are_arguments_that_cannot_be_used(void)
{
    ptxdbg_module *module = NULL;
    ptxdbg_result *result = NULL;
    ptxdbg_plan *plan = NULL;
    ptxdbg_fix *fix = NULL;
    ptxdbg_session *session = NULL;
    EXPECT(ptxdbg_module_create(NULL, NULL, 0, &module) == PTXDBG_INVALID_ARGUMENT && module == NULL);
    EXPECT(ptxdbg_module_create(NULL, EMPTY, strlen(EMPTY), NULL) == PTXDBG_INVALID_ARGUMENT);
    EXPECT(ptxdbg_module_load(NULL, &module) == PTXDBG_INVALID_ARGUMENT);
    EXPECT(ptxdbg_register(NULL, 8) == PTXDBG_INVALID_ARGUMENT && ptxdbg_unregister(NULL) == PTXDBG_INVALID_ARGUMENT);
    EXPECT(ptxdbg_run(NULL, NULL, NULL, &result) == PTXDBG_INVALID_ARGUMENT && result == NULL);
    EXPECT(ptxdbg_run(NULL, NULL, NULL, NULL) == PTXDBG_INVALID_ARGUMENT);
    EXPECT(ptxdbg_plan_open(NULL, &plan) == PTXDBG_INVALID_ARGUMENT);
    EXPECT(ptxdbg_plan_create(NULL, NULL, &plan) == PTXDBG_INVALID_ARGUMENT);
    EXPECT(ptxdbg_plan_capture(NULL, &plan) == PTXDBG_INVALID_ARGUMENT);
    EXPECT(ptxdbg_plan_run(NULL, 0, NULL, &result) == PTXDBG_INVALID_ARGUMENT);
    EXPECT(ptxdbg_plan_bundle(NULL, 0, NULL, NULL, NULL) == PTXDBG_INVALID_ARGUMENT);
    EXPECT(ptxdbg_plan_fix(NULL, 0, NULL, 0, &fix) == PTXDBG_INVALID_ARGUMENT);
    EXPECT(ptxdbg_plan_session(NULL, 0, NULL, &session) == PTXDBG_INVALID_ARGUMENT && session == NULL);
    EXPECT(ptxdbg_session_execute(NULL, "help", NULL) == PTXDBG_INVALID_ARGUMENT);
    EXPECT(ptxdbg_session_interrupt(NULL) == PTXDBG_INVALID_ARGUMENT);
    EXPECT(ptxdbg_result_buffer(NULL, NULL, NULL, 0, NULL) == PTXDBG_INVALID_ARGUMENT);
    EXPECT(ptxdbg_module_kernel_count(NULL) == 0 && ptxdbg_module_kernel_name(NULL, 0) == NULL);
    EXPECT(ptxdbg_module_warning_count(NULL) == 0 && ptxdbg_module_warning(NULL, 0) == NULL);
    EXPECT(ptxdbg_result_finding_count(NULL) == 0 && ptxdbg_result_finding(NULL, 0) == NULL);
    EXPECT(ptxdbg_result_ticks(NULL) == 0 && ptxdbg_result_thread_instructions(NULL) == 0);
    EXPECT(ptxdbg_result_is_wrong(NULL) == 0 && ptxdbg_result_is_certified(NULL) == 0);
    EXPECT(ptxdbg_result_certificate(NULL) == NULL && ptxdbg_result_fidelity(NULL) == NULL && ptxdbg_result_printed(NULL, NULL) == NULL);
    EXPECT(ptxdbg_result_buffer_count(NULL) == 0 && ptxdbg_result_buffer_name(NULL, 0) == NULL);
    EXPECT(ptxdbg_plan_case_count(NULL) == 0 && ptxdbg_plan_case_name(NULL, 0) == NULL);
    EXPECT(ptxdbg_fix_text(NULL) == NULL && ptxdbg_fix_change_count(NULL) == 0 && ptxdbg_fix_change(NULL, 0) == NULL);
    EXPECT(ptxdbg_fix_module_count(NULL) == 0 && ptxdbg_fix_module_name(NULL, 0) == NULL && ptxdbg_fix_module_text(NULL, 0) == NULL);
    EXPECT(ptxdbg_session_is_wrong(NULL) == 0 && ptxdbg_session_has_ended(NULL) == 0);
    ptxdbg_module_free(NULL);
    ptxdbg_result_free(NULL);
    ptxdbg_plan_free(NULL);
    ptxdbg_fix_free(NULL);
    ptxdbg_session_free(NULL);
    ptxdbg_text_free(NULL);
    EXPECT(ptx_run(NULL, 0, NULL, 1, 1, 1, 1, 1, 1, 0) == 2 && ptx_run(EMPTY, 1, NULL, 1, 1, 1, 1, 1, 1, 0) == 2);
}

/* Sizes, words and numbers that mean nothing. */
static void wrong_values_are_said(void)
{
    ptxdbg_module *module = NULL;
    EXPECT(ptxdbg_module_create("\xff", EMPTY, strlen(EMPTY), &module) == PTXDBG_INVALID_ARGUMENT);
    EXPECT(ptxdbg_module_create("k.ptx", "\xff\xfe", 2, &module) == PTXDBG_INVALID_ARGUMENT);
    EXPECT(ptxdbg_module_create("k.ptx", EMPTY, SIZE_MAX, &module) == PTXDBG_INVALID_ARGUMENT && module == NULL);
    EXPECT(ptxdbg_module_create("k.ptx", "", 0, &module) == PTXDBG_INVALID_MODULE);
    EXPECT(ptxdbg_module_create("k.ptx", "a\nb\n", 4, &module) == PTXDBG_INVALID_MODULE && ptxdbg_error()[0] != 0);
    EXPECT(ptxdbg_module_load("/", &module) != PTXDBG_OK && ptxdbg_module_load("/nothing.ptx", &module) == PTXDBG_INVALID_FILE);
    EXPECT(ptxdbg_module_create("k.ptx", EMPTY, strlen(EMPTY), &module) == PTXDBG_OK);

    uint32_t n = 1;
    ptxdbg_param param = {&n, sizeof n}, none = {NULL, 4}, endless = {&n, SIZE_MAX};
    ptxdbg_launch right = {.size = sizeof right, .params = &param, .param_count = 1, .grid = {1, 1, 1}, .block = {1, 1, 1}}, launch = right;
    ptxdbg_result *result = NULL;
    launch.size = 0;
    EXPECT(ptxdbg_run(module, &launch, NULL, &result) == PTXDBG_INVALID_ARGUMENT && strstr(ptxdbg_error(), "sizeof (ptxdbg_launch)"));
    launch.size = SIZE_MAX;
    EXPECT(ptxdbg_run(module, &launch, NULL, &result) == PTXDBG_INVALID_ARGUMENT);
    launch = right, launch.params = NULL;
    EXPECT(ptxdbg_run(module, &launch, NULL, &result) == PTXDBG_INVALID_ARGUMENT);
    launch = right, launch.params = &none;
    EXPECT(ptxdbg_run(module, &launch, NULL, &result) == PTXDBG_INVALID_ARGUMENT && strstr(ptxdbg_error(), "parameter 0"));
    launch = right, launch.params = &endless;
    EXPECT(ptxdbg_run(module, &launch, NULL, &result) == PTXDBG_INVALID_ARGUMENT);
    launch = right, launch.param_count = SIZE_MAX;
    EXPECT(ptxdbg_run(module, &launch, NULL, &result) == PTXDBG_INVALID_ARGUMENT);
    launch = right, launch.grid[1] = 0;
    EXPECT(ptxdbg_run(module, &launch, NULL, &result) == PTXDBG_INVALID_LAUNCH);
    launch = right, launch.kernel = "\xff";
    EXPECT(ptxdbg_run(module, &launch, NULL, &result) == PTXDBG_INVALID_ARGUMENT);
    /* What a device refuses is a finding. */
    launch = right, launch.block[0] = UINT32_MAX, launch.grid[2] = UINT32_MAX, launch.dynamic_shared = UINT32_MAX;
    EXPECT(ptxdbg_run(module, &launch, NULL, &result) == PTXDBG_OK && ptxdbg_result_finding_count(result) == 1);
    ptxdbg_result_free(result);

    const char *const words[] = {"", "nothing", "\xff"};
    for (size_t i = 0; i < 3; i++) {
        ptxdbg_options wrong[] = {
            {.size = sizeof(ptxdbg_options), .checks = words[i]}, {.size = sizeof(ptxdbg_options), .schedule = words[i]},
            {.size = sizeof(ptxdbg_options), .copies = words[i]}, {.size = sizeof(ptxdbg_options), .divergence = words[i]}};
        for (size_t k = 0; k < 4; k++) EXPECT(ptxdbg_run(module, &right, &wrong[k], &result) == PTXDBG_INVALID_ARGUMENT && result == NULL);
    }
    ptxdbg_options options = {.size = sizeof options, .resident = 4225};
    EXPECT(ptxdbg_run(module, &right, &options, &result) == PTXDBG_INVALID_ARGUMENT && strstr(ptxdbg_error(), "4224"));
    ptxdbg_plan *plan = NULL;
    EXPECT(ptxdbg_plan_create(module, "Launch(", &plan) == PTXDBG_INVALID_LAUNCH && plan == NULL);
    ptxdbg_module_free(module);
}

/* A program that knows of fewer members, and one that knows of more. */
static void structs_may_grow(void)
{
    ptxdbg_module *module = NULL;
    EXPECT(ptxdbg_module_create("k.ptx", EMPTY, strlen(EMPTY), &module) == PTXDBG_OK);
    uint32_t n = 1;
    ptxdbg_param param = {&n, sizeof n};
    ptxdbg_launch launch = {.size = sizeof launch, .params = &param, .param_count = 1, .grid = {1, 1, 1}, .block = {1, 1, 1}};
    ptxdbg_result *result = NULL;
    ptxdbg_options options = {.size = offsetof(ptxdbg_options, resident), .resident = 99999};
    EXPECT(ptxdbg_run(module, &launch, &options, &result) == PTXDBG_OK);
    ptxdbg_result_free(result);
    struct {
        ptxdbg_options known;
        uint64_t more;
    } newer = {.known = {.size = sizeof newer}};
    EXPECT(ptxdbg_run(module, &launch, &newer.known, &result) == PTXDBG_OK);
    ptxdbg_result_free(result);
    newer.more = 1;
    EXPECT(ptxdbg_run(module, &launch, &newer.known, &result) == PTXDBG_INVALID_ARGUMENT && strstr(ptxdbg_error(), "newer header"));
    ptxdbg_module_free(module);
}

/* A defect of the library, which a build with debug assertions has where a variable of the environment says so. */
static void a_defect_is_a_status(void)
{
    ptxdbg_module *module = NULL;
    ptxdbg_plan *plan = NULL;
    ptxdbg_session *session = NULL;
    EXPECT(ptxdbg_module_create("k.ptx", EMPTY, strlen(EMPTY), &module) == PTXDBG_OK);
    EXPECT(ptxdbg_plan_create(module, "Launch(grid: (1, 1, 1), block: (1, 1, 1), params: [U32(1)])", &plan) == PTXDBG_OK);
    EXPECT(ptxdbg_plan_session(plan, 0, NULL, &session) == PTXDBG_OK);
    char *answer = NULL;
    EXPECT(ptxdbg_session_execute(session, "\xff", &answer) == PTXDBG_INVALID_ARGUMENT && answer == NULL);
    EXPECT(ptxdbg_session_execute(session, NULL, &answer) == PTXDBG_INVALID_ARGUMENT);
    EXPECT(ptxdbg_session_execute(session, "", &answer) == PTXDBG_OK && strcmp(answer, "") == 0);
    ptxdbg_text_free(answer);
    EXPECT(ptxdbg_session_execute(session, "commands 7\nend\n\x01", &answer) == PTXDBG_INVALID_COMMAND);
    ptxdbg_text_free(answer);
#ifdef PROVOKED
    EXPECT(ptxdbg_session_execute(session, PROVOKED, &answer) == PTXDBG_INTERNAL_ERROR && answer == NULL);
    EXPECT(strstr(ptxdbg_error(), "a defect of ptxdbg") != NULL);
    EXPECT(ptxdbg_session_execute(session, "help", &answer) == PTXDBG_INTERNAL_ERROR);
    EXPECT(ptxdbg_session_is_wrong(session) == 0);
#endif
    ptxdbg_session_free(session);
    ptxdbg_plan_free(plan);
    ptxdbg_module_free(module);
}

int main(void)
{
    EXPECT(strcmp(ptxdbg_error(), "") == 0);
    EXPECT(ptxdbg_version() == ((uint32_t)PTXDBG_VERSION_MAJOR << 16 | PTXDBG_VERSION_MINOR));
    null_pointers_are_arguments_that_cannot_be_used();
    wrong_values_are_said();
    structs_may_grow();
    a_defect_is_a_status();
    puts("nothing ends the process");
    return 0;
}
