//! Random kernels: straight-line code with guards, and branches forward over parts of it.
//!
//! Every thread has a piece of global, shared and local memory of its own. Its registers are set from the first half of its global
//! piece and left in the second, so that what threads do does not depend on the order in which they do it. What is written by the
//! rows of the table alone may break a rule that they do not state, so what the assembler refuses is thrown away and counted.

use std::sync::Arc;

use arbitrary::{Result, Unstructured};
use ptxdbg::base::{Diagnostic, Sources};
use ptxdbg::isa::{Form, ScalarType};
use ptxdbg::program::Program;
use ptxdbg::sema;

use super::instruction::{Bond, EDITIONS, Edition, FORMS, guard, instruction};
use super::operand::{OWN_BYTES, REGISTERS, RESULTS, SHARED_BYTES, SMALL_BYTES};

/// Instructions of a kernel at most, beside those that set and leave registers.
const INSTRUCTIONS_MAX: usize = 40;
/// Branches inside one another at most.
const DEPTH_MAX: usize = 3;
/// Largest number of threads of a block: shared memory is divided among them.
pub const THREADS_MAX: u32 = 64;

/// A random kernel.
pub struct Kernel {
    /// The module, of this kernel alone. Its parameters are the address of global memory and `SMALL_BYTES` bytes.
    pub text: String,
    /// The module, ready to run.
    pub program: Arc<Program>,
    /// What its outcome may depend on.
    pub bond: Bond,
    /// Random instructions written.
    pub written: usize,
    /// Those that were refused, and are not in the text.
    pub refused: usize,
}

/// A line of the text, and whether it may be thrown away.
struct Line {
    text: String,
    random: bool,
}

/// A kernel being written.
struct Writer<'f> {
    lines: Vec<Line>,
    edition: Edition,
    forms: &'f [&'static Form],
    instructions: usize,
    labels: usize,
}

/// Writes a kernel of any forms.
///
/// # Errors
/// If the bytes stand for none.
pub fn kernel(u: &mut Unstructured<'_>) -> Result<Kernel> {
    let edition = u.choose_index(EDITIONS.len())?;
    let bond = *u.choose(&[Bond::None, Bond::None, Bond::Together, Bond::Time])?;
    kernel_of(u, EDITIONS[edition], &FORMS[edition][bond as usize], bond)
}

/// Writes a kernel of these forms, whose outcome depends on no more than `bond`.
///
/// # Errors
/// If the bytes stand for none.
pub fn kernel_of(u: &mut Unstructured<'_>, edition: Edition, forms: &[&'static Form], bond: Bond) -> Result<Kernel> {
    let mut writer = Writer { lines: Vec::new(), edition, forms, instructions: 0, labels: 0 };
    writer.head();
    writer.statements(u, 0)?;
    writer.tail();
    let (text, program, refused) = accepted(writer.lines);
    Ok(Kernel { text, program, bond, written: writer.instructions, refused })
}

/// The lines without the random ones that are refused, as a text and a program, and how many were refused.
fn accepted(mut lines: Vec<Line>) -> (String, Arc<Program>, usize) {
    let before = lines.len();
    loop {
        let text = lines.iter().fold(String::new(), |text, line| text + &line.text + "\n");
        let mut sources = Sources::default();
        let (program, diagnostics) = sema::load(&mut sources, "random.ptx", text.clone());
        if let Some(program) = program {
            return (text, program, before - lines.len());
        }
        let errors = diagnostics.iter().filter(|diagnostic| diagnostic.is_error());
        let mut wrong: Vec<usize> = errors.map(|error: &Diagnostic| sources.position(error.span).line as usize - 1).collect();
        wrong.sort_unstable();
        wrong.dedup();
        assert!(wrong.iter().all(|line| lines[*line].random), "a line that every kernel has is refused: {diagnostics:?}\n{text}");
        wrong.into_iter().rev().for_each(|line| drop(lines.remove(line)));
    }
}

