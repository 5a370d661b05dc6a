//! The events that `catch` and `run-to` name, and the instructions that raise them.

use super::list::words;
use super::opcode::{opcode, stem};
use super::{CopyAct, Event, MbarrierAct};
use crate::debug::argument::ArgumentError;
use crate::machine::BARRIERS;
use crate::program::{ControlOp, Mention, Named, Op, Pc, Program, Src, SrcKind, SyncOp};

/// The names of events, with their help.
pub const EVENTS: &[(&str, Event, &str)] = &[
    ("divergence", Event::Divergence, "lanes of a warp part"),
    ("reconvergence", Event::Reconvergence, "groups of lanes reconverge"),
    ("barrier", Event::Barrier(None), "a barrier of the block is about to be executed; a number names one"),
    ("call", Event::Call, "a call is about to be executed"),
    ("launch", Event::Launch, "a launch begins"),
    ("exit", Event::Exit, "threads are about to exit"),
    ("fault", Event::Fault, "an instruction faults"),
    ("finding", Event::Finding, "a checker reports"),
    ("printf", Event::Printf, "vprintf is about to be called"),
    ("atomic", Event::Atomic, "an atomic operation is about to be executed"),
    ("mbarrier", Event::Mbarrier(None, None), "something is done to an mbarrier; its name, and phase, arrive or wait, narrow it down"),
    ("async", Event::Async(None), "an asynchronous copy is issued or ends; issue or complete narrow it down"),
];

/// The events of an mbarrier, by name.
const MBARRIER_ACTS: &[(&str, MbarrierAct)] =
    &[("phase", MbarrierAct::Phase), ("arrive", MbarrierAct::Arrive), ("wait", MbarrierAct::Wait)];

/// The events of copies, by name.
const COPY_ACTS: &[(&str, CopyAct)] = &[("issue", CopyAct::Issue), ("complete", CopyAct::Complete)];

/// An event of an mbarrier or a copy that has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occurrence {
    /// Of the mbarrier at this address.
    Mbarrier(u32, MbarrierAct),
    /// Of a copy.
    Async(CopyAct),
}

impl Event {
    /// Reads an event's name and the argument that narrows it down: a barrier's number, or the name of an mbarrier, whose address
    /// `mbarrier` returns.
    ///
    /// # Errors
    /// There is no such event, or it does not take this argument.
    pub fn parse(text: &str, mbarrier: impl Fn(&str) -> Option<u32>) -> Result<Self, ArgumentError> {
        let names = || EVENTS.iter().map(|(word, ..)| *word);
        let mut words = words(text);
        let Some((start, word)) = words.next() else {
            return Err(ArgumentError::new("an event is expected").with_help(names().collect::<Vec<_>>().join(", ")));
        };
        let span = start..start + word.len();
        let Some((_, event, _)) = EVENTS.iter().find(|(name, ..)| *name == word) else {
            let error = ArgumentError::new(format!("there is no event '{word}'")).at(span).with_nearest(word, names());
            return Err(if error.help.is_some() { error } else { error.with_help(names().collect::<Vec<_>>().join(", ")) });
        };
        if let Event::Mbarrier(..) = event {
            return parse_mbarrier(words, mbarrier);
        }
        let Some((start, rest)) = words.next() else { return Ok(*event) };
        let span = start..start + rest.len();
        match (event, rest.parse::<u32>()) {
            (Event::Barrier(_), Ok(number)) if (number as usize) < BARRIERS => Ok(Event::Barrier(Some(number))),
            (Event::Barrier(_), _) => {
                Err(ArgumentError::new(format!("'{rest}' is not a barrier: a block has barriers 0 to {}", BARRIERS - 1)).at(span))
            }
            (Event::Async(_), _) => match COPY_ACTS.iter().find(|(name, _)| *name == rest) {
                Some((_, act)) => Ok(Event::Async(Some(*act))),
                None => Err(ArgumentError::new(format!("'{rest}' is nothing that becomes of a copy: issue, complete")).at(span)),
            },
            _ => Err(ArgumentError::new(format!("'{rest}' is not expected after '{word}'")).at(span)),
        }
    }

    /// True if `occurrence` is this event.
    pub fn matches(&self, occurrence: Occurrence) -> bool {
        match (self, occurrence) {
            (Event::Mbarrier(address, act), Occurrence::Mbarrier(at, done)) => {
                address.is_none_or(|address| address == at) && act.is_none_or(|act| act == done)
            }
            (Event::Async(act), Occurrence::Async(done)) => act.is_none_or(|act| act == done),
            _ => false,
        }
    }

