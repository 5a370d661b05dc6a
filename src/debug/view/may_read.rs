//! `info may-read`: what a load of the focused thread may return on weak memory, and why.

use serde::Serialize;

use crate::base::Dim3;
use crate::debug::eval_context::EvalContext;
use crate::debug::expression::little_endian;
use crate::debug::memory;
use crate::debug::stale;
use crate::debug::target::MemoryTarget;
use crate::debug::value::{Scalar, Type, text};
use crate::program::Pc;
use crate::weak::{Choice, Knowing, Place, Source, Standing};

/// What a load may return.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MayRead {
    /// The location, as it was named.
    pub location: String,
    /// The thread that reads: `block (0,0,0) warp 1 lane 3`.
    pub thread: String,
    /// The writes of the location that are kept, oldest first.
    pub rows: Vec<MayReadRow>,
}

/// A write of a location.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MayReadRow {
    /// Its value.
    pub value: String,
    /// True if the load may return it.
    pub may: bool,
    /// `written at t=3 at mp.ptx:12 by …`
    pub write: String,
    /// Why it may, or may not.
    pub why: String,
}

/// Why that cannot be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MayReadError {
    /// The run is sequentially consistent.
    #[error("in this run a load returns the newest write: runs with --memory weak show others")]
    SequentiallyConsistent,
    /// Threads do not share the memory, or it is that of another block.
    #[error("only global memory and the shared memory of a block are weak")]
    NotShared,
    /// More than an element.
    #[error("this is more than one element: name one, such as flag[0]")]
    Several,
    /// It cannot be read.
    #[error("this memory cannot be read")]
    Unreadable,
    /// The block has no such thread.
    #[error("the focused thread is not on the machine")]
    NoThread,
}

/// What a load of an element by the focused thread may return.
///
/// # Errors
/// It cannot be said.
pub fn may_read(context: &EvalContext<'_>, target: &MemoryTarget) -> Result<MayRead, MayReadError> {
    let machine = context.machine;
    let weak = machine.weak_memory().ok_or(MayReadError::SequentiallyConsistent)?;
    let bytes = target.ty.bytes().max(1);
    if target.bytes != u64::from(bytes) {
        return Err(MayReadError::Several);
    }
    let at = stale::location(machine, target.space, target.owner, target.address, bytes).ok_or(MayReadError::NotShared)?;
    let by = machine.thread_place(context.focus.block, context.focus.warp, context.focus.lane).ok_or(MayReadError::NoThread)?;
    let mut held = vec![0; bytes as usize];
    memory::read(&context.refocused(target.owner), target.space, target.address, &mut held).map_err(|_| MayReadError::Unreadable)?;
    let value = |write: &Source| Scalar::new(Type::Scalar(target.ty), little_endian(&write.bytes)).text(context, None);
    let named = |write: &Source| match write.by {
        Some(_) => format!("{} of line {}", value(write), context.program().line(Pc(write.code))),
        None => value(write),
    };
    let row = |Choice { write, standing }: &Choice| {
        let why = match standing {
            Standing::Newest => "the newest".to_string(),
            Standing::Allowed(later, link) => format!("{} need not be visible: {}", named(later), stale::link(context, later, link)),
            Standing::Excluded(later, knowing) => format!("not after {}: {}", named(later), known(*knowing)),
        };
        let may = !matches!(standing, Standing::Excluded(..));
        MayReadRow { value: value(write), may, write: stale::origin(context, write), why }
    };
    let rows = weak.may_read(by, at, &held).iter().map(row).collect();
    let location = match target.name.starts_with('*') {
        true => text::address(context, target.space, target.address),
        false => target.name.clone(),
    };
    Ok(MayRead { location, thread: stale::thread(machine, by), rows })
}

/// How the thread knows a later write.
fn known(knowing: Knowing) -> &'static str {
    match knowing {
        Knowing::Own => "the thread wrote that itself",
        Knowing::MetInBlock => "all threads of the block have met at a barrier since",
        Knowing::MetInWarp => "all threads of the warp have met since",
        Knowing::OfWarp => "another lane of the warp has written that, and a warp accesses one place in order",
        Knowing::Passed => "the thread has read that, or acquired it, or met the writer at a barrier",
    }
}

/// The writes of a location, and what each thread may read of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocationWrites {
    /// The location.
    pub location: String,
    /// The threads: the focused one, and those that have read or written what others may not know.
    pub threads: Vec<String>,
    /// The writes, oldest first.
    pub rows: Vec<WriteRow>,
}

/// A write, and which threads may read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteRow {
    /// Its value.
    pub value: String,
    /// Where it comes from.
    pub write: String,
    /// Whether each thread may read it.
    pub may: Vec<bool>,
}

/// The most threads beside the focused one.
const THREADS_MAX: usize = 7;

/// The writes of the location that the focused lane accesses next; none unless memory is weak and it accesses some that threads share.
pub fn writes_of_next(context: &EvalContext<'_>) -> Option<LocationWrites> {
    let machine = context.machine;
    let weak = machine.weak_memory()?;
    let access = super::lane_access::lane_access(context)?;
    let (_, address) = access.addresses.iter().find(|(lane, _)| *lane == context.focus.lane)?;
    let ty = context.program().opcode(access.pc)?.matched.types.last().copied()?;
    let at = stale::location(machine, access.space, context.focus, *address, ty.bytes().max(1))?;
    let own = machine.thread_place(context.focus.block, context.focus.warp, context.focus.lane)?;
    let mut held = vec![0; at.2 as usize];
    memory::read(context, access.space, *address, &mut held).ok()?;
    let threads: Vec<Place> = [own].into_iter().chain(weak.threads().filter(|by| *by != own).take(THREADS_MAX)).collect();
    let choices: Vec<Vec<Choice>> = threads.iter().map(|by| weak.may_read(*by, at, &held)).collect();
    let rows = choices.first()?.iter().enumerate().map(|(row, choice)| WriteRow {
        value: Scalar::new(Type::Scalar(ty), little_endian(&choice.write.bytes)).text(context, None),
        write: stale::origin(context, &choice.write),
        may: choices.iter().map(|of| of.get(row).is_some_and(|choice| !matches!(choice.standing, Standing::Excluded(..)))).collect(),
    });
    let short = |by: &Place| {
        let of = stale::focus_of(machine, *by);
        format!("{} w{} l{}", Dim3(of.block), of.warp, of.lane)
    };
    let location = text::address(context, access.space, *address);
    Some(LocationWrites { location, threads: threads.iter().map(short).collect(), rows: rows.collect() })
}
