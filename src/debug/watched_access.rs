//! An access to a watched target, as data and in words: the instruction, and the values in digits.

use std::ops::Range;

use serde::Serialize;

use super::eval_context::EvalContext;
use super::expression::{Expression, little_endian};
use super::file_line::source_line;
use super::focus::Focus;
use super::names::access::access_type;
use super::names::memory_name::subscript;
use super::names::scope::data_type;
use super::site::Site;
use super::source_names::types;
use super::source_names::values::UNDEFINED;
use super::value::{Array, Scalar, SourceValue, Type, Value};
use crate::base::WarpId;
use crate::dwarf::Type::Record;
use crate::dwarf::{DebugInfo, Member, TypeId};
use crate::isa::{ScalarType, TypeKind};
use crate::machine::{IssuePoint, LaneMask, Tick};
use crate::program::{Op, Pc, WarpgroupOp};
use crate::ttgir::ValueId;

/// One access to a watched target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WatchedAccess {
    /// The watchpoint's number; none in a history.
    pub number: Option<u32>,
    /// The name of the object.
    pub name: String,
    /// Its type in the debug data, if it is a variable of the source.
    #[serde(skip)]
    pub source_type: Option<TypeId>,
    /// Of a variable of a Triton program a value that it has.
    #[serde(skip)]
    pub tensor: Option<ValueId>,
    /// The tick of the instruction.
    pub time: Tick,
    /// The instruction.
    pub pc: Pc,
    /// The warp that executed it.
    pub by: Focus,
    /// Its lanes that accessed the target.
    pub lanes: LaneMask,
    /// True for a write.
    pub write: bool,
    /// The asynchronous copy or matrix multiplication, issued by the instruction, that accessed it, and the time of that access.
    pub copy: Option<(u64, Tick)>,
    /// For a compare-and-swap, all lanes that executed it; `lanes` are those that swapped. None for other accesses.
    pub tried: Option<LaneMask>,
    /// For memory, its first address, and the first byte accessed, if threads accessed it.
    pub address: Option<(u64, u64)>,
    /// The bytes before, empty if unknown; for a register of several lanes, those of the lowest that changed.
    pub old: Vec<u8>,
    /// The bytes after.
    pub new: Vec<u8>,
    /// Those of them that were not written.
    #[serde(skip)]
    pub unwritten: Unwritten,
    /// The instruction that gave the register its value, and its tick, where a variable has come to be in that register since.
    pub written_at: Option<(Pc, Tick)>,
}

/// For each byte of a variable in local memory, or of shared memory, true if the thread, or any thread, had not written it; empty if all
/// were written, or that is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unwritten {
    /// Before an access.
    pub before: Vec<bool>,
    /// After it.
    pub after: Vec<bool>,
}

/// An access, ready to be shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WatchedAccessText {
    /// The watchpoint's number; none in a history.
    pub number: Option<u32>,
    /// The name of the object.
    pub name: String,
    /// The instruction, and the lanes that accessed the target.
    pub site: Site,
    /// True for a write.
    pub write: bool,
    /// The asynchronous copy or matrix multiplication, issued by the instruction, that accessed it: its kind and number, and the time of
    /// its completion; no time if its issue made the target undefined.
    pub copy: Option<(&'static str, u64, Option<Tick>)>,
    /// For an array, the element of these values: the first that changed, or if none changed, the first that was written.
    pub element: Option<String>,
    /// The number of other elements that changed.
    pub more: usize,
    /// The value before.
    pub old: String,
    /// The value after.
    pub new: String,
    /// A note: the target is only a part of the bytes written, or the number of lanes that tried to swap.
    pub note: Option<String>,
}

/// The instruction of an access.
fn site_of(context: &EvalContext<'_>, watched_access: &WatchedAccess) -> Site {
    let place = IssuePoint {
        pc: watched_access.pc,
        tick: watched_access.time,
        block: watched_access.by.block,
        warp: WarpId::new(watched_access.by.warp),
    };
    Site::new(context.program(), context.machine.config().block, place, watched_access.lanes).with_role(context.roles)
}

/// The change of one value by an access.
struct ValueChange {
    element: Option<String>,
    more: usize,
    old: String,
    new: String,
}