impl Writer<'_> {
    fn line(&mut self, text: impl Into<String>) {
        self.lines.push(Line { text: text.into(), random: false });
    }

    /// Everything before the random part: the thread's own memory, and registers set from it.
    fn head(&mut self) {
        let Edition { version: (major, minor), sm, suffix } = self.edition;
        self.line(format!(".version {major}.{minor} .target sm_{sm}{suffix} .address_size 64"));
        self.line(format!(".const .align 64 .b8 cm[{SMALL_BYTES}] = {{1, 2, 3, 255, 254, 128, 127, 0, 0, 0, 128, 63}};"));
        self.line(format!(".visible .entry k(.param .u64 memory, .param .align 64 .b8 numbers[{SMALL_BYTES}]) {{"));
        self.line(format!(".shared .align 64 .b8 sm[{}]; .local .align 64 .b8 lm[{SMALL_BYTES}];", SHARED_BYTES * THREADS_MAX));
        self.line(".reg .b64 %own, %mine, %wild<2>; .reg .b32 %thread, %block;");
        for (ty, name, count) in self.registers() {
            self.line(format!(".reg .{} {name}<{count}>;", ty.word()));
        }
        self.line("mov.u32 %thread, %tid.x; cvt.u64.u32 %mine, %thread;");
        self.line(format!("mov.u64 %own, sm; mad.lo.u64 %mine, %mine, {SHARED_BYTES}, %own; ld.param.u64 %own, [memory];"));
        self.line("mov.u32 %block, %ntid.x; mov.u32 %r0, %ctaid.x; mad.lo.u32 %thread, %r0, %block, %thread;");
        self.line(format!("mad.wide.u32 %own, %thread, {OWN_BYTES}, %own;"));
        // No number that the machine compares addresses with may lead into memory that another thread writes.
        self.line("ld.global.v2.b64 {%wild0, %wild1}, [%own];");
        self.line("and.b64 %wild0, %wild0, 0xffff0000000fffff; and.b64 %wild1, %wild1, 0xffff0000000fffff;");
        self.each_register(0, |name, ty, at| match ty {
            ScalarType::Pred => format!("ld.global.u8 %r0, [%own+{at}]; setp.gt.u32 {name}, %r0, 127;"),
            _ => format!("ld.global.b{} {name}, [%own+{at}];", ty.bits()),
        });
    }

    /// Everything after the random part: registers stored in global memory.
    fn tail(&mut self) {
        self.line("DONE:");
        self.each_register(RESULTS, |name, ty, at| match ty {
            ScalarType::Pred => format!("selp.b32 %r0, 1, 0, {name}; st.global.b16 [%own+{at}], %r0;"),
            _ => format!("st.global.b{} [%own+{at}], {name};", ty.bits()),
        });
        self.line("ret; }");
    }

    /// The registers that this edition has.
    fn registers(&self) -> impl Iterator<Item = (ScalarType, &'static str, u32)> + use<> {
        let wide = self.edition.version >= (8, 3);
        REGISTERS.iter().copied().filter(move |(ty, _, _)| wide || ty.bits() < 128)
    }

    /// A line for every register, the widest first, with an offset where it has room; predicates come last, as the results take `%r0`.
    fn each_register(&mut self, start: u32, line: impl Fn(&str, ScalarType, u32) -> String) {
        let mut registers: Vec<_> = self.registers().collect();
        registers.sort_by_key(|(ty, _, _)| std::cmp::Reverse(ty.bits()));
        let mut at = start;
        for (ty, name, count) in registers {
            for number in 0..count {
                self.line(line(&format!("{name}{number}"), ty, at));
                at += ty.bytes().max(2);
            }
        }
        assert!(at <= start + RESULTS, "{at}");
    }

    /// Random instructions and branches until the bytes end or there are enough.
    fn statements(&mut self, u: &mut Unstructured<'_>, depth: usize) -> Result<()> {
        while !u.is_empty() && self.instructions < INSTRUCTIONS_MAX {
            match u.int_in_range(0..=15)? {
                0 if depth < DEPTH_MAX => self.branch(u, depth)?,
                1 if depth > 0 => break,
                _ => self.instruction(u)?,
            }
        }
        Ok(())
    }

    fn instruction(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let text = instruction(u, self.edition, self.forms)?;
        self.lines.push(Line { text: text + ";", random: true });
        self.instructions += 1;
        Ok(())
    }

    /// Statements that are jumped over by some, and perhaps others that are executed by those.
    fn branch(&mut self, u: &mut Unstructured<'_>, depth: usize) -> Result<()> {
        let label = self.labels;
        self.labels += 1;
        let guard = guard(u)?;
        self.line(format!("{guard}bra ELSE{label};"));
        self.statements(u, depth + 1)?;
        if u.arbitrary()? {
            self.line(format!("bra JOIN{label};"));
            self.line(format!("ELSE{label}:"));
            self.statements(u, depth + 1)?;
            self.line(format!("JOIN{label}:"));
        } else {
            self.line(format!("ELSE{label}:"));
        }
        Ok(())
    }
}
