//! A test as a kernel: each thread is the first lane of a warp of its own.

use std::collections::BTreeSet;
use std::fmt::{self, Write};

use super::condition::{Comparison, Variable};
use super::operational::can_run;
use super::test::{Access, AccessKind, Arithmetic, Op, Operand, Test};
use crate::base::lanes::LANES;
use crate::isa::{Ordering, Scope};

/// Barriers of a block (PTX ISA, "bar").
const BARRIERS: usize = 16;

/// A kernel that does what a test does, with its launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// The module.
    pub text: String,
    /// Its blocks.
    pub blocks: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Its parameters: buffers of one `s64`, with their names and first values. First come the locations of the test.
    pub parameters: Vec<(String, i64)>,
    /// For each variable the number of the parameter that holds its value at the end; none for a constant.
    pub results: Vec<Option<usize>>,
}

impl Kernel {
    /// The arguments of its launch, one a parameter, as `--arg` takes them.
    pub fn arguments(&self) -> impl Iterator<Item = String> {
        self.parameters.iter().map(|(name, first)| format!("{name}=s64[1]={first}"))
    }
}

/// Why a test is no kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoKernel {
    /// It has accesses through other proxies or aliases.
    Proxies,
    /// Its threads run on several GPUs.
    Gpus,
    /// It has more barriers than a block.
    Barriers,
    /// Which threads meet at a barrier whose number is in a register is not known before, and PTX counts them.
    BarrierThreads,
    /// An atomic operation of it does not exist in PTX.
    Operation(Arithmetic),
}

impl fmt::Display for NoKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Proxies => f.write_str("it has accesses through other proxies or aliases, which no run on weak memory shows"),
            Self::Gpus => f.write_str("its threads are on several GPUs, and a launch runs on one"),
            Self::Barriers => write!(f, "it has more than the {BARRIERS} barriers of a block"),
            Self::BarrierThreads => f.write_str("a barrier whose number is in a register has no count of threads"),
            Self::Operation(function) => write!(f, "PTX has no atomic operation {function:?}"),
        }
    }
}

/// The kernel of a test, which leaves the values of `variables`.
///
/// # Errors
/// PTX has no such kernel.
pub fn kernel(test: &Test, variables: &[Variable]) -> Result<Kernel, NoKernel> {
    if !can_run(test) {
        return Err(NoKernel::Proxies);
    }
    if test.threads.windows(2).any(|pair| pair[0].gpu != pair[1].gpu) {
        return Err(NoKernel::Gpus);
    }
    let mut names = Names::default();
    let name = names.add(&test.name);
    let mut parameters: Vec<(String, i64)> = test.locations.iter().map(|location| (names.add(&location.name), location.initial)).collect();
    let results = variables.iter().map(|variable| match *variable {
        Variable::Memory(location) => Some(location),
        Variable::Register(thread, register) => {
            let of = &test.threads[thread];
            parameters.push((names.add(&format!("P{}_{}", of.number, of.registers[register])), of.initial[register]));
            Some(parameters.len() - 1)
        }
        Variable::Constant(_) => None,
    });
    let results: Vec<Option<usize>> = results.collect();
    let blocks: Vec<u32> = test.threads.iter().map(|thread| thread.block).collect::<BTreeSet<_>>().into_iter().collect();
    let mut writer = Writer { test, blocks, parameters, barriers: barriers(test)?, text: String::new() };
    writer.head(&name);
    for thread in 0..test.threads.len() {
        writer.thread(thread, variables, &results)?;
    }
    writer.text.push_str("}\n");
    let warps = (0..test.threads.len()).map(|thread| writer.warp(thread) + 1).max().unwrap_or(1);
    let (blocks, threads) = (writer.blocks.len().max(1) as u32, (warps * LANES) as u32);
    Ok(Kernel { name, text: writer.text, blocks, threads, parameters: writer.parameters, results })
}

/// Names that PTX takes, each once.
#[derive(Default)]
struct Names(BTreeSet<String>);

