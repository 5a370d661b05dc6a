//! A touch of a place, and the same in words: where it happened, and the values in digits.

use serde::Serialize;

use super::expression::{Expression, little_endian};
use super::focus::Focus;
use super::names::access::access_type;
use super::names::place::subscript;
use super::names::scope::data_type;
use super::scene::Scene;
use super::site::Site;
use super::value::{Array, Scalar, Type, Value};
use crate::base::WarpId;
use crate::isa::{ScalarType, TypeKind};
use crate::machine::{IssuePoint, LaneMask, Tick};
use crate::program::{Op, Pc, WarpgroupOp};

/// One touch of a watched place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WatchedAccess {
    /// The watchpoint's number; none in a history.
    pub number: Option<u32>,
    /// The name of the object.
    pub name: String,
    /// When: the tick of the instruction.
    pub time: Tick,
    /// The instruction.
    pub pc: Pc,
    /// The warp that executed it.
    pub by: Focus,
    /// Its lanes that touched the place.
    pub lanes: LaneMask,
    /// Whether it wrote.
    pub write: bool,
    /// The asynchronous copy or matrix multiplication that touched it, which the instruction issued, and when it did.
    pub copy: Option<(u64, Tick)>,
    /// Of a compare-and-swap, all lanes that tried; `lanes` are those that won. None of anything else.
    pub tried: Option<LaneMask>,
    /// Of memory, its first address, and the first byte that the access touched, if threads did it.
    pub address: Option<(u64, u64)>,
    /// The bytes before, nothing where they were not known; for a register of several lanes, of the lowest that changed.
    pub old: Vec<u8>,
    /// The bytes after.
    pub new: Vec<u8>,
}

/// A touch, ready to be drawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WatchedAccessText {
    /// The watchpoint's number; none in a history.
    pub number: Option<u32>,
    /// The name of the object.
    pub name: String,
    /// The instruction, and the lanes that touched it.
    pub site: Site,
    /// Whether it wrote.
    pub write: bool,
    /// The asynchronous copy or matrix multiplication that touched it, which the instruction issued: its kind and number, and when it
    /// ended, or nothing when it was issued and made the place undefined.
    pub copy: Option<(&'static str, u64, Option<Tick>)>,
    /// Of an array, the element whose values these are: the first that changed, or of a write that changed none, that was written.
    pub element: Option<String>,
    /// The number of other elements that changed.
    pub more: usize,
    /// The value before.
    pub old: String,
    /// The value after.
    pub new: String,
    /// A note: that it is only a part of the bytes written, or how many lanes tried.
    pub note: Option<String>,
}

/// The instruction that touched a place.
fn site_of(scene: &Scene<'_>, watched_access: &WatchedAccess) -> Site {
    let place = IssuePoint {
        pc: watched_access.pc,
        tick: watched_access.time,
        block: watched_access.by.block,
        warp: WarpId::new(watched_access.by.warp),
    };
    Site::new(scene.program(), scene.machine.config().block, place, watched_access.lanes).with_role(scene.roles)
}

/// The change of one value by an access.
struct ValueChange {
    element: Option<String>,
    more: usize,
    old: String,
    new: String,
}