impl WatchedAccessText {
    /// `watched_access`, with values of the type that its name has in `context`.
    pub fn new(context: &EvalContext<'_>, watched_access: &WatchedAccess) -> Self {
        let value = value_of(context, watched_access);
        let site = site_of(context, watched_access);
        let ValueChange { element, more, old, new } = described(context, watched_access, value.as_ref());
        let note = part_of_access(context, watched_access, value.as_ref())
            .or_else(|| tried(watched_access))
            .or_else(|| written_before(context, watched_access))
            .or_else(|| stale(context, watched_access));
        let at_once = context.machine.config().copies.ends_at_issue();
        let is_wgmma = matches!(context.program().code[watched_access.pc.index()].op, Op::Wgmma(WarpgroupOp::Multiply { .. }));
        let kind = if is_wgmma { "wgmma" } else { "copy" };
        let copy = watched_access.copy.map(|(id, time)| (kind, id, (time > watched_access.time || at_once).then_some(time)));
        Self {
            number: watched_access.number,
            name: watched_access.name.clone(),
            site,
            write: watched_access.write,
            copy,
            element,
            more,
            old,
            new,
            note,
        }
    }
}

/// That a load has given a register an older write than the newest.
fn stale(context: &EvalContext<'_>, watched_access: &WatchedAccess) -> Option<String> {
    let Focus { block, warp, .. } = watched_access.by;
    let is_register = watched_access.address.is_none();
    is_register.then(|| super::stale::texts_at(context, block, warp, watched_access.time).into_iter().next())?
}

/// The value of the object's name in the scope of the thread that accessed it; none if the name is out of scope.
fn value_of(context: &EvalContext<'_>, watched_access: &WatchedAccess) -> Option<Value> {
    Expression::parse(&watched_access.name).ok()?.evaluate(&context.refocused(watched_access.by)).ok()
}

fn described(context: &EvalContext<'_>, watched_access: &WatchedAccess, value: Option<&Value>) -> ValueChange {
    if let Some(described) = change_of_object(context, watched_access, value).or_else(|| change_of_tensor(context, watched_access)) {
        return described;
    }
    if let Some(Value::Array(array)) = value
        && let Some(described) = change_of_array(context, watched_access, array)
    {
        return described;
    }
    if let Some(Value::Source(row)) = value
        && let Some(described) = change_of_row(context, watched_access, row)
    {
        return described;
    }
    let bits = watched_access.new.len() as u32 * 8;
    // A register of 16 bits takes the place of one of 32.
    let is_narrow = |ty: &Type| watched_access.address.is_none() && ty.bits().max(8) < bits;
    let narrow = match value {
        Some(Value::Scalar(scalar)) => Some(scalar.ty).filter(is_narrow),
        Some(Value::Lanes(lanes)) => Some(lanes.ty).filter(is_narrow),
        _ => None,
    };
    let ty = narrow.or_else(|| type_of(context, value, bits));
    let text = |bytes: &[u8], unwritten: &[bool]| match ty {
        _ if bytes.is_empty() => "?".to_string(),
        _ if unwritten.contains(&true) => UNDEFINED.to_string(),
        Some(ty) => {
            let bytes = bytes.get(..ty.bits().div_ceil(8) as usize).unwrap_or(bytes);
            Scalar { ty, bits: little_endian(bytes) }.text(context, None)
        }
        None => bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" "),
    };
    let Unwritten { before, after } = &watched_access.unwritten;
    ValueChange { element: None, more: 0, old: text(&watched_access.old, before), new: text(&watched_access.new, after) }
}

/// The change of the elements of a tensor that a lane holds: of the first that has changed.
fn change_of_tensor(context: &EvalContext<'_>, watched_access: &WatchedAccess) -> Option<ValueChange> {
    let tensors = context.tensors()?;
    let id = watched_access.tensor.filter(|id| id.index() < tensors.module().values.len())?;
    let ty = tensors.module().value(id).ty.element()?.number();
    let size = ty.bits().div_ceil(8).max(1) as usize;
    let (old, new) = (&watched_access.old, &watched_access.new);
    let part = |bytes: &[u8], index: usize| bytes.get(index * size..(index + 1) * size).map(<[u8]>::to_vec);
    let mut changed = (0..new.len() / size).filter(|index| part(old, *index) != part(new, *index));
    let index = changed.next().unwrap_or(0);
    let more = changed.count();
    let Focus { lane, warp, .. } = watched_access.by;
    let indices = tensors.indices(id, u32::try_from(index).ok()?, lane, warp);
    let text = |bytes: Option<Vec<u8>>| match bytes {
        Some(bytes) => Scalar { ty: Type::Scalar(ty), bits: little_endian(&bytes) }.text(context, None),
        None => "?".to_string(),
    };
    let element = Some(format!("{}{indices}", watched_access.name)).filter(|_| !indices.is_empty());
    Some(ValueChange { element, more, old: text(part(old, index)), new: text(part(new, index)) })
}

/// The bytes of an object of the source before and after an access, and which of them were not written.
#[derive(Clone, Copy)]
struct Changed<'c> {
    old: &'c [u8],
    new: &'c [u8],
    unwritten_before: &'c [bool],
    unwritten_after: &'c [bool],
}

