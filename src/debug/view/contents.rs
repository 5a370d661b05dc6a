//! The contents of a state space: its variables and buffers, and their elements as the focused thread accesses them.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::arrays::{Origin, origin};
use crate::debug::eval_context::EvalContext;
use crate::debug::expression::little_endian;
use crate::debug::memory;
use crate::debug::names::scope::{Named, look_up, variable_called};
use crate::debug::names::symbols;
use crate::debug::value::{Scalar, Type};
use crate::isa::{ScalarType, Space};
use crate::program::short_name;

/// A state space that has variables or buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum MemorySpace {
    /// Buffers of the launch, and variables of the module.
    #[default]
    Global,
    /// Shared memory of the focused block.
    Shared,
    /// Local memory of the focused thread.
    Local,
    /// Constants.
    Const,
    /// The kernel's parameters.
    Param,
}

/// A variable or a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryObject {
    /// Its name.
    pub name: String,
    /// Type of an element.
    pub ty: ScalarType,
    /// Extent of every dimension, outermost first; empty for one element.
    pub shape: Vec<u64>,
    /// Number of elements.
    pub elements: u64,
    /// Its first address.
    pub address: u64,
    /// True if it is declared as bytes, its alignment shows wider elements, and their type is unknown.
    pub is_declared_as_bytes: bool,
    /// The source of its type.
    pub origin: Origin,
    space: Space,
}

impl MemorySpace {
    /// The space's word.
    pub fn word(self) -> &'static str {
        self.space().word()
    }

    /// The space whose variables are in `space`; none if it has none.
    pub(super) fn of(space: Space) -> Option<Self> {
        [Self::Global, Self::Shared, Self::Local, Self::Const, Self::Param].into_iter().find(|other| other.space() == space)
    }

    fn space(self) -> Space {
        match self {
            Self::Global => Space::Global,
            Self::Shared => Space::Shared,
            Self::Local => Space::Local,
            Self::Const => Space::Const,
            Self::Param => Space::Param,
        }
    }
}

impl MemoryObject {
    /// `f32[4][8]`
    pub fn type_name(&self) -> String {
        let extents: String = self.shape.iter().map(|extent| format!("[{extent}]")).collect();
        format!("{}{extents}", self.ty.word())
    }

    /// Its state space.
    pub(super) fn space(&self) -> Space {
        self.space
    }

    /// The expression for an element: `tile[3][1]`; only the name for an object with one element.
    pub fn element_name(&self, element: u64) -> String {
        let mut rest = element;
        let mut indices = Vec::new();
        for extent in self.shape.iter().rev() {
            indices.push(format!("[{}]", rest % (*extent).max(1)));
            rest /= (*extent).max(1);
        }
        indices.reverse();
        format!("{}{}", self.short_name(), indices.concat())
    }

    /// Its name in the source, without what a compiler adds.
    pub fn short_name(&self) -> &str {
        short_name(&self.name)
    }
}

/// The variables and buffers of a space, in order of address.
pub fn memory_objects(context: &EvalContext<'_>, space: MemorySpace) -> Vec<MemoryObject> {
    let frame = context.frame().ok();
    // In param space, a name means the parameter itself, not the buffer that it points to.
    let names = if space == MemorySpace::Param { context.with_names_as_in_ptx() } else { *context };
    let object = |object: symbols::Object| {
        let variable = variable_called(context, &object.name);
        let is_wide = variable.is_some_and(|variable| variable.align > 1);
        let origin = variable.map_or(Origin::Declared, |variable| origin(context, variable));
        let typed = match look_up(&names, frame.as_ref(), &object.name) {
            Some(Named::Memory(place)) if place.address == object.start => Some((place.ty, place.extents())),
            _ => None,
        };
        let (ty, shape) = typed.unwrap_or((ScalarType::B8, Vec::new()));
        let elements = object.bytes / u64::from(ty.bytes().max(1));
        let fits = shape.iter().try_fold(1_u64, |all, extent| all.checked_mul(*extent)) == Some(elements);
        let flat = if elements == 1 { Vec::new() } else { vec![elements] };
        MemoryObject {
            name: object.name,
            ty,
            shape: if fits { shape } else { flat },
            elements,
            address: object.start,
            is_declared_as_bytes: ty == ScalarType::B8 && elements > 1 && is_wide && origin != Origin::User,
            origin,
            space: space.space(),
        }
    };
    symbols::objects(context, space.space()).into_iter().map(object).filter(|object| object.elements > 0).collect()
}

/// The values of some elements of an object, as far as they can be read.
pub fn elements(context: &EvalContext<'_>, object: &MemoryObject, range: Range<u64>) -> Vec<String> {
    let size = u64::from(object.ty.bytes().max(1));
    let value = |index: u64| {
        let address = object.address.checked_add(index.checked_mul(size)?)?;
        let mut bytes = [0; 16];
        let bytes = bytes.get_mut(..size as usize)?;
        memory::read(context, object.space, address, bytes).ok()?;
        Some(Scalar::new(Type::Scalar(object.ty), little_endian(bytes)).text(context, None))
    };
    (range.start..range.end.min(object.elements)).map_while(value).collect()
}

/// Some bytes of an object, as far as they can be read.
pub fn bytes(context: &EvalContext<'_>, object: &MemoryObject, range: Range<u64>) -> Vec<u8> {
    let value = |index: u64| {
        let mut byte = [0];
        memory::read(context, object.space, object.address.checked_add(index)?, &mut byte).ok()?;
        Some(byte[0])
    };
    let size = object.elements.saturating_mul(u64::from(object.ty.bytes()));
    (range.start..range.end.min(size)).map_while(value).collect()
}