impl Names {
    fn add(&mut self, name: &str) -> String {
        let mut name: String = name.chars().map(|sign| if sign.is_ascii_alphanumeric() { sign } else { '_' }).collect();
        if !name.starts_with(|sign: char| sign.is_ascii_alphabetic()) {
            name.insert_str(0, "t_");
        }
        while !self.0.insert(name.clone()) {
            name.push('_');
        }
        name
    }
}

/// The numbers of barrier instructions, each of which has as many barriers of the block as there are left for it.
fn barriers(test: &Test) -> Result<Vec<i64>, NoKernel> {
    let code = test.threads.iter().flat_map(|thread| &thread.code);
    let instances: BTreeSet<i64> = code
        .filter_map(|instruction| match instruction.op {
            Op::Barrier { instance, .. } => Some(instance),
            _ => None,
        })
        .collect();
    if instances.len() <= BARRIERS { Ok(instances.into_iter().collect()) } else { Err(NoKernel::Barriers) }
}

struct Writer<'a> {
    test: &'a Test,
    /// The blocks of the test, in the order of the grid.
    blocks: Vec<u32>,
    parameters: Vec<(String, i64)>,
    /// The numbers of barrier instructions.
    barriers: Vec<i64>,
    text: String,
}

impl Writer<'_> {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "    {text}");
    }

    /// The warp of a thread in its block.
    fn warp(&self, thread: usize) -> usize {
        let block = self.test.threads[thread].block;
        self.test.threads[..thread].iter().filter(|other| other.block == block).count()
    }

    /// All before the threads.
    fn head(&mut self, name: &str) {
        let parameters: Vec<String> = self.parameters.iter().map(|(name, _)| format!("    .param .u64 {name}")).collect();
        let _ = write!(
            self.text,
            ".version 8.0\n.target sm_90\n.address_size 64\n\n.visible .entry {name}(\n{}\n)\n{{\n",
            parameters.join(",\n")
        );
        let addresses: Vec<String> = self.parameters.iter().map(|(name, _)| format!("%at_{name}")).collect();
        self.line(".reg .b32 %thread, %block;");
        self.line(".reg .pred %is_thread, %is_block;");
        self.line(&format!(".reg .b64 {};", addresses.join(", ")));
        let loads: Vec<String> =
            self.parameters.iter().zip(&addresses).map(|((name, _), address)| format!("ld.param.u64 {address}, [{name}];")).collect();
        loads.iter().for_each(|load| self.line(load));
        self.line("mov.u32 %thread, %tid.x;");
        self.line("mov.u32 %block, %ctaid.x;");
        for thread in 0..self.test.threads.len() {
            let of = &self.test.threads[thread];
            let (number, first) = (of.number, self.warp(thread) * LANES);
            let block = self.blocks.iter().position(|block| *block == of.block).unwrap_or(0);
            self.line(&format!("setp.eq.u32 %is_thread, %thread, {first};"));
            self.line(&format!("setp.eq.and.u32 %is_block, %block, {block}, %is_thread;"));
            self.line(&format!("@%is_block bra P{number};"));
        }
        self.line("ret;");
    }

    fn thread(&mut self, thread: usize, variables: &[Variable], results: &[Option<usize>]) -> Result<(), NoKernel> {
        let test = self.test;
        let of = &test.threads[thread];
        let number = of.number;
        let _ = writeln!(self.text, "P{number}:\n    {{");
        let registers: Vec<String> = of.registers.iter().map(|name| format!("%{name}")).collect();
        if !registers.is_empty() {
            self.line(&format!(".reg .s64 {};", registers.join(", ")));
        }
        self.line(".reg .s64 %unused;");
        self.line(".reg .b32 %barrier, %count;");
        self.line(".reg .pred %holds;");
        for (register, value) in registers.iter().zip(&of.initial) {
            self.line(&format!("mov.s64 {register}, {value};"));
        }
        let targets: BTreeSet<usize> = of
            .code
            .iter()
            .filter_map(|instruction| match instruction.op {
                Op::Branch { target, .. } => Some(target),
                _ => None,
            })
            .collect();
        for (index, instruction) in of.code.iter().enumerate() {
            if targets.contains(&index) {
                let _ = writeln!(self.text, "P{number}_{index}:");
            }
            self.instruction(thread, &instruction.op)?;
        }
        if targets.contains(&of.code.len()) {
            let _ = writeln!(self.text, "P{number}_{}:", of.code.len());
        }
        for (variable, result) in variables.iter().zip(results) {
            if let (Variable::Register(owner, register), Some(result)) = (variable, result)
                && *owner == thread
            {
                let address = format!("%at_{}", self.parameters[*result].0);
                self.line(&format!("st.global.s64 [{address}], {};", registers[*register]));
            }
        }
        self.line("ret;\n    }");
        Ok(())
    }

    fn operand(&self, thread: usize, operand: Operand) -> String {
        match operand {
            Operand::Constant(value) => value.to_string(),
            Operand::Register(register) => self.register(thread, register),
        }
    }

    fn register(&self, thread: usize, register: usize) -> String {
        format!("%{}", self.test.threads[thread].registers[register])
    }

    fn instruction(&mut self, thread: usize, op: &Op) -> Result<(), NoKernel> {
        match *op {
            Op::Access(access) => {
                let text = self.access(thread, access)?;
                self.line(&text);
            }
            Op::Fence { ordering, scope } => self.line(&format!("fence.{}.{};", ordering.word(), scope.word())),
            Op::ProxyFence(_) | Op::AliasFence => return Err(NoKernel::Proxies),
            Op::Barrier { id: Some(Operand::Register(_)), count: None, .. } => return Err(NoKernel::BarrierThreads),
            Op::Barrier { only_arrives, instance, id, count } => self.barrier(thread, only_arrives, instance, (id, count)),
            Op::Compute { result, function, operands: [first, second] } => {
                let result = self.register(thread, result);
                let (first, second) = (self.operand(thread, first), self.operand(thread, second));
                self.line(&match function {
                    Arithmetic::Second => format!("mov.s64 {result}, {second};"),
                    Arithmetic::Add => format!("add.s64 {result}, {first}, {second};"),
                    Arithmetic::Sub => format!("sub.s64 {result}, {first}, {second};"),
                    Arithmetic::Mul => format!("mul.lo.s64 {result}, {first}, {second};"),
                    Arithmetic::Div => format!("div.s64 {result}, {first}, {second};"),
                    Arithmetic::And => format!("and.b64 {result}, {first}, {second};"),
                    Arithmetic::Or => format!("or.b64 {result}, {first}, {second};"),
                    Arithmetic::Xor => format!("xor.b64 {result}, {first}, {second};"),
                });
            }
            Op::Branch { condition, target } => {
                let label = format!("P{}_{target}", self.test.threads[thread].number);
                if let Some((comparison, first, second)) = condition {
                    let (first, second) = (self.operand(thread, first), self.operand(thread, second));
                    self.line(&format!("setp.{}.s64 %holds, {first}, {second};", comparison_word(comparison)));
                    self.line(&format!("@%holds bra {label};"));
                } else {
                    self.line(&format!("bra {label};"));
                }
            }
        }
        Ok(())
    }

    /// A barrier. Without a count those threads of the block meet that have it.
    fn barrier(&mut self, thread: usize, only_arrives: bool, instance: i64, (id, count): (Option<Operand>, Option<Operand>)) {
        let (test, of) = (self.test, &self.test.threads[thread]);
        let each = BARRIERS / self.barriers.len().max(1);
        let first = self.barriers.iter().position(|other| *other == instance).unwrap_or(0) * each;
        let id_text = id.map_or("0".to_string(), |id| self.operand(thread, id));
        let is_same = |op: &Op| match op {
            Op::Barrier { instance: other, id: of, .. } => {
                *other == instance && (*of == id || matches!(of, Some(Operand::Register(_))) || matches!(id, Some(Operand::Register(_))))
            }
            _ => false,
        };
        let meets = |other: &&super::test::Thread| other.block == of.block && other.code.iter().any(|instruction| is_same(&instruction.op));
        let all = test.threads.iter().filter(meets).count();
        self.line(&format!("cvt.u32.s64 %barrier, {id_text};"));
        self.line(&format!("rem.u32 %barrier, %barrier, {each};"));
        self.line(&format!("add.u32 %barrier, %barrier, {first};"));
        let count = count.map_or(all.to_string(), |count| self.operand(thread, count));
        self.line(&format!("cvt.u32.s64 %count, {count};"));
        self.line(&format!("mul.lo.u32 %count, %count, {LANES};"));
        self.line(&format!("barrier.cta.{} %barrier, %count;", if only_arrives { "arrive" } else { "sync" }));
    }

    fn access(&self, thread: usize, Access { location, ordering, scope, kind, .. }: Access) -> Result<String, NoKernel> {
        let at = format!("[%at_{}]", self.parameters[location].0);
        let how = semantics(ordering, scope);
        Ok(match kind {
            AccessKind::Load(result) => format!("ld{how}.global.s64 {}, {at};", self.register(thread, result)),
            AccessKind::Store(value) => format!("st{how}.global.s64 {at}, {};", self.operand(thread, value)),
            AccessKind::Atomic(result, function, operand) => {
                let operand = self.operand(thread, operand);
                let (word, operand) = match function {
                    Arithmetic::Second => ("exch.b64", operand),
                    Arithmetic::Add => ("add.u64", operand),
                    Arithmetic::And => ("and.b64", operand),
                    Arithmetic::Or => ("or.b64", operand),
                    Arithmetic::Xor => ("xor.b64", operand),
                    Arithmetic::Sub | Arithmetic::Mul | Arithmetic::Div => return Err(NoKernel::Operation(function)),
                };
                match result {
                    Some(result) => format!("atom{how}.global.{word} {}, {at}, {operand};", self.register(thread, result)),
                    None if function == Arithmetic::Second => format!("atom{how}.global.{word} %unused, {at}, {operand};"),
                    // It acquires nothing, and PTX has no such semantics for it.
                    None => format!("red{}.global.{word} {at}, {operand};", semantics(without_acquire(ordering), scope)),
                }
            }
            AccessKind::CompareAndSwap(result, expected, new) => {
                let (expected, new) = (self.operand(thread, expected), self.operand(thread, new));
                format!("atom{how}.global.cas.b64 {}, {at}, {expected}, {new};", self.register(thread, result))
            }
        })
    }
}

fn comparison_word(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Eq => "eq",
        Comparison::Ne => "ne",
        Comparison::Lt => "lt",
        Comparison::Le => "le",
        Comparison::Gt => "gt",
        Comparison::Ge => "ge",
    }
}

/// The semantics without what acquires.
fn without_acquire(ordering: Ordering) -> Ordering {
    match ordering {
        Ordering::Acquire => Ordering::Relaxed,
        Ordering::AcqRel | Ordering::SeqCst => Ordering::Release,
        Ordering::Weak | Ordering::Volatile | Ordering::Relaxed | Ordering::Release | Ordering::Mmio => ordering,
    }
}

/// The modifiers of an access.
fn semantics(ordering: Ordering, scope: Scope) -> String {
    match ordering {
        Ordering::Weak => String::new(),
        Ordering::Volatile => ".volatile".to_string(),
        Ordering::Mmio => ".mmio.relaxed.sys".to_string(),
        Ordering::Relaxed | Ordering::Acquire | Ordering::Release | Ordering::AcqRel => format!(".{}.{}", ordering.word(), scope.word()),
        Ordering::SeqCst => semantics(Ordering::AcqRel, scope),
    }
}
