//! The instructions on the lines as instructions of a litmus test.

use super::column::{Column, Name, Target};
use super::constants::{Comparison, Condition, Flow, Operand, Value, only_computes};
use super::liveness::Needed;
use super::locations::Locations;
use super::place::{bytes_of, signed};
use super::recording::Register;
use super::refusal::Refusal;
use crate::isa::{AtomicFn, BarrierFn, Compare, FenceKind, IntBinary, IntType, IntUnary, Ordering, ScalarType, Scope, Shift, TypeKind};
use crate::program::{Access, Address, AtomicOp, Bank, Base, BitsOp, ControlOp, Dst, IntegerOp, MemoryOp, MoveOp, Op, Pc, Src, SyncOp};

/// Why a computation is refused.
const COMPUTES_MORE: &str = "what it computes depends on what these lines load, or changes from pass to pass, and a test has add, sub, \
                             mul, div, and, or, xor of integers";

/// A thread of the test.
pub(super) struct Translation {
    /// Its instructions.
    pub column: Column,
    /// Registers with what they hold at first.
    pub first: Vec<(Register, i64)>,
    /// Registers into which something is loaded, with what they hold at the end of the run.
    pub loaded: Vec<(Register, i64)>,
}

fn is_unsigned(ty: IntType) -> bool {
    matches!(ty, IntType::U32 | IntType::U64)
}

/// The thread of the test; `is_alone` says that no other thread of the warp is in it.
pub(super) fn translated(flow: &Flow<'_>, locations: &mut Locations<'_>, is_alone: bool) -> Result<Translation, Refusal> {
    let needed = Needed::of(flow);
    let mut writer =
        Writer { flow, locations, is_alone, needed: &needed, column: Column::default(), writers: Vec::new(), loaded: Vec::new() };
    if flow.code().next() != Some(flow.passage.entry) {
        writer.column.jump(Target::At(flow.passage.entry));
    }
    for pc in flow.code() {
        writer.column.mark(Target::At(pc));
        writer.instruction(pc)?;
    }
    writer.column.mark(Target::End);
    let Writer { mut column, writers, loaded, .. } = writer;
    let first: Vec<(Register, i64)> =
        needed.at_first.iter().map(|register| (*register, signed(flow.at_first(*register), bytes_in(*register)))).collect();
    first.iter().for_each(|(register, _)| _ = column.register(*register));
    let last = |register: Register| {
        let executed = writers.iter().filter(|(_, of)| *of == register).filter_map(|(pc, _)| flow.passage.executed.get(pc));
        let values = executed.max_by_key(|executed| executed.last).map(|executed| &executed.values);
        let left = values.and_then(|values| values.iter().find(|(of, _)| *of == register));
        left.map(|(_, bits)| signed(*bits, bytes_in(register)))
            .or_else(|| first.iter().find(|(of, _)| *of == register).map(|(_, value)| *value))
            .unwrap_or(0)
    };
    let loaded = loaded.iter().map(|register| (*register, last(*register))).collect();
    Ok(Translation { column, first, loaded })
}

fn bytes_in((bank, _): Register) -> u32 {
    if bank == Bank::B64 { 8 } else { 4 }
}

struct Writer<'a, 'l> {
    flow: &'a Flow<'a>,
    locations: &'a mut Locations<'l>,
    is_alone: bool,
    needed: &'a Needed,
    column: Column,
    /// The instructions that write registers of the test.
    writers: Vec<(Pc, Register)>,
    loaded: Vec<Register>,
}

impl Writer<'_, '_> {
    /// An instruction, with a branch around it where it is executed on a condition.
    fn instruction(&mut self, pc: Pc) -> Result<(), Refusal> {
        let op = &self.flow.inst(pc).op;
        let condition = self.flow.condition(pc);
        let is_needed = match op {
            Op::Nop => false,
            op if only_computes(op, self.flow.program) => !self.needed.results(self.flow, pc).is_empty(),
            _ => true,
        };
        if !is_needed || condition == Condition::Never {
            return Ok(());
        }
        match (op, condition) {
            (_, Condition::Unclear) => Err(Refusal::new(pc, "its predicate is no comparison of integers that a branch of a test can make")),
            (Op::Control(_), condition) => {
                let to = self.flow.successors(pc)?.first().copied().filter(|to| self.flow.thread.has(*to)).map_or(Target::End, Target::At);
                let to = if matches!(op, Op::Control(ControlOp::Branch { .. })) { to } else { Target::End };
                match condition {
                    Condition::If(comparison) => self.branch(comparison, to)?,
                    _ => self.column.jump(to),
                }
                Ok(())
            }
            (_, Condition::If(comparison)) => {
                self.branch(comparison.negated(), Target::After(pc))?;
                self.operation(pc)?;
                self.column.mark(Target::After(pc));
                Ok(())
            }
            _ => self.operation(pc),
        }
    }

