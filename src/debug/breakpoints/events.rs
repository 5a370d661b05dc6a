//! The events that `catch` and `run-to` name, and the instructions that raise them.

use super::Event;
use super::list::words;
use super::opcode::{opcode, stem};
use crate::debug::argument::ArgumentError;
use crate::machine::BARRIERS;
use crate::program::{CallTarget, Op, Pc, Program, Src, SrcKind};

/// The words for events, and what each is.
pub const EVENTS: &[(&str, Event, &str)] = &[
    ("divergence", Event::Divergence, "lanes of a warp part"),
    ("reconvergence", Event::Reconvergence, "groups of lanes merge"),
    ("barrier", Event::Barrier(None), "a barrier of the block is about to be executed; a number names one"),
    ("call", Event::Call, "a call is about to be executed"),
    ("exit", Event::Exit, "threads are about to exit"),
    ("fault", Event::Fault, "an instruction faults"),
    ("finding", Event::Finding, "a checker reports"),
    ("printf", Event::Printf, "vprintf is about to be called"),
    ("atomic", Event::Atomic, "an atomic operation is about to be executed"),
    ("mbarrier", Event::Mbarrier, "an mbarrier is operated on"),
    ("async", Event::Async, "an asynchronous copy is issued or completes"),
];

impl Event {
    /// Reads an event's word, and a barrier's number behind it.
    ///
    /// # Errors
    /// There is no such event, or nothing in this build of the machine can raise it.
    pub fn parse(text: &str) -> Result<Self, ArgumentError> {
        let known = || EVENTS.iter().map(|(word, ..)| *word);
        let mut words = words(text);
        let Some((start, word)) = words.next() else {
            return Err(ArgumentError::new("an event is expected").with_help(known().collect::<Vec<_>>().join(", ")));
        };
        let span = start..start + word.len();
        let Some((_, event, _)) = EVENTS.iter().find(|(name, ..)| *name == word) else {
            let error = ArgumentError::new(format!("there is no event '{word}'")).at(span).with_nearest(word, known());
            return Err(if error.help.is_some() { error } else { error.with_help(known().collect::<Vec<_>>().join(", ")) });
        };
        if matches!(event, Event::Finding | Event::Mbarrier | Event::Async) {
            return Err(ArgumentError::new(format!("nothing in this build raises '{word}'")).at(span).with_help(MISSING));
        }
        let Some((start, rest)) = words.next() else { return Ok(*event) };
        let span = start..start + rest.len();
        match (event, rest.parse::<u32>()) {
            (Event::Barrier(_), Ok(number)) if (number as usize) < BARRIERS => Ok(Event::Barrier(Some(number))),
            (Event::Barrier(_), _) => {
                Err(ArgumentError::new(format!("'{rest}' is no barrier: a block has barriers 0 to {}", BARRIERS - 1)).at(span))
            }
            _ => Err(ArgumentError::new(format!("'{rest}' is not expected after '{word}'")).at(span)),
        }
    }

    /// The word for it.
    pub fn word(&self) -> &'static str {
        let is_it = |event: &Event| std::mem::discriminant(event) == std::mem::discriminant(self);
        EVENTS.iter().find(|(_, event, _)| is_it(event)).map_or("", |(word, ..)| word)
    }

    /// The instructions that raise it when they are about to be executed, in order; `None` for events that only a run shows. Of a
    /// numbered barrier, those whose number is in a register belong to it as well: what it is shows when they are executed
    /// ([`barrier_number`]).
    pub fn instructions(&self, program: &Program) -> Option<Vec<Pc>> {
        let raises: &dyn Fn(Pc, &Op) -> bool = match self {
            Event::Divergence | Event::Reconvergence | Event::Fault | Event::Finding | Event::Mbarrier | Event::Async => return None,
            Event::Barrier(None) => &|_, op| matches!(op, Op::Barrier { .. }),
            Event::Barrier(Some(wanted)) => {
                &|_, op| matches!(op, Op::Barrier { id, .. } if barrier_number(program, *id).is_none_or(|number| number == *wanted))
            }
            Event::Call => &|pc, op| matches!(op, Op::Call { .. } | Op::SystemCall { .. }) || is_unmodelled(program, pc, op, &["call"]),
            Event::Exit => &|pc, op| matches!(op, Op::Exit) || matches!(op, Op::Return { .. }) && in_kernel(program, pc),
            Event::Printf => &|pc, op| calls(program, pc, op, "vprintf"),
            Event::Atomic => {
                &|pc, op| matches!(op, Op::Atomic { .. } | Op::AtomicVector { .. }) || is_unmodelled(program, pc, op, &["atom", "red"])
            }
        };
        Some((0..program.code.len()).map(Pc::new).filter(|pc| raises(*pc, &program.code[pc.index()].op)).collect())
    }
}

const MISSING: &str = "the machine has no checkers, mbarriers or asynchronous copies yet";

impl std::fmt::Display for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Event::Barrier(Some(number)) => write!(f, "{} {number}", self.word()),
            _ => write!(f, "{}", self.word()),
        }
    }
}

/// The number of the barrier that operand `id` names; none if it is in a register.
pub fn barrier_number(program: &Program, id: Src) -> Option<u32> {
    match id.kind() {
        SrcKind::Const(index) => program.consts32.get(index as usize).copied(),
        SrcKind::Reg(_) | SrcKind::Special(_) => None,
    }
}

/// A kernel is not called: a `ret` of it ends the thread.
fn in_kernel(program: &Program, pc: Pc) -> bool {
    program.function_at(pc).and_then(|id| program.functions.get(id.index())).is_some_and(|function| function.is_kernel)
}

/// Whether the machine does not model the instruction, which is one of these. A function without a body is called so.
fn is_unmodelled(program: &Program, pc: Pc, op: &Op, opcodes: &[&str]) -> bool {
    matches!(op, Op::Unsupported { .. }) && opcodes.contains(&stem(opcode(program, pc)))
}

fn calls(program: &Program, pc: Pc, op: &Op, name: &str) -> bool {
    if is_unmodelled(program, pc, op, &["call"]) {
        return program.text(pc).split(|letter: char| !letter.is_ascii_alphanumeric() && !"_$".contains(letter)).any(|word| word == name);
    }
    let (Op::Call { call, .. } | Op::SystemCall { call, .. }) = op else { return false };
    match program.calls.get(call.index()).map(|site| &site.target) {
        Some(CallTarget::Direct(callee)) => program.functions.get(callee.index()).is_some_and(|function| &*function.name == name),
        Some(CallTarget::Indirect { .. }) | None => false,
    }
}
