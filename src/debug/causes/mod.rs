//! The causes of a fault or finding in the launch: values that are made up, or that contradict each other.

mod null;
mod short;

use std::collections::BTreeMap;

use crate::base::Dim3;
use crate::check::{Finding, SideAction};
use crate::isa::Space;
use crate::launch::{Basis, Origins, ParamPart, ParamValue, PlannedBuffer, PlannedLaunch};
use crate::machine::{Trap, TrapKind};
use crate::program::{FuncId, Pc, Program};

pub use null::null_loaded;
pub use short::too_short;

/// A launch that faulted.
#[derive(Clone, Copy)]
pub struct FaultedLaunch<'a> {
    pub program: &'a Program,
    pub launch: &'a PlannedLaunch,
    /// The buffers of its case.
    pub buffers: &'a [PlannedBuffer],
}

impl FaultedLaunch<'_> {
    /// The name of parameter `index` in the source, or in the module.
    fn name(&self, index: usize) -> &str {
        let kernel = &self.program.functions[self.launch.kernel.index()];
        self.launch.names.get(&index).map_or(&*kernel.params[index].name, String::as_str)
    }

    /// True if the value of parameter `index` is made up.
    fn is_made_up(&self, index: usize) -> bool {
        self.launch.reasons.iter().any(|reason| reason.param == Some(index))
    }
}

/// The made-up values that a fault or finding at `pc` comes from: `its address comes from n = 64, which is made up`. Empty if the
/// launch is not made up or no such value is found; with `always`, a general note instead.
pub fn origin(program: &Program, launch: &PlannedLaunch, pc: Pc, always: bool) -> String {
    OriginTexts { program, origins: BTreeMap::new() }.of(launch, pc, always)
}

/// The same for many findings: the origins of each kernel are computed once.
pub struct OriginTexts<'a> {
    pub program: &'a Program,
    pub origins: BTreeMap<FuncId, Origins<'a>>,
}

impl OriginTexts<'_> {
    /// The made-up values, or the guessed block size, that a finding comes from.
    pub fn of_finding(&mut self, launch: &PlannedLaunch, finding: &Finding) -> String {
        // A value used after it was read: the address is that of the read.
        let read = finding.first.filter(|first| finding.second.action == SideAction::Use && first.action == SideAction::Read);
        let origin = self.of(launch, read.unwrap_or(finding.second).point.pc, false);
        if origin.is_empty() { of_guessed_block(launch, finding) } else { origin }
    }

    /// The text of [`origin`].
    pub fn of(&mut self, launch: &PlannedLaunch, pc: Pc, always: bool) -> String {
        if launch.reasons.is_empty() {
            return String::new();
        }
        let program = self.program;
        let origins = self.origins.entry(launch.kernel).or_insert_with(|| Origins::new(program, launch.kernel));
        in_one_line(launch, origins.of(pc), always)
    }
}

/// The note on a null pointer that is a parameter: its name.
pub fn null_parameter(launched: FaultedLaunch<'_>, trap: &Trap) -> Option<String> {
    let FaultedLaunch { program, launch, .. } = launched;
    let is_null = trap.kind == TrapKind::Null;
    let members = if is_null { Origins::new(program, launch.kernel).pointers(trap.point.pc) } else { Vec::new() };
    let [ParamPart { param, .. }] = *members else { return None };
    let is_zero = matches!(&launch.params.get(param)?.value, ParamValue::Bytes(bytes) if bytes.iter().all(|byte| *byte == 0));
    let giver = if launched.is_made_up(param) { "this made-up launch" } else { "the launch" };
    is_zero.then(|| format!("the pointer is parameter {} of the kernel, {}, which {giver} gives as 0", param + 1, launched.name(param)))
}

/// The note on a null pointer that is a member of a structure by value: its bytes.
pub fn null_member(launched: FaultedLaunch<'_>, trap: &Trap) -> Option<String> {
    let FaultedLaunch { program, launch, .. } = launched;
    let params = &program.functions[launch.kernel.index()].params;
    let is_member = |word: &ParamPart| params.get(word.param).is_some_and(|param| param.bytes > word.bytes);
    let is_null = trap.kind == TrapKind::Null;
    let mut members = if is_null { Origins::new(program, launch.kernel).pointers(trap.point.pc) } else { Vec::new() };
    members.retain(is_member);
    let [ParamPart { param, offset, bytes }] = *members else { return None };
    let (name, last, all) = (launched.name(param), offset + bytes - 1, params[param].bytes);
    let giver = if launched.is_made_up(param) { "this made-up launch gives 0" } else { "they are 0" };
    let how = format!("-a {name}=bytes=… gives the structure as it is, and no word gives a member an array");
    Some(format!("the pointer is bytes {offset} to {last} of the {all} of {name}, and {giver}; {how}"))
}

fn in_one_line(launch: &PlannedLaunch, (values, contents): (Vec<usize>, Vec<usize>), always: bool) -> String {
    let reason = |index: usize| launch.reasons.iter().find(|reason| reason.param == Some(index) && reason.basis == Basis::Guessed);
    let number = |index: &usize| reason(*index).filter(|reason| reason.is_number()).map(|reason| reason.what.clone());
    let contents_of = |index: &usize| reason(*index).map(|reason| format!("what {} holds", reason.what));
    let parts: Vec<String> = values.iter().filter_map(number).chain(contents.iter().filter_map(contents_of)).collect();
    match parts.as_slice() {
        [] if always => may_be(launch),
        [] => String::new(),
        [one] => format!("its address comes from {one}, which is made up ('info launch')"),
        many => format!("its address comes from {}, which are made up ('info launch')", many.join(" and ")),
    }
}

/// The note on a fault in a made-up launch whose cause is not known.
pub fn may_be(launch: &PlannedLaunch) -> String {
    let guessed = || launch.reasons.iter().filter(|reason| reason.basis == Basis::Guessed);
    if guessed().any(|reason| reason.param.is_some()) {
        return "this launch is made up, and its values may be the cause ('info launch')".to_string();
    }
    let shapes: Vec<&str> = guessed().map(|reason| reason.what.as_str()).filter(|what| ["grid", "block"].contains(what)).collect();
    match shapes.as_slice() {
        [] => String::new(),
        [shape] => format!("the {shape} is a guess ('info launch')"),
        shapes => format!("{} are guesses ('info launch')", shapes.join(" and ")),
    }
}

/// The note on a finding that another block size may avoid: `block (16,16,1) is a guess`; empty where the block size is not a guess.
fn of_guessed_block(launch: &PlannedLaunch, finding: &Finding) -> String {
    let is_shared = finding.memory.is_none_or(|memory| matches!(memory.space, Space::Shared | Space::SharedCluster));
    let guessed = launch.reasons.iter().find(|reason| reason.what == "block" && reason.basis == Basis::Guessed);
    let Some(reason) = guessed.filter(|_| is_shared || finding.id.is_race()) else { return String::new() };
    format!("block {} is a guess ({}): a kernel that is for another one needs --block ('info launch')", Dim3(launch.block), reason.why)
}