    fn branch(&mut self, comparison: Comparison, to: Target) -> Result<(), Refusal> {
        let is_ordered = matches!(comparison.compare, Compare::Lt | Compare::Le | Compare::Gt | Compare::Ge);
        let is_known = is_ordered || matches!(comparison.compare, Compare::Eq | Compare::Ne);
        let is_negative = |operand| matches!(operand, Operand::Constant(value) if value < 0);
        if !is_known || is_ordered && comparison.is_unsigned && comparison.operands.into_iter().any(is_negative) {
            return Err(Refusal::new(comparison.pc, "integers of a test are signed"));
        }
        self.column.branch(comparison, to);
        Ok(())
    }

    fn operation(&mut self, pc: Pc) -> Result<(), Refusal> {
        match self.flow.inst(pc).op {
            ref op if only_computes(op, self.flow.program) => self.computation(pc),
            Op::Memory(MemoryOp::Load { access, bits, reg_bits, d, address, .. }) => {
                let location = self.location(pc, access, address, (bits, reg_bits))?;
                let head = head(pc, access)?;
                let to = self.destination(pc, d, bits);
                self.column.code(format!("ld.{head} {to}, {location}"));
                Ok(())
            }
            Op::Memory(MemoryOp::Store { access, bits, reg_bits, a, address }) => {
                let location = self.location(pc, access, address, (bits, reg_bits))?;
                let head = head(pc, access)?;
                let value = self.flow.operand(pc, a, Bank::of_wide(bits == 64), u32::from(bits / 8));
                let value = self.column.operand(value);
                self.column.code(format!("st.{head} {location}, {value}"));
                Ok(())
            }
            Op::Atomic(AtomicOp::Single { f, ty, access, d, b, c, address }) => self.atomic(pc, (f, ty, access), d, [b, c], address),
            Op::Sync(op) => self.synchronization(pc, op),
            Op::Memory(MemoryOp::LoadVector { .. } | MemoryOp::StoreVector { .. }) | Op::Atomic(AtomicOp::Vector { .. }) => {
                Err(Refusal::new(pc, "it accesses several elements at once"))
            }
            _ => Err(Refusal::new(pc, "")),
        }
    }

    fn atomic(
        &mut self,
        pc: Pc,
        (f, ty, access): (AtomicFn, ScalarType, Access),
        d: Dst,
        [b, c]: [Src; 2],
        address: Address,
    ) -> Result<(), Refusal> {
        let name = match f {
            AtomicFn::Add if ty.kind() != TypeKind::Float => "add",
            AtomicFn::And => "and",
            AtomicFn::Or => "or",
            AtomicFn::Xor => "xor",
            AtomicFn::Exch => "exch",
            AtomicFn::Cas => "cas",
            AtomicFn::Add | AtomicFn::Inc | AtomicFn::Dec | AtomicFn::Min | AtomicFn::Max => {
                return Err(Refusal::new(pc, "a test has add, and, or, xor, exch and cas of integers"));
            }
        };
        let bits = ty.bits() as u8;
        let location = self.location(pc, access, address, (bits, bits))?;
        let head = head(pc, access)?;
        let [b, c] = [b, c].map(|source| self.flow.operand(pc, source, Bank::of_wide(bits == 64), u32::from(bits / 8)));
        // A sink of these has no counterpart: what they return is thrown away.
        let is_reduction = d.is_sink() && !matches!(f, AtomicFn::Exch | AtomicFn::Cas);
        let b = self.column.operand(b);
        let c = if f == AtomicFn::Cas { format!(", {}", self.column.operand(c)) } else { String::new() };
        if is_reduction {
            self.column.code(format!("red.{head}.{name} {location}, {b}"));
        } else {
            let to = self.destination(pc, d, bits);
            self.column.code(format!("atom.{head}.{name} {to}, {location}, {b}{c}"));
        }
        Ok(())
    }

    fn synchronization(&mut self, pc: Pc, op: SyncOp) -> Result<(), Refusal> {
        let text = match op {
            SyncOp::Fence { kind: FenceKind::Memory, ordering, scope } => {
                let scope = scope_word(pc, scope)?;
                format!("fence.{}.{scope}", ordering.word())
            }
            SyncOp::Fence { .. } => return Err(Refusal::new(pc, "")),
            SyncOp::Barrier { f: f @ (BarrierFn::Sync | BarrierFn::Arrive), id, .. } => {
                let Ok(number) = self.flow.source(pc, id, Bank::B32) else {
                    return Err(Refusal::new(pc, "the number of its barrier depends on what these lines load"));
                };
                let what = if f == BarrierFn::Sync { "sync" } else { "arrive" };
                format!("bar.cta.{what} {number}")
            }
            SyncOp::Barrier { .. } => return Err(Refusal::new(pc, "a barrier of a test reduces nothing")),
            // Of one thread alone it orders nothing.
            SyncOp::WarpSync { .. } if self.is_alone => return Ok(()),
            SyncOp::WarpSync { .. } => return Err(Refusal::new(pc, "a test has no barrier of a warp: choose one thread of each warp")),
        };
        self.column.code(text);
        Ok(())
    }

    /// The register into which an access loads.
    fn destination(&mut self, pc: Pc, d: Dst, bits: u8) -> String {
        if d.is_sink() {
            return self.column.name(Name::Thrown(pc));
        }
        let register = (Bank::of_wide(bits == 64), d.0);
        self.writers.push((pc, register));
        if !self.loaded.contains(&register) {
            self.loaded.push(register);
        }
        self.column.register(register)
    }

