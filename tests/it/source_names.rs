//! Names of the source: what the debug data of `fixtures/dwarf` says, beside what llvm-dwarfdump says of it; and debug data that is broken.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its fixture fails")]

use std::fs;
use std::path::{Path, PathBuf};

use ptxdbg::base::Sources;
use ptxdbg::debug::eval_context::EvalContext;
use ptxdbg::debug::expression::Expression;
use ptxdbg::debug::source_names::types;
use ptxdbg::dwarf::{DebugInfo, LazyDebugInfo, ScopeKind, Type};
use ptxdbg::program::{Pc, Program};

use crate::look::location;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

fn text(name: &str) -> String {
    fs::read_to_string(fixtures().join("dwarf").join(name)).unwrap()
}

fn load(text: &str) -> Option<std::sync::Arc<Program>> {
    ptxdbg::sema::load(&mut Sources::default(), "module.ptx", text).0
}

/// Functions, variables and members as the lines of a `.dwarfdump` have them, sorted.
fn lines(info: &DebugInfo) -> Vec<String> {
    let ty = |ty| types::name(info, ty).replace(' ', "");
    let mut lines = Vec::new();
    let variable = |variable: &ptxdbg::dwarf::Variable| {
        let kind = if variable.is_parameter { "parameter" } else { "variable" };
        format!("{kind} {}: {}", variable.name, ty(variable.ty))
    };
    for (_, scope) in info.scopes.entries() {
        if let ScopeKind::Function { name: Some(name), .. } | ScopeKind::Inlined { name: Some(name), .. } = &scope.kind {
            lines.push(format!("function {name}"));
        }
        lines.extend(scope.variables.iter().map(variable));
    }
    lines.extend(info.globals.iter().map(variable));
    for (_, record) in info.types.entries() {
        let Type::Record { members, .. } = record else { continue };
        lines.extend(members.iter().map(|member| format!("member {}: {}", member.name.as_deref().unwrap_or(""), ty(member.ty))));
    }
    lines.sort();
    lines
}

/// The name of a member that is a base, and mangled names, as the model has them.
fn as_in_the_model(line: &str) -> String {
    let line = if line.starts_with("member __b_") { format!("member :{}", line.split_once(':').unwrap().1) } else { line.to_string() };
    let (head, ty) = line.split_once(": ").unwrap_or((&line, ""));
    let words = ty.split(' ').map(|word| ptxdbg::program::demangled(word).unwrap_or_else(|| word.to_string()));
    if ty.is_empty() { line } else { format!("{head}: {}", words.collect::<String>().replace(' ', "")) }
}

#[test]
fn variables_and_types_are_those_of_llvm_dwarfdump() {
    for name in ["types", "scopes", "triton"] {
        let program = load(&text(&format!("{name}.ptx"))).unwrap();
        let data = LazyDebugInfo::default();
        let info = data.get(&program).unwrap();
        assert_eq!(info.problems, [], "{name}");
        let mut expected: Vec<String> = text(&format!("{name}.dwarfdump")).lines().map(as_in_the_model).collect();
        expected.sort();
        assert_eq!(lines(info), expected, "{name}");
    }
}

#[test]
fn debug_data_is_read_when_a_name_is_asked_for() {
    let program = load(&text("types.ptx")).unwrap();
    let data = LazyDebugInfo::default();
    let machine = location("dwarf/types.ron", 0);
    let context = EvalContext::at(&machine.machine, ptxdbg::debug::focus::Focus::default()).with_debug_data(&data);
    assert!(!program.debug_sections.is_empty());
    let _ = Expression::parse("%r1 + %tid.x").unwrap().evaluate(&context);
    assert!(!data.is_read());
    let _ = Expression::parse("i").unwrap().evaluate(&context);
    assert!(data.is_read());
}

#[test]
fn debug_data_of_the_corpus_is_read_whole() {
    let folders = ["corpus", "programs", "triton/sm_90"];
    let mut read = 0;
    for folder in folders {
        for entry in fs::read_dir(fixtures().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "ptx") {
                continue;
            }
            let Some(program) = load(&fs::read_to_string(&path).unwrap()) else { continue };
            let data = LazyDebugInfo::default();
            let Some(info) = data.get(&program) else { continue };
            assert_eq!(info.problems, [], "{}", path.display());
            read += 1;
        }
    }
    assert!(read >= 26, "{read}");
}

/// A generator of numbers (xorshift64*), the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % end
    }
}

