//! Which registers instructions read and write: held against the text of every fixture, and against what runs change.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test that cannot run its kernel fails")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ptxdbg::debug::open::read_module;
use ptxdbg::debug::{RunOptions, start_case};
use ptxdbg::launch::{LaunchFile, Overrides, plan};
use ptxdbg::machine::{Block, FrameBase, GroupState, LaneGroup, LaneMask, Machine, NullObserver, Step, Warp};
use ptxdbg::program::operands::{
    RegisterOperand, RegisterOperands, address_registers, call_results, parameter_registers, reads, result_registers, writes,
};
use ptxdbg::program::{Bank, ControlOp, FloatOp, Function, Op, Pc, Program, Slot, WarpgroupOp};

fn fixtures(folder: &str, extension: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(folder);
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|found| found == extension)).collect();
    files.sort();
    files
}

fn program(text: &str) -> Arc<Program> {
    let (program, diagnostics) = ptxdbg::sema::load(&mut ptxdbg::base::Sources::default(), "test.ptx", text.to_string());
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    program.unwrap()
}

/// Slots of a bank, one by one.
fn slots(operands: &[RegisterOperand]) -> BTreeSet<(u8, Slot)> {
    let each = |operand: &RegisterOperand| {
        let bank = operand.bank;
        operand.slot.run(operand.width).map(move |slot| (bank as u8, slot))
    };
    operands.iter().flat_map(each).collect()
}

/// `%r1` of `%r1.h0`, as video instructions name it.
fn without_selector(word: &str) -> &str {
    let is_selector = |text: &str| text.starts_with(['b', 'h']) && text.len() > 1 && text[1..].bytes().all(|digit| digit.is_ascii_digit());
    word.rsplit_once('.').filter(|(name, selector)| !name.is_empty() && is_selector(selector)).map_or(word, |(name, _)| name)
}

/// Whether an instruction has become one operation with another one, whose operands it reads then.
fn is_contracted(program: &Program, pc: Pc) -> bool {
    program.contraction_into(pc).is_some()
}

/// The slots of the registers that the text of an instruction names: `%r7`, `%v.x`, `p`, and all of `%v` alone.
fn named_slots(program: &Program, function: &Function, pc: Pc) -> BTreeSet<(u8, Slot)> {
    let text = program.text(pc);
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "_$%.".contains(letter);
    // A register may be called like an opcode: `st` of `st.b32`.
    let opcode = text.split_whitespace().find(|word| !word.starts_with('@')).unwrap_or_default();
    let words = text.split(|letter| !is_letter(letter)).filter(|word| *word != opcode.trim_end_matches(';'));
    let words: BTreeSet<&str> = words.map(without_selector).collect();
    // Of several declarations of a name, the innermost is meant.
    let mut found = std::collections::BTreeMap::new();
    let in_scope = function.registers.iter().filter(|register| register.scope.contains(&pc.0));
    let mut declarations: Vec<_> = in_scope.collect();
    declarations.sort_by_key(|register| std::cmp::Reverse(register.scope.len()));
    for register in declarations {
        for (name, number) in register.components() {
            let whole = name.rsplit_once('.').map_or("", |(whole, _)| whole);
            if words.contains(name.as_str()) || register.components > 1 && words.contains(whole) {
                found.insert(name, (register, number));
            }
        }
    }
    let slots = found.values().flat_map(|(register, number)| {
        let first = function.placement.slot(register.bank, *number).unwrap();
        first.run(register.width()).map(|slot| (register.bank as u8, slot))
    });
    slots.collect()
}

/// Every register that an instruction names is read or written, and no other is.
fn check_names(program: &Program) -> usize {
    let mut checked = 0;
    for function in &program.functions {
        for pc in function.code.clone().map(Pc) {
            let inst = &program.code[pc.index()];
            // What is not modelled reads nothing: the run stops there. The last instruction is ours. What is kept has no name.
            if matches!(inst.op, Op::Unsupported { .. } | Op::Nop | Op::Float(FloatOp::ProductWithFactors { .. }))
                || pc.0 + 1 == function.code.end
                || is_contracted(program, pc)
            {
                continue;
            }
            let mut used: RegisterOperands = reads(inst, program);
            used.extend(writes(inst, program));
            if let Op::Control(ControlOp::Call { call, .. } | ControlOp::SystemCall { call, .. }) = inst.op {
                used.extend(call_results(program, call));
            }
            assert_eq!(slots(&used), named_slots(program, function, pc), "{}: {} = {inst:?}", program.place(pc), program.text(pc));
            checked += 1;
        }
    }
    checked
}

