//! Tests as kernels, and kernels of others on weak memory.

use std::path::PathBuf;
use std::process::Command;

use ptxdbg::api::{Launch, Module, Planned};
use ptxdbg::debug::{MemoryModel, RunOptions, Schedule};
use ptxdbg::litmus::{self, Judgement, Kernel, Limits, NoKernel, Test};

/// Runs of each kernel.
const RUNS: u64 = 30;

/// The tests of the project, and Dat3M's if they are there.
pub fn tests() -> Vec<PathBuf> {
    let in_folder = |folder: PathBuf| {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.extension().is_some_and(|ending| ending == "litmus")).collect::<Vec<_>>()
    };
    let mut all = in_folder(PathBuf::from("fixtures/litmus/tests"));
    if let Some(clone) = std::env::var_os("PTXDBG_DAT3M") {
        let mut folders = vec![PathBuf::from(clone).join("litmus/PTX")];
        while let Some(folder) = folders.pop() {
            folders.extend(std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()));
            all.extend(in_folder(folder));
        }
    }
    all.sort();
    all
}

fn planned(kernel: &Kernel) -> Planned {
    let module = Module::from_text("test.ptx", kernel.text.as_str()).unwrap_or_else(|error| panic!("{}\n{error}", kernel.text));
    assert!(module.warnings().is_empty(), "{}\n{:?}", kernel.text, module.warnings());
    let launch = Launch::new().grid([kernel.blocks, 1, 1]).block([kernel.threads, 1, 1]);
    kernel.arguments().fold(launch, Launch::arg).plan(&module).unwrap()
}

/// The values that a run of a kernel leaves; none if it does not end.
fn left(planned: &Planned, kernel: &Kernel, seed: u64) -> Option<Vec<i64>> {
    let memory = MemoryModel::Weak(seed);
    let options = RunOptions { schedule: Schedule::Random, seed, memory, step_limit: Some(1 << 14), ..RunOptions::unwatched() };
    let run = planned.run(0, &options).ok().filter(|run| run.findings().iter().all(|finding| finding.id.word().starts_with("memory.")))?;
    let value = |parameter: &Option<usize>| run.buffer(&kernel.parameters[(*parameter)?].0)?.bits().next().map(u64::cast_signed);
    kernel.results.iter().map(value).collect()
}

fn check(test: &Test, judged: &Judgement) -> Result<usize, NoKernel> {
    let kernel = litmus::kernel(test, &judged.variables)?;
    let planned = planned(&kernel);
    let runs: Vec<Vec<i64>> = (0..RUNS).filter_map(|seed| left(&planned, &kernel, seed)).collect();
    for values in &runs {
        let is_allowed = judged.outcomes.iter().any(|outcome| outcome.values == *values);
        assert!(is_allowed || judged.is_cut, "{}: {values:?} is no outcome\n{}", test.name, kernel.text);
    }
    Ok(runs.len())
}

#[test]
fn a_test_as_a_kernel_leaves_only_outcomes_that_the_model_allows() {
    let (mut run, mut refused) = (0, Vec::new());
    for path in tests() {
        let test = litmus::parse(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let Ok(judged) = litmus::judge(&test, Limits::default()) else { continue };
        match check(&test, &judged) {
            Ok(runs) => {
                // Those wait at a barrier for more threads than come.
                let hangs = path.file_stem().is_some_and(|name| name.to_string_lossy().starts_with("quorum"));
                assert!(runs > 0 || hangs || judged.outcomes.is_empty(), "{}: no run ends", path.display());
                run += 1;
            }
            Err(why) => refused.push((path, why)),
        }
    }
    let is_known = |why: &NoKernel| matches!(why, NoKernel::Proxies | NoKernel::Gpus | NoKernel::BarrierThreads);
    assert!(refused.iter().all(|(_, why)| is_known(why)), "{refused:?}");
    assert!(run > 50, "{run}");
}

fn ptxdbg(args: &[&str]) -> (String, String, Option<i32>) {
    let output = Command::new(env!("CARGO_BIN_EXE_ptxdbg")).args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code())
}

#[test]
fn a_session_shows_an_outcome_that_needs_weak_memory() {
    let test = "fixtures/litmus/tests/sb_relaxed.litmus";
    let (text, said, _) = ptxdbg(&["litmus", test, "--open", "--", "--batch", "-e", "r", "-e", "p P0_r0[0]", "-e", "p P1_r0[0]"]);
    assert!(said.contains("this run leaves outcome 1, P0:r0 = 0, P1:r0 = 0: --schedule random --seed"), "{said}");
    assert!(text.contains("was not yet visible to this thread"), "{text}");
    assert_eq!(text.matches("= 0\n").count(), 2, "{text}");
    let (text, said, _) = ptxdbg(&["litmus", test, "--open=4", "--", "--batch", "-e", "r", "-e", "p P0_r0[0]"]);
    assert!(said.contains("outcome 4, P0:r0 = 1, P1:r0 = 1") && said.contains("--memory sc"), "{said}");
    assert!(text.contains("= 1\n"), "{text}");
}

#[test]
fn what_cannot_be_opened_says_why() {
    let open = |name: &str, number: &str| ptxdbg(&["litmus", &format!("fixtures/litmus/tests/{name}.litmus"), number]);
    for (name, number, why) in [
        ("lb_relaxed", "--open", "needs load buffering"),
        ("alias", "--open", "through other proxies or aliases"),
        ("mp_gpu_across_gpus", "--open", "a launch runs on one"),
        ("sb_relaxed", "--open=9", "it has 4 outcomes, so --open=1 to --open=4"),
    ] {
        let (_, said, status) = open(name, number);
        assert!(said.contains(why), "{name}: {said}");
        assert_eq!(status, Some(2), "{name}");
    }
}

#[test]
fn tests_that_are_no_kernels_leave_the_others_written() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().to_str().unwrap();
    let tests = ["alias", "sb_relaxed", "mp_fence"].map(|name| format!("fixtures/litmus/tests/{name}.litmus"));
    let args: Vec<&str> = ["litmus", "--kernels", to].into_iter().chain(tests.iter().map(String::as_str)).collect();
    let (_, said, status) = ptxdbg(&args);
    assert!(said.contains("through other proxies or aliases"), "{said}");
    assert_eq!(status, Some(2), "{said}");
    let mut written: Vec<String> = std::fs::read_dir(to).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    written.sort();
    assert_eq!(written, ["mp_fence.ptx", "mp_fence.ron", "sb_relaxed.ptx", "sb_relaxed.ron"]);
}

/// Programs whose threads wait for each other, compiled from CUDA C++.
#[test]
fn programs_that_hardware_runs_right_stay_right_on_weak_memory() {
    for program in ["tile_reduce", "spinlock_cg"] {
        for seed in 1..=2 {
            let (text, said, status) = ptxdbg(&[
                "--batch",
                "-l",
                &format!("fixtures/programs/{program}.ron"),
                "--checks",
                "none",
                "--memory",
                &format!("weak:{seed}"),
            ]);
            assert!(text.contains(&format!("{program}: as expected")), "{program}: {text}{said}");
            assert_eq!(status, Some(0), "{program}: {text}{said}");
        }
    }
}