/// The text with some numbers of its sections changed, or lines moved, doubled or left out.
fn mutated(text: &str, random: &mut Random) -> String {
    let start = text.find(".section").unwrap();
    let (code, sections) = text.split_at(start);
    let mut lines: Vec<String> = sections.lines().map(str::to_string).collect();
    for _ in 0..=random.below(6) {
        let at = random.below(lines.len());
        if !lines[at].trim_start().starts_with(".b") {
            continue;
        }
        match random.below(8) {
            0 => _ = lines.remove(at),
            1 => lines.insert(at, lines[at].clone()),
            2 => {
                let other = random.below(lines.len());
                if lines[other].trim_start().starts_with(".b") {
                    lines.swap(at, other);
                }
            }
            _ => {
                let width = lines[at].split_whitespace().next().unwrap().to_string();
                lines[at] = format!("{width} {}", random.below(256));
            }
        }
    }
    format!("{code}{}", lines.join("\n"))
}

/// Uses everything that the debug data says, at every instruction.
fn use_all(program: &Program, info: &DebugInfo) {
    for pc in 0..program.code.len() as u32 {
        for id in info.scopes_at(Pc(pc)) {
            for variable in &info.scopes[id].variables {
                let _ = variable.location_at(Pc(pc)).map(|location| (location.constant_place(), location.registers().count()));
            }
        }
    }
    for (id, _) in info.types.entries() {
        let _ = (types::name(info, Some(id)), types::layout(info, Some(id)), types::scalar(info, Some(id)), info.bytes(Some(id)));
    }
}

#[test]
fn broken_debug_data_does_no_harm() {
    let texts = ["scopes.ptx", "types.ptx", "triton.ptx"].map(text);
    let machines = ["dwarf/scopes.ron", "dwarf/types.ron"].map(|launch| location(launch, 150));
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut with_problems = 0;
    for round in 0..1000 {
        let number = [0, 0, 0, 0, 0, 0, 0, 1, 0, 2][round % 10];
        let Some(program) = load(&mutated(&texts[number], &mut random)) else { continue };
        let data = LazyDebugInfo::default();
        let Some(info) = data.get(&program) else { continue };
        with_problems += usize::from(!info.problems.is_empty());
        use_all(&program, info);
        let Some(machine) = machines.get(number) else { continue };
        // The code is that of the machine's program, so the data of one is that of the other.
        let context = machine.eval_context(0, 3).with_debug_data(&data);
        let frame = context.frame().unwrap();
        for id in info.scopes_at(frame.pc) {
            for variable in &info.scopes[id].variables {
                let Ok(expression) = Expression::parse(&variable.name) else { continue };
                let _ = expression.evaluate(&context).map(|value| value.text(&context, None));
                let _ = expression.target(&context);
            }
        }
    }
    assert!(with_problems > 50, "{with_problems}");
}

/// The text of a module without its sections, and without the names that its `.loc` take from one.
fn without_debug_data(text: &str) -> String {
    let mut kept = String::new();
    let mut is_in_section = false;
    for line in text.lines() {
        is_in_section |= line.trim_start().starts_with(".section");
        if !is_in_section {
            kept += line.split(", function_name").next().unwrap();
            kept.push('\n');
        }
        is_in_section &= !line.contains('}');
    }
    kept
}

#[test]
fn debug_data_costs_little_to_load() {
    let text = fs::read_to_string(fixtures().join("optimized/optimized.ptx")).unwrap();
    let plain = without_debug_data(&text);
    assert!(text.len() > 2 * plain.len(), "{} bytes, {} without debug data", text.len(), plain.len());
    let seconds = |text: &str| {
        let start = std::time::Instant::now();
        assert!(load(text).is_some());
        start.elapsed().as_secs_f64()
    };
    // The least of several times is what the work takes; a machine that is busy all the while gets another chance. By instructions of an
    // optimized build it is 5 to 9 % more; a build for tests takes about 22 % more.
    let ratio = |_| {
        let times: Vec<(f64, f64)> = (0..12).map(|_| (seconds(&text), seconds(&plain))).collect();
        let least = |of: fn(&(f64, f64)) -> f64| times.iter().map(of).fold(f64::INFINITY, f64::min);
        least(|times| times.0) / least(|times| times.1)
    };
    let ratios: Vec<f64> = (0..4).map(ratio).collect();
    assert!(ratios.iter().any(|ratio| *ratio <= 1.35), "{ratios:?}");
}

#[test]
fn a_lost_truth_value_is_not_shown_without_the_text() {
    let text = fs::read_to_string(fixtures().join("debug/truths.ptx")).unwrap();
    let program = &*load(&text).unwrap();
    let data = LazyDebugInfo::default();
    let info = data.get(program).unwrap();
    let odd = info.scopes.iter().flat_map(|scope| &scope.variables).find(|variable| &*variable.name == "odd").unwrap();
    let on =
        |line: u32| (0..program.code.len() as u32).map(Pc).filter(move |pc| program.source_line(*pc).is_some_and(|at| at.line == line));
    let places = |line: u32| on(line).filter(|pc| odd.location_at(*pc).is_some()).count();
    assert_eq!([4, 5, 8, 9, 10].map(|line| places(line) > 0), [true, true, false, false, false]);
}