#[test]
fn instructions_use_the_registers_they_name() {
    let mut checked = 0;
    for folder in ["hardware", "programs", "corpus"] {
        // What the assembler joins reads the registers of another statement.
        for path in fixtures(folder, "ptx").into_iter().filter(|path| !path.ends_with("hardware/joined.ptx")) {
            let Some(program) = read_module(&path).unwrap().program else { continue };
            checked += check_names(&program);
        }
    }
    assert!(checked > 20_000, "only {checked} instructions");
}

/// A group that may be about to run, and what it may write.
fn may_write(program: &Program, group: &LaneGroup) -> (FrameBase, RegisterOperands) {
    match (group.state, &group.stack, &program.code[group.pc.index()].op) {
        (GroupState::AtBarrier { pc, .. }, ..) => (group.frame, writes(&program.code[pc.index()], program)),
        (_, Some(stack), Op::Control(ControlOp::Return { .. })) => (stack.caller, call_results(program, stack.call)),
        _ => (group.frame, writes(&program.code[group.pc.index()], program)),
    }
}

/// The slots of a warp that differ, with the lanes.
fn changes(before: &Warp, after: &Warp) -> Vec<(Bank, Slot, LaneMask)> {
    fn of<T: PartialEq>(bank: Bank, before: &[[T; 32]], after: &[[T; 32]], found: &mut Vec<(Bank, Slot, LaneMask)>) {
        for (slot, (old, new)) in before.iter().zip(after).enumerate() {
            let lanes = LaneMask::from_fn(|lane| old[lane] != new[lane]);
            if !lanes.is_empty() {
                found.push((bank, Slot::new(slot), lanes));
            }
        }
    }
    let mut found = Vec::new();
    of(Bank::B32, &before.registers.b32, &after.registers.b32, &mut found);
    of(Bank::B64, &before.registers.b64, &after.registers.b64, &mut found);
    for (slot, (old, new)) in before.registers.pred.iter().zip(&after.registers.pred).enumerate() {
        if old != new {
            found.push((Bank::Pred, Slot::new(slot), *old ^ *new));
        }
    }
    found
}

fn base(frame: FrameBase, bank: Bank) -> Slot {
    match bank {
        Bank::B32 => frame.b32,
        Bank::B64 => frame.b64,
        Bank::Pred => frame.pred,
    }
}

/// Whether what changed is what `group` of `warp` may write, in its own lanes. A call clears and fills a frame after its own; waiting for
/// matrix multiplications writes the accumulators of those that it has not waited for.
fn explains(program: &Program, warp: &Warp, group: &LaneGroup, changed: &[(Bank, Slot, LaneMask)]) -> bool {
    let (frame, written) = may_write(program, group);
    let callers = group.stack.as_ref().map_or(program.function_at(group.pc), |stack| Some(stack.callee));
    let callee_frame = frame.after(program.functions[callers.unwrap().index()].slots, 0);
    let is_call = matches!(program.code[group.pc.index()].op, Op::Control(ControlOp::Call { .. }));
    let waits = matches!(program.code[group.pc.index()].op, Op::Wgmma(WarpgroupOp::Wait { .. }));
    let ends = |slot: &Slot| waits && warp.wgmmas.unwaited().any(|wgmma| wgmma.accumulators.contains(slot));
    changed.iter().all(|(bank, slot, lanes)| {
        let is_written = written.iter().any(|operand| {
            let first = operand.slot.in_frame(base(frame, *bank));
            operand.bank == *bank && (first..first.offset(operand.width)).contains(slot)
        });
        let is_ended = *bank == Bank::B32 && ends(slot);
        group.mask.contains_all(*lanes) && (is_written || is_ended || is_call && *slot >= base(callee_frame, *bank))
    })
}

/// Steps a machine and looks at what each instruction changes; returns the instructions that changed something.
fn step_through(machine: &mut Machine, steps: usize, place: &str) -> BTreeSet<Pc> {
    let program = Arc::clone(machine.program());
    let mut seen = BTreeSet::new();
    for _ in 0..steps {
        let before: Vec<Block> = machine.resident_blocks().cloned().collect();
        let step = machine.run(1, &mut NullObserver);
        for block in machine.resident_blocks() {
            let Some(old) = before.iter().find(|old| old.number == block.number) else { continue };
            for (old, new) in old.warps.iter().zip(&block.warps) {
                let changed = changes(old, new);
                if changed.is_empty() {
                    continue;
                }
                let by = old.groups.iter().find(|group| explains(&program, old, group, &changed));
                let stands: Vec<_> = old.groups.iter().map(|group| program.text(group.pc)).collect();
                seen.insert(by.unwrap_or_else(|| panic!("{place}: {changed:x?} changed at {stands:?}")).pc);
            }
        }
        if step != Step::Budget {
            break;
        }
    }
    seen
}