    /// The location that an access of `bits` bits is to.
    fn location(&mut self, pc: Pc, access: Access, address: Address, (bits, reg_bits): (u8, u8)) -> Result<String, Refusal> {
        if access.non_coherent {
            return Err(Refusal::new(pc, "it reads by the read-only path"));
        }
        if !matches!(bits, 32 | 64) || reg_bits != bits {
            return Err(Refusal::new(pc, "integers of a test have 32 or 64 bits, and their registers the same"));
        }
        let base = match address.base {
            Base::Narrow(source) => self.flow.source(pc, source, Bank::B32),
            Base::Wide(source) => self.flow.source(pc, source, Bank::B64),
            Base::Frame => return Err(Refusal::new(pc, "it accesses memory that threads do not share")),
        };
        let Ok(base) = base else {
            return Err(Refusal::new(
                pc,
                "its address depends on what these lines load, or changes from pass to pass; choose lines after what computes it",
            ));
        };
        let place = (access.space, base.wrapping_add_signed(address.offset.into()), u32::from(bits / 8));
        let Flow { program, thread, passage, .. } = self.flow;
        self.locations.name_of((program, &passage.machine, thread), pc, place)
    }

    /// The needed results of a computation.
    fn computation(&mut self, pc: Pc) -> Result<(), Refusal> {
        let results = self.needed.results(self.flow, pc);
        for register in &results {
            self.writers.push((pc, *register));
            if let Value::Constant(bits) = self.flow.value_after(pc, *register) {
                let name = self.column.register(*register);
                self.column.code(format!("ld {name}, {}", signed(bits, bytes_in(*register))));
            } else {
                let (function, operands) = self.function(pc).ok_or_else(|| Refusal::new(pc, COMPUTES_MORE))?;
                let operands = operands.map(|operand| self.column.operand(operand));
                let name = self.column.register(*register);
                match function {
                    "ld" => self.column.code(format!("ld {name}, {}", operands[1])),
                    function => self.column.code(format!("{function} {name}, {}", operands.join(", "))),
                }
            }
        }
        Ok(())
    }

    /// A function of two operands that a test has; `ld` is the second of them.
    fn function(&self, pc: Pc) -> Option<(&'static str, [Operand; 2])> {
        let operand = |source, ty: IntType| Some(self.flow.operand(pc, source, ty.bank(), bytes_of(ty)?));
        match self.flow.inst(pc).op {
            Op::Integer(IntegerOp::Binary { f, ty, a, b, .. }) => {
                let operands = [operand(a, ty)?, operand(b, ty)?];
                let name = match f {
                    IntBinary::Add => "add",
                    IntBinary::Sub => "sub",
                    IntBinary::MulLo => "mul",
                    IntBinary::Div if !is_unsigned(ty) || operands.iter().all(|of| !matches!(of, Operand::Constant(..0))) => "div",
                    IntBinary::And => "and",
                    IntBinary::Or => "or",
                    IntBinary::Xor => "xor",
                    _ => return None,
                };
                Some((name, operands))
            }
            Op::Integer(IntegerOp::Unary { f: IntUnary::Not, ty, a, .. }) => Some(("xor", [operand(a, ty)?, Operand::Constant(-1)])),
            Op::Integer(IntegerOp::Unary { f: IntUnary::Neg, ty, a, .. }) => Some(("sub", [Operand::Constant(0), operand(a, ty)?])),
            Op::Bits(BitsOp::Shift { f: Shift::Left, ty, a, b, .. }) => {
                let count = self.flow.source(pc, b, Bank::B32).ok().filter(|count| *count < 31)?;
                Some(("mul", [operand(a, ty)?, Operand::Constant(1 << count)]))
            }
            Op::Move(MoveOp::Move { width, a, .. }) => {
                let bytes = if width.bank() == Bank::B64 { 8 } else { 4 };
                Some(("ld", [Operand::Constant(0), self.flow.operand(pc, a, width.bank(), bytes)]))
            }
            _ => None,
        }
    }
}

/// `relaxed.gpu`
fn head(pc: Pc, access: Access) -> Result<String, Refusal> {
    let word = access.ordering.word();
    match access.ordering {
        Ordering::Weak => Ok(word.to_string()),
        Ordering::Volatile => Ok("relaxed.sys".to_string()),
        Ordering::Relaxed | Ordering::Acquire | Ordering::Release | Ordering::AcqRel => {
            Ok(format!("{word}.{}", scope_word(pc, access.scope)?))
        }
        Ordering::SeqCst | Ordering::Mmio => Err(Refusal::new(pc, "")),
    }
}

fn scope_word(pc: Pc, scope: Scope) -> Result<&'static str, Refusal> {
    match scope {
        Scope::Cta | Scope::Gpu | Scope::Sys => Ok(scope.word()),
        Scope::None | Scope::Cluster => Err(Refusal::new(pc, "scopes of a test are cta, gpu and sys")),
    }
}
