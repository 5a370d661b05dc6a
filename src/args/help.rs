//! Help texts of arguments that are longer than a comment, or made from tables.

use crate::check::listed;
use crate::machine::{MemoryModel, POLICIES, Schedule};

/// The exit status, below the options.
pub(super) const EXIT_STATUS: &str = "\
Exit status:
  0  all is well
  1  something is wrong with the kernel: a diagnostic, a finding, a fault, a mismatch
  2  the command line or a file could not be used, or the output could not be written
130  Ctrl-C ended --batch, --verify or a script before the end";

/// Help of `--arg`.
pub(super) const ARG_HELP: &str = "\
A parameter, by name (the module's, Triton's, that of the CUDA source where it lies at the path of .file, beside the module or in a \
folder of -I, that of a buffer of the launch file, or param_0, param_1 ..) or in order: n=40, x=@x.npy, \
x=[1024]=random, or 40, @x.npy, with the kernel's own type; with a type u32=40, f32[1024]=iota, x=f32[40,48]=random(0,-1,1), \
f32[]=@x.npy, f32[1024], f32[3]=1,2,3, f32[64]=1.5, f32[64]=uninit; a struct p=bytes=0011aabb or p=@p.bin. In the same words, \
always by name, a __constant__ or __device__ variable, or memory that the launch file names: coef=@coef.npy, \
coef=1,2,3, scale=0.5. An array of NumPy must \
have elements as wide as the kernel's, floats for floats and integers for integers: x.astype(np.int32); one of float32 is rounded to \
nearest even where the kernel's elements are bf16; x=u32[]=@x.npy takes its bytes as they are. Parameters that are not given are those \
of the launch file, or made up. With --asm the value of an operand";

/// Help of `--asm`.
pub(super) const ASM_HELP: &str = "\
An asm statement of CUDA instead of a file, executed by the lanes of one warp: \
'asm(\"add.s32 %0, %1, %2;\" : \"=r\"(x) : \"r\"(3), \"r\"(a));', or its template and its operands as two words, \
'\"=r\"(x) : \"r\"(3), \"r\"(a)' or for short '=r, r=3, r'";

/// Help of `--checks`.
pub(super) fn checks_help() -> String {
    let checkers = listed("and");
    format!("Which checkers watch the run: all, none, or a list of {checkers}; wrong addresses are always found")
}

/// Help of `--schedule`.
pub(super) fn schedule_help() -> String {
    let described = Schedule::SYNTAX.map(|(word, what)| format!("{word} ({what})"));
    format!(
        "The order in which warps run: {}; with random, mbarrier.try_wait also comes back without its phase now and then",
        described.join(", ")
    )
}

/// Help of `--memory`.
pub(super) fn memory_help() -> String {
    let described = MemoryModel::SYNTAX.map(|(word, what)| format!("{word} ({what})"));
    format!("What loads return: {}; see help memory-model", described.join(", "))
}

/// Help of `--async`.
pub(super) fn completion_help() -> String {
    let described = POLICIES.map(|choice| choice(0).row()).map(|row| {
        let name = if row.is_seeded { format!("{0} or {0}:SEED", row.name) } else { row.name.to_string() };
        format!("{name} ({})", row.when.unwrap_or("when 'complete N' says so"))
    });
    format!("When asynchronous copies end: {}", described.join(", "))
}