    /// Its name.
    pub fn word(&self) -> &'static str {
        let is_it = |event: &Event| std::mem::discriminant(event) == std::mem::discriminant(self);
        EVENTS.iter().find(|(_, event, _)| is_it(event)).map_or("", |(word, ..)| word)
    }

    /// The instructions that raise it when they are about to be executed, in order; `None` for events that are known only at run time. For
    /// a numbered barrier they include those whose number is in a register, which is compared when they are executed ([`barrier_number`]).
    pub fn instructions(&self, program: &Program) -> Option<Vec<Pc>> {
        let raises: &dyn Fn(Pc, &Op) -> bool = match self {
            Event::Divergence
            | Event::Reconvergence
            | Event::Launch
            | Event::Fault
            | Event::Finding
            | Event::Mbarrier(..)
            | Event::Async(_) => {
                return None;
            }
            Event::Barrier(None) => &|_, op| matches!(op, Op::Sync(SyncOp::Barrier { .. })),
            Event::Barrier(Some(wanted)) => &|_, op| {
                let Op::Sync(SyncOp::Barrier { id, .. }) = op else { return false };
                barrier_number(program, *id).is_none_or(|number| number == *wanted)
            },
            Event::Call => &|pc, op| {
                matches!(op, Op::Control(ControlOp::Call { .. } | ControlOp::SystemCall { .. }))
                    || is_unmodelled(program, pc, op, &["call"])
            },
            Event::Exit => &|pc, op| {
                matches!(op, Op::Control(ControlOp::Exit))
                    || matches!(op, Op::Control(ControlOp::Return { .. })) && is_in_kernel(program, pc)
            },
            Event::Printf => &|pc, op| calls(program, pc, op, "vprintf"),
            Event::Atomic => &|pc, op| matches!(op, Op::Atomic(_)) || is_unmodelled(program, pc, op, &["atom", "red"]),
        };
        Some((0..program.code.len()).map(Pc::new).filter(|pc| raises(*pc, &program.code[pc.index()].op)).collect())
    }
}

/// `[NAME] [phase|arrive|wait]`
fn parse_mbarrier<'t>(
    words: impl Iterator<Item = (usize, &'t str)>,
    address_of: impl Fn(&str) -> Option<u32>,
) -> Result<Event, ArgumentError> {
    let (mut address, mut act) = (None, None);
    for (start, word) in words {
        let found = MBARRIER_ACTS.iter().find(|(name, _)| *name == word).map(|(_, act)| *act);
        match found {
            Some(_) if act.is_none() => act = found,
            None if address.is_none() && act.is_none() => {
                let wrong = || {
                    ArgumentError::new(format!("'{word}' is neither an mbarrier nor one of phase, arrive, wait"))
                        .at(start..start + word.len())
                        .with_help("an mbarrier is named by its variable, full or full[1], or by its address in shared memory, 0x508")
                };
                address = Some(address_of(word).ok_or_else(wrong)?);
            }
            _ => return Err(ArgumentError::new(format!("'{word}' is not expected here")).at(start..start + word.len())),
        }
    }
    Ok(Event::Mbarrier(address, act))
}

impl std::fmt::Display for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Event::Barrier(Some(number)) => write!(f, "{} {number}", self.word()),
            Event::Mbarrier(address, act) => {
                write!(f, "mbarrier")?;
                address.map_or(Ok(()), |address| write!(f, " {address:#x}"))?;
                MBARRIER_ACTS.iter().find(|(_, entry)| Some(*entry) == *act).map_or(Ok(()), |(word, _)| write!(f, " {word}"))
            }
            Event::Async(Some(act)) => {
                write!(f, "async {}", COPY_ACTS.iter().find(|(_, entry)| entry == act).map_or("", |(word, _)| word))
            }
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

/// True if `pc` is in a kernel, where `ret` ends the thread.
fn is_in_kernel(program: &Program, pc: Pc) -> bool {
    program.function_at(pc).map(|id| &program.functions[id.index()]).is_some_and(|function| function.is_kernel)
}

/// True if the instruction is one of `opcodes` and the machine does not model it, as a call of a function without a body.
fn is_unmodelled(program: &Program, pc: Pc, op: &Op, opcodes: &[&str]) -> bool {
    matches!(op, Op::Unsupported { .. }) && opcodes.contains(&stem(opcode(program, pc)))
}

fn calls(program: &Program, pc: Pc, op: &Op, name: &str) -> bool {
    let is_named = |mention: &Mention| match mention.named {
        Named::Callee(callee) => &*program.functions[callee.index()].name == name,
        Named::Variable(_) | Named::Special(_) => false,
    };
    let is_call = matches!(op, Op::Control(ControlOp::Call { .. } | ControlOp::SystemCall { .. }));
    (is_call || is_unmodelled(program, pc, op, &["call"])) && program.mentions(pc).iter().any(is_named)
}
