//! A touch of a place in words: where it happened, and the values in digits.

use super::case::Site;
use super::expression::{Expression, little_endian};
use super::scene::Scene;
use super::stop::Touch;
use super::value::{Scalar, Type, Value};
use crate::isa::ScalarType;
use crate::machine::CopyPolicy;
use crate::program::Op;

/// A touch, ready to be drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TouchText {
    /// The watchpoint's number; none in a history.
    pub number: Option<u32>,
    /// What was touched.
    pub name: String,
    /// The instruction, and the lanes that touched it.
    pub site: Site,
    /// Whether it wrote.
    pub write: bool,
    /// The asynchronous copy or matrix multiplication that touched it, which the instruction issued: its kind and number, and when it
    /// ended, or nothing when it was issued and made the place undefined.
    pub copy: Option<(&'static str, u64, Option<u64>)>,
    /// The value before.
    pub old: String,
    /// The value after.
    pub new: String,
}

impl TouchText {
    /// `touch`, with values of the type that its name has where the thread of `scene` stands.
    pub fn new(scene: &Scene<'_>, touch: &Touch) -> Self {
        let ty = type_of(scene, touch);
        let text = |bytes: &[u8]| match ty {
            Some(ty) => Scalar { ty, bits: little_endian(bytes) }.text(scene, None),
            None => bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" "),
        };
        let site = Site::of_touch(scene, touch);
        let (old, new) = (text(&touch.old), text(&touch.new));
        let at_once = scene.machine.config().copies == CopyPolicy::Eager;
        let is_wgmma = scene.program().code.get(touch.pc.index()).is_some_and(|inst| matches!(inst.op, Op::Wgmma { .. }));
        let kind = if is_wgmma { "wgmma" } else { "copy" };
        let copy = touch.copy.map(|(id, time)| (kind, id, (time > touch.time || at_once).then_some(time)));
        Self { number: touch.number, name: touch.name.clone(), site, write: touch.write, copy, old, new }
    }
}

/// The type of the place; none for an array, or where its name means nothing any more.
fn type_of(scene: &Scene<'_>, touch: &Touch) -> Option<Type> {
    let scene = scene.refocused(touch.by);
    let value = Expression::parse(&touch.name).ok()?.evaluate(&scene).ok();
    let bits = touch.new.len() as u32 * 8;
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
