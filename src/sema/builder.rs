//! The module under construction, as data: the declarations so far, and the next free address of each space.

use std::collections::{HashMap, HashSet};

use super::constants::Constants;
use super::decode::Decoder;
use super::header::Header;
use super::index::Index;
use super::inlined::Inlined;
use super::scope::Scopes;
use super::shared::SharedLayout;
use super::variable::{Region, VariableLayout};
use crate::base::{Diagnostic, Span};
use crate::program::map::{self, Map, Maps};
use crate::program::{FuncId, Function, Limits, Placement, Program, Slots, SourceLine, VarId};
use crate::syntax::tree::{self, Linkage};

/// The module under construction.
pub(super) struct ModuleBuilder<'a> {
    pub(super) header: Header,
    pub(super) map: Map,
    pub(super) index: Index<'a>,
    pub(super) shared: SharedLayout,
    pub(super) scopes: Scopes<'a>,
    pub(super) program: Program,
    pub(super) diags: Vec<Diagnostic>,
    pub(super) constants: Constants,
    pub(super) decoder: Decoder<'a>,
    /// The declarations of each function read so far.
    pub(super) progress: Vec<Progress>,
    /// Declarations of `.reg` at module scope.
    pub(super) registers: Vec<tree::Variable<'a>>,
    /// The number of module registers declared before each function.
    pub(super) module_slots: Vec<Slots>,
    /// The lines of all `.loc` directives so far.
    pub(super) loc_lines: HashSet<SourceLine>,
    /// The functions that `.loc` says are inlined.
    pub(super) inlined: Inlined<'a>,
    /// Labels in sections of debug data.
    pub(super) section_labels: HashMap<&'a str, Span>,
    /// Free space for `.local` variables of the module, which precede those of every kernel.
    pub(super) local: Region,
    pub(super) local_bytes: u64,
    pub(super) global: Region,
    /// Free space of every constant bank; one bank unless `.const[N]` is used.
    pub(super) banks: Vec<Region>,
    /// Variables of the module, by their definitions, or by `.extern` declarations if there is none.
    pub(super) declared: HashMap<&'a str, Declared>,
    /// The first call of each function that has no body in any module and is not in the device runtime, with the callee.
    pub(super) undefined_calls: Vec<(FuncId, Span)>,
}

/// A variable of the module.
pub(super) struct Declared {
    pub(super) layout: VariableLayout,
    pub(super) id: VarId,
    pub(super) span: Span,
    /// True until a definition is found.
    pub(super) is_extern: bool,
}

impl<'a> ModuleBuilder<'a> {
    /// An empty module; `index` and `shared` describe its declarations.
    pub(super) fn new(header: Header, index: Index<'a>, shared: SharedLayout, diags: Vec<Diagnostic>, maps: &Maps) -> Self {
        let map = maps.of_width(header.address_bits);
        let program = Program {
            version: header.version,
            target: header.target,
            address_bits: header.address_bits,
            is_debug: header.is_debug,
            map,
            functions: index.functions.iter().map(|entry| undeclared(entry.name)).collect(),
            ..Program::default()
        };
        let progress = vec![Progress::default(); index.functions.len()];
        let module_slots = vec![Slots::default(); index.functions.len()];
        let global = Region { noun: "global memory", next: map.variables, end: map.variables_end(header.address_bits) };
        Self {
            header,
            map,
            index,
            shared,
            scopes: Scopes::default(),
            program,
            diags,
            constants: Constants::default(),
            decoder: Decoder::default(),
            progress,
            registers: Vec::new(),
            module_slots,
            loc_lines: HashSet::new(),
            inlined: Inlined::default(),
            section_labels: HashMap::new(),
            local: Region { noun: "local memory", next: 0, end: map::LOCAL_BYTES },
            local_bytes: 0,
            global,
            banks: Vec::new(),
            declared: HashMap::new(),
            undefined_calls: Vec::new(),
        }
    }
}

/// The declarations of a function read so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Progress {
    /// The first declaration or the definition.
    pub(super) declared: Option<Span>,
    /// The definition.
    pub(super) defined: Option<Span>,
    /// True if it was declared `.extern`.
    pub(super) is_extern: bool,
    /// The linkage in the last declaration that has one.
    pub(super) linkage: Option<Linkage>,
}

/// An entry for a function whose declaration has not been read yet.
pub(super) fn undeclared(name: tree::Name<'_>) -> Function {
    Function {
        name: name.text.into(),
        span: name.span,
        is_kernel: false,
        code: 0..0,
        params: Vec::new(),
        results: Vec::new(),
        slots: Slots::default(),
        placement: Placement::default(),
        frame_bytes: 0,
        shared_bytes: 0,
        param_bytes: 0,
        registers: Vec::new(),
        variables: Vec::new(),
        labels: Vec::new(),
        limits: Limits::default(),
    }
}