fn step_fixture(path: &Path, steps: usize) -> usize {
    let folder = path.parent().unwrap();
    let file = LaunchFile::parse("test.ron", folder, std::fs::read_to_string(path).unwrap()).unwrap();
    let program = read_module(&folder.join(file.module().unwrap())).unwrap().program.unwrap();
    let plan = plan(&file, &program, "test", &Overrides::default()).unwrap();
    let options = RunOptions { resident: Some(2), ..RunOptions::unwatched() };
    let mut seen = BTreeSet::new();
    for case in &plan.cases {
        let Ok(Ok(mut machine)) = start_case(&program, case, &options) else { continue };
        seen.extend(step_through(&mut machine, steps, &path.display().to_string()));
    }
    seen.len()
}

#[test]
fn suites_change_only_what_their_instructions_write() {
    let seen: usize = fixtures("hardware", "ron").iter().map(|path| step_fixture(path, 400)).sum();
    assert!(seen > 5_000, "only {seen} instructions");
}

#[test]
fn programs_change_only_what_their_instructions_write() {
    let seen: usize = fixtures("programs", "ron").iter().map(|path| step_fixture(path, 3_000)).sum();
    assert!(seen > 1_000, "only {seen} instructions");
}

/// `reads -> writes`, with registers by their names, of each instruction of a function.
fn uses(program: &Program, function: &Function) -> Vec<String> {
    let names = |operands: &[RegisterOperand]| {
        let name = |operand: &RegisterOperand| {
            let mut all = function.registers.iter().filter(|register| register.bank == operand.bank).flat_map(|register| {
                let width = register.width();
                register.components().map(move |(name, number)| (name, number, width))
            });
            let is_it = |(_, number, width): &(String, u32, u32)| {
                function.placement.slot(operand.bank, *number) == Some(operand.slot) && *width == operand.width
            };
            all.find(is_it).map_or(format!("{operand:?}"), |(name, ..)| name)
        };
        operands.iter().map(name).collect::<Vec<_>>().join(" ")
    };
    let line = |pc: u32| {
        let inst = &program.code[pc as usize];
        format!("{} -> {}", names(&reads(inst, program)), names(&writes(inst, program)))
    };
    function.code.clone().map(line).collect()
}

/// Instructions of every family and width, and by hand from the text: what they read `->` what they write.
#[rustfmt::skip]
const FAMILIES: &[(&str, &str)] = &[
    ("@!g mad.lo.u32 d, a, b, c;", "g a b c -> d"),
    ("mad.wide.u32 x, a, b, y;", "a b y -> x"),
    ("mul.wide.u16 d, h, 3;", "h -> d"),
    ("popc.b64 d, x;", "x -> d"),
    ("shr.u64 x, y, a;", "y a -> x"),
    ("bfe.s64 x, y, a, b;", "y a b -> x"),
    ("bfi.b64 x, y, z, a, b;", "y z a b -> x"),
    ("addc.cc.u32 d, a, b;", "a b -> d"),
    ("setp.lt.and.s64 p|q, x, y, !g;", "x y g -> p q"),
    ("setp.gt.f64 p, n, 0d0000000000000000;", "n -> p"),
    ("set.eq.u32.u64 d, x, y;", "x y -> d"),
    ("selp.b64 x, y, z, p;", "p y z -> x"),
    ("slct.f64.f32 n, n, n, f;", "f n -> n"),
    ("not.pred p, q;", "q -> p"),
    ("testp.finite.f64 p, n;", "n -> p"),
    ("cvt.rn.f32.f64 f, n;", "n -> f"),
    ("mov.b128 w, {x, y};", "x y -> w"),
    ("mov.b64 {a, b}, x;", "x -> a b"),
    ("mov.b128 {x, _}, w;", "w -> x"),
    ("ld.global.v4.u32 v, [x+16];", "x -> v.x v.y v.z v.w"),
    ("ld.global.v2.u32 {a, _}, [x];", "x -> a"),
    ("ld.global.u8 x, [y];", "y -> x"),
    ("ld.global.b128 w, [x];", "x -> w"),
    ("ld.global.b32 w, [x];", "x -> w"),
    ("st.global.b64 [x], w;", "x w ->"),
    ("st.shared.b32 [a], b;", "a b ->"),
    ("st.global.v2.f64 [x], {n, n};", "x n ->"),
    ("atom.global.cas.b64 x, [y], z, x;", "y z x -> x"),
    ("red.shared.add.u32 [a], b;", "a b ->"),
    ("shfl.sync.bfly.b32 d|p, a, b, 31, c;", "c a b -> d p"),
    ("vote.sync.ballot.b32 d, p, a;", "a p -> d"),
    ("vote.sync.any.pred q, p, a;", "a p -> q"),
    ("match.all.sync.b64 d|p, x, a;", "x a -> d p"),
    ("redux.sync.min.s32 d, a, b;", "a b -> d"),
    ("bar.red.popc.u32 d, a, b, p;", "a b p -> d"),
    ("bar.red.or.pred q, 1, !p;", "p -> q"),
    ("cvta.to.global.u64 x, y;", "y -> x"),
    ("isspacep.shared p, x;", "x -> p"),
    ("lop3.or.b32 d|p, a, b, c, 0x80, q;", "q a b c -> d p"),
    ("lop3.b32 d, a, b, c, 0x80;", "a b c -> d"),
    ("activemask.b32 d;", "-> d"),
    ("elect.sync d|p, a;", "a -> d p"),
    ("mov.u64 x, %clock64;", "-> x"),
    ("@p bra END;", "p ->"),
    ("prmt.b32 d, a, b, c;", "a b c -> d"),
];

