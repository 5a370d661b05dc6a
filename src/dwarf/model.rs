//! What debug data says: scopes, variables and types.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::error::DwarfError;
use super::location::Location;
use super::scope_index::ScopeIndex;
use crate::base::{IdVec, define_id};
use crate::isa::Space;
use crate::program::{Pc, SourceLine};

define_id!(
    /// A type: an index into [`DebugInfo::types`].
    TypeId, "type"
);
define_id!(
    /// A scope: an index into [`DebugInfo::scopes`].
    ScopeId, "scope"
);

/// The debug data of a program.
#[derive(Debug, Default)]
pub struct DebugInfo {
    /// The types.
    pub types: IdVec<TypeId, Type>,
    /// The scopes: functions with the blocks and inlined functions in them. A scope comes after the one that contains it.
    pub scopes: IdVec<ScopeId, Scope>,
    /// The variables outside of functions.
    pub globals: Vec<Variable>,
    /// The types by their names, for casts: `app::Point`, `word_t`. Several types may have one name.
    pub type_names: BTreeMap<Arc<str>, Vec<TypeId>>,
    /// The names with namespaces and classes of types whose own names lack them, as far as mangled names of functions have them.
    pub qualified_types: BTreeMap<TypeId, Arc<str>>,
    /// The lines that declare types.
    pub type_lines: BTreeMap<TypeId, SourceLine>,
    /// The enumerators by their names with and without what is around them: `app::BLUE`, `BLUE`.
    pub enumerators: BTreeMap<Arc<str>, Vec<EnumeratorOf>>,
    /// What could not be read.
    pub problems: Vec<DwarfError>,
    /// The scopes by their instructions.
    pub(super) index: ScopeIndex,
}

/// A part of the source with names of its own.
#[derive(Clone, Debug)]
pub struct Scope {
    /// Its kind.
    pub kind: ScopeKind,
    /// The instructions that it covers.
    pub code: Vec<Range<u32>>,
    /// The scope that contains it; none for a function.
    pub parent: Option<ScopeId>,
    /// Its variables and parameters, in order of declaration.
    pub variables: Vec<Variable>,
    /// For a function, where its frame is.
    pub frame_base: Option<Location>,
    /// For a function, the type of its result; none for `void`.
    pub result: Option<TypeId>,
}

/// The kind of a scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScopeKind {
    /// A function or kernel of the module.
    Function {
        /// Its name in the source.
        name: Option<Arc<str>>,
        /// Its name in the module, if that differs.
        linkage_name: Option<Arc<str>>,
    },
    /// A block of statements.
    Block,
    /// A function in the place of its call.
    Inlined {
        /// Its name in the source.
        name: Option<Arc<str>>,
        /// Its mangled name, if it has one.
        linkage_name: Option<Arc<str>>,
        /// The call.
        call: Call,
    },
}

/// The place of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// The line of the call; none if the data does not say.
    pub line: Option<SourceLine>,
}

/// A variable or a parameter.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name in the source.
    pub name: Arc<str>,
    /// Its name in the module, if that differs.
    pub linkage_name: Option<Arc<str>>,
    /// Its type.
    pub ty: Option<TypeId>,
    /// True for a parameter.
    pub is_parameter: bool,
    /// True for one that the source does not declare: the compiler keeps a value in it, such as the end of a loop over a range.
    pub is_artificial: bool,
    /// The line of its declaration.
    pub line: Option<SourceLine>,
    /// The state space that the data names, of a location in memory.
    pub space: Option<Space>,
    /// Where it is, in order of the data; empty if it is nowhere.
    pub locations: Vec<LocationEntry>,
}

/// The location of a variable in some instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocationEntry {
    /// The instructions; none for all of its scope.
    pub code: Option<Range<u32>>,
    /// Where it is.
    pub location: Location,
}

/// How the bits of a base type are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
#[rustfmt::skip]
pub enum Encoding { Signed, Unsigned, Float, Boolean, SignedCharacter, UnsignedCharacter, Address, Other }

/// A pointer or a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
#[rustfmt::skip]
pub enum PointerKind { Pointer, Reference, RvalueReference }

/// The keyword of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
#[rustfmt::skip]
pub enum RecordKind { Struct, Class, Union }