impl<'c> Changed<'c> {
    /// A part of them; none if the object has no such bytes.
    fn part(self, bytes: Range<usize>) -> Option<Self> {
        Some(Self {
            old: self.old.get(bytes.clone()).unwrap_or_default(),
            new: self.new.get(bytes.clone())?,
            unwritten_before: self.unwritten_before.get(bytes.clone()).unwrap_or_default(),
            unwritten_after: self.unwritten_after.get(bytes).unwrap_or_default(),
        })
    }

    /// True if the access has changed something of them.
    fn is_change(self) -> bool {
        // What is written as a whole has no bytes that are noted.
        let is_unwritten = |bytes: &[bool], at: usize| bytes.get(at).copied().unwrap_or(false);
        let is_first = |at: usize| is_unwritten(self.unwritten_before, at) != is_unwritten(self.unwritten_after, at);
        self.old != self.new || (0..self.new.len()).any(is_first)
    }
}

/// The parts of an array or a structure: how each is named after the whole, its type and its bytes; none of other objects.
fn parts_of(info: &DebugInfo, ty: TypeId, bytes: usize) -> Option<Vec<(String, TypeId, Range<usize>)>> {
    if let Some((Some(of), _)) = types::array(info, Some(ty)).filter(|(of, _)| !types::is_character(info, *of)) {
        let size = info.bytes(Some(of)) as usize;
        let part = |index: usize| (format!("[{index}]"), of, index * size..(index + 1) * size);
        return Some((0..bytes.checked_div(size)?).map(part).collect());
    }
    let Record { members, .. } = &info.types[info.stripped(Some(ty))?] else { return None };
    let part = |member: &Member| {
        let start = usize::try_from(member.offset).ok()?;
        let end = start.checked_add(info.bytes(member.ty) as usize)?;
        let name = member.name.as_ref().filter(|_| member.bits.is_none())?;
        Some((format!(".{name}"), member.ty?, start..end))
    };
    // What is shown as a number, such as `half`, is one. A base and what lies in bits are shown with the whole.
    let is_number = types::scalar(info, Some(ty)).is_some();
    members.iter().map(part).collect::<Option<Vec<_>>>().filter(|_| !is_number)
}

/// The change of an object of the source, in its type; of an array or a structure, of its first part that has changed.
fn change_of_object(context: &EvalContext<'_>, watched_access: &WatchedAccess, value: Option<&Value>) -> Option<ValueChange> {
    let info = context.debug_info()?;
    let of_name = if let Some(Value::Source(source)) = value { source.ty.filter(|_| source.count.is_none()) } else { None };
    let mut ty = watched_access.source_type.or(of_name).filter(|ty| ty.index() < info.types.len())?;
    let Unwritten { before, after } = &watched_access.unwritten;
    let (old, new) = (watched_access.old.as_slice(), watched_access.new.as_slice());
    let mut changed = Changed { old, new, unwritten_before: before, unwritten_after: after };
    if info.bytes(Some(ty)) != new.len() as u64 {
        return None;
    }
    let (mut element, mut more) = (None, 0);
    // Nothing is known of the parts of what had no value.
    while !changed.old.is_empty()
        && let Some(parts) = parts_of(info, ty, changed.new.len())
    {
        let of_parts = parts.into_iter().filter_map(|(name, ty, bytes)| Some((name, ty, changed.part(bytes)?)));
        let mut of_parts = of_parts.filter(|(.., part)| part.is_change()).collect::<Vec<_>>().into_iter();
        let Some((name, of, part)) = of_parts.next() else { break };
        more += of_parts.count();
        element = Some(format!("{}{name}", element.unwrap_or_else(|| watched_access.name.clone())));
        (changed, ty) = (part, of);
    }
    // A variable that had no bytes was not assigned.
    let nothing = if watched_access.source_type.is_some() { UNDEFINED } else { "?" };
    let text = |bytes: &[u8], unwritten: &[bool]| match bytes {
        [] => nothing.to_string(),
        bytes => {
            let (bytes, unwritten) = (bytes.to_vec(), unwritten.to_vec());
            SourceValue { ty: Some(ty), bytes, place: None, count: None, stride: None, unwritten }.text(context, None)
        }
    };
    let (old, new) = (text(changed.old, changed.unwritten_before), text(changed.new, changed.unwritten_after));
    Some(ValueChange { element, more, old, new })
}