#[test]
fn families_read_and_write_by_hand() {
    let instructions: String = FAMILIES.iter().map(|(instruction, _)| format!("{instruction}\n")).collect();
    let program = program(&format!(
        ".version 9.0 .target sm_90a .address_size 64
        .visible .entry k(.param .u64 out) {{
            .reg .pred p, q, g; .reg .b16 h; .reg .b32 a, b, c, d, e; .reg .b64 x, y, z; .reg .b128 w; .reg .v4 .b32 v;
            .reg .f32 f; .reg .f64 n;
            {instructions}
        END: ret;
        }}"
    ));
    let found = uses(&program, &program.functions[0]);
    for (found, (instruction, expected)) in found.iter().zip(FAMILIES) {
        assert_eq!(found.trim(), *expected, "{instruction}");
    }
    assert_eq!(found[FAMILIES.len()..], [" -> ", " -> "], "a return, and the one of ours after it");
}

/// A call reads its arguments and the callee's address; results come back into the caller's registers.
#[test]
fn calls_read_arguments_and_returns_write_results() {
    let program = program(
        ".version 9.0 .target sm_90a .address_size 64
        .func (.reg .b32 r) twice(.reg .b32 n) { add.u32 r, n, n; ret; }
        .visible .entry k() {
            .reg .b32 a, b; .reg .b64 t; .reg .pred g;
        proto: .callprototype (.reg .b32 _) _ (.reg .b32 _);
            mov.u64 t, twice;
            @g call (a), t, (b), proto;
            call (b), twice, (a);
            ret;
        }",
    );
    let (twice, kernel) = (&program.functions[0], &program.functions[1]);
    let slot = |function: &Function, name: &str| {
        let register = function.registers.iter().find(|register| &*register.name == name).unwrap();
        RegisterOperand { bank: register.bank, slot: function.placement.slot(register.bank, register.number).unwrap(), width: 1 }
    };
    assert_eq!(parameter_registers(twice).as_slice(), [slot(twice, "n")]);
    assert_eq!(result_registers(twice).as_slice(), [slot(twice, "r")]);
    let calls: Vec<_> = kernel
        .code
        .clone()
        .map(|pc| program.code[pc as usize])
        .filter(|inst| matches!(inst.op, Op::Control(ControlOp::Call { .. })))
        .collect();
    let [indirect, direct] = calls.as_slice() else { panic!("{calls:?}") };
    assert_eq!(reads(indirect, &program).as_slice(), [slot(kernel, "g"), slot(kernel, "t"), slot(kernel, "b")]);
    assert_eq!(address_registers(indirect, &program).as_slice(), [slot(kernel, "t")]);
    assert_eq!(reads(direct, &program).as_slice(), [slot(kernel, "a")]);
    assert!(writes(direct, &program).is_empty() && address_registers(direct, &program).is_empty());
    let results = |inst: &ptxdbg::program::Inst| {
        if let Op::Control(ControlOp::Call { call, .. }) = inst.op { call_results(&program, call) } else { panic!() }
    };
    assert_eq!(results(indirect).as_slice(), [slot(kernel, "a")]);
    assert_eq!(results(direct).as_slice(), [slot(kernel, "b")]);
}