impl WatchedAccessText {
    /// `watched_access`, with values of the type that its name has where the thread of `scene` stands.
    pub fn new(scene: &Scene<'_>, watched_access: &WatchedAccess) -> Self {
        let value = value_of(scene, watched_access);
        let site = site_of(scene, watched_access);
        let ValueChange { element, more, old, new } = described(scene, watched_access, value.as_ref());
        let note = part_of_access(scene, watched_access, value.as_ref()).or_else(|| tried(watched_access));
        let at_once = scene.machine.config().copies.ends_at_issue();
        let is_wgmma = matches!(scene.program().code[watched_access.pc.index()].op, Op::Wgmma(WarpgroupOp::Multiply { .. }));
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

/// The value of the object's name in the scope of the thread that accessed it; none if the name is out of scope.
fn value_of(scene: &Scene<'_>, watched_access: &WatchedAccess) -> Option<Value> {
    Expression::parse(&watched_access.name).ok()?.evaluate(&scene.refocused(watched_access.by)).ok()
}

fn described(scene: &Scene<'_>, watched_access: &WatchedAccess, value: Option<&Value>) -> ValueChange {
    if let Some(Value::Array(array)) = value
        && let Some(described) = change_of_array(scene, watched_access, array)
    {
        return described;
    }
    let ty = type_of(value, watched_access.new.len() as u32 * 8);
    let text = |bytes: &[u8]| match ty {
        _ if bytes.is_empty() => "?".to_string(),
        Some(ty) => Scalar { ty, bits: little_endian(bytes) }.text(scene, None),
        None => bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" "),
    };
    ValueChange { element: None, more: 0, old: text(&watched_access.old), new: text(&watched_access.new) }
}

/// The type of a place of `bits` bits; none for an array.
fn type_of(value: Option<&Value>, bits: u32) -> Option<Type> {
    let ty = match value {
        Some(Value::Scalar(scalar)) => Some(scalar.ty),
        Some(Value::Lanes(lanes)) => Some(lanes.ty),
        Some(Value::Array(array)) => Some(Type::Scalar(array.ty)),
        None => {
            [ScalarType::B8, ScalarType::B16, ScalarType::B32, ScalarType::B64].into_iter().find(|ty| ty.bits() == bits).map(Type::Scalar)
        }
    };
    ty.filter(|ty| ty.bits().max(8) == bits)
}

/// The elements of an array that a write has changed, in the type of its elements; if they are declared as bytes, in that of the access.
fn change_of_array(scene: &Scene<'_>, watched_access: &WatchedAccess, array: &Array) -> Option<ValueChange> {
    let access = access_type(scene.program(), watched_access.pc).map(|ty| match ty.kind() {
        TypeKind::Untyped => data_type(scene, watched_access.pc).filter(|data| data.bits() == ty.bits()).unwrap_or(ty),
        _ => ty,
    });
    let as_declared = array.ty != ScalarType::B8;
    let ty = if as_declared { array.ty } else { access.unwrap_or(array.ty) };
    let size = (ty.bits() / 8).max(1) as usize;
    let part = |bytes: &[u8], index: usize| bytes.get(index * size..(index + 1) * size).map(<[u8]>::to_vec);
    let is_known = !watched_access.old.is_empty();
    let changed: Vec<usize> = (0..watched_access.new.len() / size)
        .filter(|_| is_known)
        .filter(|index| part(&watched_access.old, *index) != part(&watched_access.new, *index))
        .collect();
    let touched = watched_access.address.and_then(|(start, at)| usize::try_from(at.checked_sub(start)?).ok().map(|offset| offset / size));
    let index = changed.first().copied().or(touched)?;
    let new = part(&watched_access.new, index)?;
    let text = |bytes: &[u8]| Scalar { ty: Type::Scalar(ty), bits: little_endian(bytes) }.text(scene, None);
    let old = if is_known { text(&part(&watched_access.old, index)?) } else { "?".to_string() };
    let element = match as_declared {
        true => watched_access.name.clone() + &subscript(&array.shape, index as u64),
        false if ty == array.ty => format!("{}[{index}]", watched_access.name),
        false => format!("(({}*){})[{index}]", ty.word(), watched_access.name),
    };
    Some(ValueChange { element: Some(element), more: changed.len().saturating_sub(1), old, new: text(&new) })
}

/// That the place is one byte of what the access writes or reads, if it is.
fn part_of_access(scene: &Scene<'_>, watched_access: &WatchedAccess, value: Option<&Value>) -> Option<String> {
    let is_byte = matches!(value, Some(Value::Scalar(Scalar { ty: Type::Scalar(ScalarType::B8), .. })));
    let access = access_type(scene.program(), watched_access.pc).filter(|ty| is_byte && ty.bits() > 8)?;
    Some(format!("one byte of the .{} that the instruction accesses", access.word()))
}

/// The number of lanes that tried to swap.
fn tried(watched_access: &WatchedAccess) -> Option<String> {
    let tried = watched_access.tried.filter(|tried| *tried != watched_access.lanes)?;
    Some(format!("{} tried", tried.describe()))
}