/// The change of several objects side by side, as a whole.
fn change_of_row(context: &EvalContext<'_>, watched_access: &WatchedAccess, row: &SourceValue) -> Option<ValueChange> {
    let is_row = row.count.is_some() && row.stride.is_none() && row.bytes.len() == watched_access.new.len();
    let text = |bytes: &[u8], unwritten: &[bool]| {
        let (bytes, unwritten) = (bytes.to_vec(), unwritten.to_vec());
        SourceValue { bytes, unwritten, place: None, ..row.clone() }.text(context, None)
    };
    let Unwritten { before, after } = &watched_access.unwritten;
    let is_known = watched_access.old.len() == row.bytes.len();
    let old = if is_known { text(&watched_access.old, before) } else { "?".to_string() };
    is_row.then(|| ValueChange { element: None, more: 0, old, new: text(&watched_access.new, after) })
}

/// The type of a target of `bits` bits; none for an array.
fn type_of(context: &EvalContext<'_>, value: Option<&Value>, bits: u32) -> Option<Type> {
    let ty = match value {
        Some(Value::Scalar(scalar)) => Some(scalar.ty),
        Some(Value::Lanes(lanes)) => Some(lanes.ty),
        Some(Value::Array(array)) => Some(Type::Scalar(array.ty)),
        Some(Value::Tensor(tensor)) => Some(Type::Scalar(tensor.ty)),
        Some(Value::Source(source)) => {
            return types::scalar(context.debug_info()?, source.ty).map(Type::Scalar).filter(|ty| ty.bits().max(8) == bits);
        }
        None => {
            [ScalarType::B8, ScalarType::B16, ScalarType::B32, ScalarType::B64].into_iter().find(|ty| ty.bits() == bits).map(Type::Scalar)
        }
    };
    ty.filter(|ty| ty.bits().max(8) == bits)
}

/// The elements of an array that a write has changed, in the type of its elements, or if they are declared as bytes, in that of the access.
fn change_of_array(context: &EvalContext<'_>, watched_access: &WatchedAccess, array: &Array) -> Option<ValueChange> {
    let access = access_type(context.program(), watched_access.pc).map(|ty| match ty.kind() {
        TypeKind::Untyped => data_type(context, watched_access.pc).filter(|data| data.bits() == ty.bits()).unwrap_or(ty),
        _ => ty,
    });
    let as_declared = array.ty != ScalarType::B8;
    let ty = if as_declared { array.ty } else { access.unwrap_or(array.ty) };
    let size = (ty.bits() / 8).max(1) as usize;
    let Unwritten { before, after } = &watched_access.unwritten;
    let whole = Changed { old: &watched_access.old, new: &watched_access.new, unwritten_before: before, unwritten_after: after };
    let part = |index: usize| whole.part(index * size..(index + 1) * size);
    let is_known = !watched_access.old.is_empty();
    let changed: Vec<usize> =
        (0..watched_access.new.len() / size).filter(|index| is_known && part(*index).is_some_and(Changed::is_change)).collect();
    let accessed = watched_access.address.and_then(|(start, at)| usize::try_from(at.checked_sub(start)?).ok().map(|offset| offset / size));
    let index = changed.first().copied().or(accessed)?;
    let part = part(index)?;
    let text = |bytes: &[u8], unwritten: &[bool]| match unwritten.contains(&true) {
        true => UNDEFINED.to_string(),
        false => Scalar { ty: Type::Scalar(ty), bits: little_endian(bytes) }.text(context, None),
    };
    let old = if is_known { text(part.old, part.unwritten_before) } else { "?".to_string() };
    let element = match as_declared {
        true => watched_access.name.clone() + &subscript(&array.shape, index as u64),
        false if ty == array.ty => format!("{}[{index}]", watched_access.name),
        false => format!("(({}*){})[{index}]", ty.word(), watched_access.name),
    };
    Some(ValueChange { element: Some(element), more: changed.len().saturating_sub(1), old, new: text(part.new, part.unwritten_after) })
}

/// The note that the target is only one byte of a wider access.
fn part_of_access(context: &EvalContext<'_>, watched_access: &WatchedAccess, value: Option<&Value>) -> Option<String> {
    let is_byte = matches!(value, Some(Value::Scalar(Scalar { ty: Type::Scalar(ScalarType::B8), .. })));
    let access = access_type(context.program(), watched_access.pc).filter(|ty| is_byte && ty.bits() > 8)?;
    Some(format!("one byte of the .{} that the instruction accesses", access.word()))
}

/// The instruction that wrote what a variable is since it has come to be in the register.
fn written_before(context: &EvalContext<'_>, watched_access: &WatchedAccess) -> Option<String> {
    let (pc, time) = watched_access.written_at?;
    let program = context.program();
    let source = source_line(program, pc).map_or(String::new(), |line| format!(" ({line})"));
    Some(format!("written at t={time} by {}{source}", program.place(pc)))
}

/// The number of lanes that tried to swap.
fn tried(watched_access: &WatchedAccess) -> Option<String> {
    let tried = watched_access.tried.filter(|tried| *tried != watched_access.lanes)?;
    Some(format!("{} tried", tried.describe()))
}