/// A type of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// A number or a character.
    Base {
        /// `unsigned int`
        name: Arc<str>,
        /// How its bits are read.
        encoding: Encoding,
        /// Its size.
        bytes: u64,
    },
    /// A pointer or a reference.
    Pointer {
        /// Pointer or reference.
        kind: PointerKind,
        /// What it points to; none for `void`.
        to: Option<TypeId>,
        /// Its size.
        bytes: u64,
        /// The state space of the address, if it is not a generic one.
        space: Option<Space>,
    },
    /// A structure, class or union.
    Record {
        /// The keyword.
        kind: RecordKind,
        /// Its name with namespaces and template arguments; none for an anonymous one.
        name: Option<Arc<str>>,
        /// Its size.
        bytes: u64,
        /// Its members and bases, in order.
        members: Vec<Member>,
        /// True if the data only declares it.
        is_declaration: bool,
    },
    /// An array of one dimension; one of several is an array of arrays.
    Array {
        /// The type of an element.
        of: Option<TypeId>,
        /// The number of elements, if it is known.
        extent: Option<u64>,
        /// True for a vector type of the compiler.
        is_vector: bool,
    },
    /// An enumeration.
    Enumeration {
        /// Its name.
        name: Option<Arc<str>>,
        /// Its size.
        bytes: u64,
        /// Its names.
        enumerators: Vec<Enumerator>,
    },
    /// Another name of a type.
    Typedef {
        /// The name.
        name: Arc<str>,
        /// The type; none for `void`.
        to: Option<TypeId>,
    },
    /// `const`, `volatile`, `restrict` or `_Atomic`.
    Qualified {
        /// The word.
        word: &'static str,
        /// The type; none for `void`.
        to: Option<TypeId>,
    },
    /// A function.
    Function {
        /// The result; none for `void`.
        result: Option<TypeId>,
        /// The parameters.
        params: Vec<Option<TypeId>>,
    },
    /// Another type, of which only the name is known.
    Unspecified {
        /// Its name.
        name: Arc<str>,
        /// Its size, or 0.
        bytes: u64,
    },
}

/// An enumerator that a name may mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnumeratorOf {
    /// Its value.
    pub value: i64,
    /// Its enumeration.
    pub ty: TypeId,
    /// True if the name is all of its name.
    pub is_whole: bool,
}

/// A name of a value of an enumeration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enumerator {
    /// The name, with namespaces.
    pub name: Arc<str>,
    /// The value.
    pub value: i64,
}

/// A member of a record, or a base of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its name; none for an anonymous record in the record.
    pub name: Option<Arc<str>>,
    /// Its type.
    pub ty: Option<TypeId>,
    /// Its first byte in the record.
    pub offset: u64,
    /// For a bit field: its lowest bit, counted from bit 0 of the byte at `offset`, and its number of bits.
    pub bits: Option<(u32, u32)>,
    /// True for a base class.
    pub is_base: bool,
}

impl Variable {
    /// Its location at `pc`: the entry whose instructions hold it.
    pub fn location_at(&self, pc: Pc) -> Option<&Location> {
        let holds = |entry: &&LocationEntry| entry.code.as_ref().is_none_or(|code| code.contains(&pc.0));
        self.locations.iter().find(holds).map(|entry| &entry.location)
    }
}

impl Scope {
    /// True if it covers the instruction.
    pub fn contains(&self, pc: Pc) -> bool {
        self.code.iter().any(|range| range.contains(&pc.0))
    }
}

impl DebugInfo {
    /// The scopes around an instruction, innermost first: blocks, inlined functions, and the function last.
    pub fn scopes_at(&self, pc: Pc) -> Vec<ScopeId> {
        // A scope comes after its parent, so the last that holds the instruction is the innermost.
        std::iter::successors(self.scopes_holding(pc).last().copied(), |id| self.scopes[*id].parent).collect()
    }

    /// All scopes that hold an instruction, in order of the data.
    pub fn scopes_holding(&self, pc: Pc) -> Vec<ScopeId> {
        self.index.holding(pc)
    }

    /// The scopes of which a part begins in `code`, in order of the data.
    pub fn scopes_beginning_in(&self, code: &Range<u32>) -> Vec<ScopeId> {
        self.index.beginning_in(code)
    }

    /// The function of the source that an instruction belongs to.
    pub fn function_at(&self, pc: Pc) -> Option<&Scope> {
        let mut scopes = self.scopes_holding(pc).into_iter().map(|id| &self.scopes[id]);
        scopes.find(|scope| matches!(scope.kind, ScopeKind::Function { .. }))
    }

    /// The type without typedefs and qualifiers; none for `void`, or a typedef of itself.
    pub fn stripped(&self, ty: Option<TypeId>) -> Option<TypeId> {
        let mut ty = ty?;
        for _ in 0..NESTING_MAX {
            match &self.types[ty] {
                Type::Typedef { to, .. } | Type::Qualified { to, .. } => ty = (*to)?,
                Type::Base { .. }
                | Type::Pointer { .. }
                | Type::Record { .. }
                | Type::Array { .. }
                | Type::Enumeration { .. }
                | Type::Function { .. }
                | Type::Unspecified { .. } => return Some(ty),
            }
        }
        None
    }

    /// The size of a type in bytes; 0 for one without a size, such as `void`.
    pub fn bytes(&self, ty: Option<TypeId>) -> u64 {
        self.bytes_within(ty, NESTING_MAX)
    }

    fn bytes_within(&self, ty: Option<TypeId>, depth: u32) -> u64 {
        let Some(ty) = self.stripped(ty).filter(|_| depth > 0) else { return 0 };
        match &self.types[ty] {
            Type::Base { bytes, .. }
            | Type::Pointer { bytes, .. }
            | Type::Record { bytes, .. }
            | Type::Enumeration { bytes, .. }
            | Type::Unspecified { bytes, .. } => *bytes,
            Type::Array { of, extent, .. } => self.bytes_within(*of, depth - 1).saturating_mul(extent.unwrap_or(0)),
            Type::Typedef { .. } | Type::Qualified { .. } | Type::Function { .. } => 0,
        }
    }
}

/// Most types in each other that are followed: data that contradicts itself may have a type that contains itself.
pub(super) const NESTING_MAX: u32 = 64;
