//! The names and types of the source: DWARF data, versions 2 to 5, in the `.section`s of a module's text.
//!
//! A compiler writes its debug data as text: `.section .debug_info { .b8 1, 2 .b64 $L__tmp3 .. }`. [`section`] evaluates it to bytes, in
//! which a label is the address of its instruction and a variable has an address of its own ([`address`]). [`reader`] reads the bytes as a
//! [`DebugInfo`]: scopes with variables, their types, and their locations, which [`location`] decodes and evaluates and
//! [`paths`] follows along the paths of threads.
//!
//! Nothing is read before it is used: [`LazyDebugInfo`] reads the sections when a name is looked up for the first time.

mod address;
mod assigned;
mod attributes;
mod entries;
mod error;
mod lazy;
mod location;
mod model;
mod paths;
mod qualified;
mod reader;
mod scope_index;
mod scopes;
mod section;
mod types;

pub use address::Symbol;
pub use assigned::{Assignment, Declaration, SourceText};
pub use error::DwarfError;
pub use lazy::LazyDebugInfo;
pub use location::{Base, Cell, Location, LocationError, Operation, Resolver, Storage};
pub use model::{
    Call, DebugInfo, Encoding, Enumerator, EnumeratorOf, LocationEntry, Member, PointerKind, RecordKind, Scope, ScopeId, ScopeKind, Type,
    TypeId, Variable,
};
