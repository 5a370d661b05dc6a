//! Judging any module: nothing makes the assembler fail or take long, it says where mistakes are, and what it accepts is a program.

use std::sync::Arc;
use std::time::Duration;

use cpu_time::ThreadTime;
use ptxdbg::base::{Diagnostic, Sources};
use ptxdbg::machine::{
    CompletionPolicyKind, Device, DivergencePolicy, FastPaths, Instrumentation, LaunchConfig, Machine, MemoryLimit, MemoryModel,
    NullObserver, Schedule, Tick,
};
use ptxdbg::program::{FuncId, Pc, Program, operands};
use ptxdbg::sema;
use ptxdbg::ui::text::{self, Style};

use super::syntax;

/// Longest processor time that a module may take, whatever else runs.
const LONGEST: Duration = Duration::from_secs(1);
/// Largest module for which that holds, in bytes.
const BYTES_MAX: usize = 64 << 10;
/// Ticks for which every kernel of a module is run.
const TICKS: u64 = 2000;

/// Reads and judges `text`, and tries the program if there is one. True if there is.
pub fn check(text: &str) -> bool {
    let (program, diagnostics, sources) = load_in_time(text);
    syntax::check_places(text, &diagnostics);
    let drawn = text::diagnostics(&sources, &diagnostics, Style::Human { color: false });
    assert!(diagnostics.is_empty() || !drawn.is_empty());
    assert_eq!(program.is_none(), diagnostics.iter().any(Diagnostic::is_error), "{diagnostics:?}\n{text}");
    let Some(program) = program else { return false };
    check_looks(&program);
    check_printed(text, &program);
    program.kernels().for_each(|kernel| run(&program, kernel));
    true
}

type Loaded = (Option<Arc<Program>>, Vec<Diagnostic>, Sources);

fn load(text: &str) -> Loaded {
    let mut sources = Sources::default();
    let (program, diagnostics) = sema::load(&mut sources, "module.ptx", text);
    (program, diagnostics, sources)
}

/// Loads `text`, which does not take long.
fn load_in_time(text: &str) -> Loaded {
    let begun = ThreadTime::now();
    let loaded = load(text);
    assert!(begun.elapsed() < LONGEST || text.len() > BYTES_MAX, "it takes more than {LONGEST:?}: {text}");
    loaded
}

/// Everything that a debugger asks about an instruction has an answer.
fn check_looks(program: &Program) {
    for (inst, pc) in program.code.iter().zip((0..).map(Pc)) {
        assert!(program.function_at(pc).is_some(), "{pc:?} is in no function");
        assert!(!program.text(pc).is_empty() && !program.place(pc).is_empty(), "{pc:?} has no text");
        operands::registers_of(inst, program, |_, _| {});
    }
}

/// The module as its tree prints it is the same program.
fn check_printed(text: &str, program: &Program) {
    let printed = syntax::check(text).expect("it is right");
    let (again, diagnostics, _) = load(&printed);
    let Some(again) = again else { panic!("printed it is refused: {diagnostics:?}\n{printed}\nfrom: {text}") };
    assert!(again.code == program.code, "printed as: {printed}\nfrom: {text}");
    assert_eq!((&again.consts32, &again.consts64), (&program.consts32, &program.consts64), "printed as: {printed}\nfrom: {text}");
    let bytes = |program: &Program| -> Vec<_> { program.variables.iter().map(|one| (one.location, one.bytes, one.init.clone())).collect() };
    assert!(bytes(&again) == bytes(program), "printed as: {printed}\nfrom: {text}");
}

/// Runs a kernel for a while, with parameters that are all zero.
fn run(program: &Arc<Program>, kernel: FuncId) {
    let config = LaunchConfig {
        kernel,
        grid: [1, 1, 1],
        block: [40, 1, 1],
        only: Vec::new(),
        cluster: [1, 1, 1],
        explicit_cluster: false,
        dynamic_shared: 0,
        params: vec![0; program.functions[kernel.index()].param_bytes as usize],
        cooperative: false,
        resident: None,
        schedule: Schedule::InOrder,
        seed: 0,
        start: Tick::START,
        instrumentation: Instrumentation::RunsAndWrites,
        fast_paths: FastPaths::default(),
        copies: CompletionPolicyKind::Lazy,
        memory_limit: MemoryLimit::default(),
        memory: MemoryModel::default(),
        divergence: DivergencePolicy::Independent,
        images: Vec::new(),
    };
    // A kernel that needs too much shared memory, or has no body, is refused.
    if let Ok(mut machine) = Machine::new(Device::new(program.clone()), config) {
        let _ = machine.run(TICKS, &mut NullObserver);
    }
}
