//! Module scope: variables, directives and final checks.

use super::body::{FRAME_ALIGN, PRAGMA_SINCE};
use super::builder::{Declared, ModuleBuilder};
use super::contract;
use super::function;
use super::initializer;
use super::module_registers;
use super::scope::Symbol;
use super::suggest;
use super::variable::{self, Region, VariableLayout};
use crate::base::{Diagnostic, Sources, Span};
use crate::isa::{ImageKind, SPECIAL_REGISTERS, Space, SpecialRegister};
use crate::program::map::{self};
use crate::program::{FuncId, Location, Program, VarId, Variable};
use crate::syntax::tree::{self, Linkage};

/// Bytes of constant memory that a module can declare; in PTX 1.x and 2.x, each bank.
const CONST_BYTES: u64 = 64 << 10;

/// Most unknown names with a suggestion: the search is slow in a large file.
const SUGGESTIONS_MAX: usize = 100;

/// First PTX version with a calling convention, which allows no registers and no local variables at module scope.
const CALLING_CONVENTION: (u8, u8) = (3, 0);

/// First PTX version with `.section`, and without `@@DWARF`.
const SECTION_SINCE: (u8, u8) = (2, 0);

/// The pragma that is allowed at module scope.
const MODULE_PRAGMA: &str = "nounroll";

impl<'a> ModuleBuilder<'a> {
    /// Total bytes of local memory of module variables.
    pub(super) fn local_bytes(&self) -> u64 {
        self.local_bytes
    }

    /// Reserves space for the `.local` variables of the module before its functions are analyzed.
    pub(super) fn reserve_local(&mut self, module: &tree::Module<'a>) {
        let variables =
            module.items.iter().filter_map(|item| if let tree::Item::Variable(variable) = item { Some(variable) } else { None });
        let mut region = self.local;
        for variable in variables.filter(|variable| variable.space.text == "local") {
            // Errors are reported when the variable is analyzed.
            variable::layout(variable).and_then(|layout| region.allocate(layout.bytes, layout.align, variable.name.span)).ok();
        }
        self.local_bytes = region.next;
    }

    /// Declares a variable at module scope, and allocates and initializes it.
    pub(super) fn module_variable(&mut self, variable: &tree::Variable<'a>) {
        if let Err(error) = self.try_module_variable(variable) {
            self.diags.push(error);
        }
    }

    fn try_module_variable(&mut self, variable: &tree::Variable<'a>) -> Result<(), Diagnostic> {
        let layout = variable::layout(variable)?;
        variable::check_available(variable, layout.ty, &self.header)?;
        if let Some(bank) = variable.bank.as_ref().filter(|_| variable.space.text != "const") {
            return Err(Diagnostic::error("space", bank.span, "only constant memory has banks"));
        }
        self.check_module_name(variable.name)?;
        let has_convention = self.header.version >= CALLING_CONVENTION;
        if variable.space.text == "reg" && !has_convention {
            return self.module_register(variable, &layout);
        }
        if matches!(variable.space.text, "reg" | "sreg" | "param") || variable.space.text == "local" && has_convention {
            let message = format!("'.{}' variables cannot be declared at module scope", variable.space.text);
            return Err(Diagnostic::error("space", variable.space.span, message).with_help("declare it inside the functions that use it"));
        }
        if variable.space.text == "tex" && self.header.version >= (1, 5) {
            let error = Diagnostic::error("space", variable.space.span, "'.tex' variables are gone from PTX 1.5 on");
            return Err(error.with_help("declare '.global .texref'"));
        }
        check_attributes(variable)?;
        if variable.linkage == Some(Linkage::Common) && variable.space.text != "global" {
            return Err(Diagnostic::error("linkage", variable.span, "'.common' variables must be '.global'"));
        }
        if self.redeclare(variable, &layout)? {
            return Ok(());
        }
        let id = self.variable(variable, layout.clone(), None)?;
        self.record_declared(variable, layout, id);
        Ok(())
    }

    /// A `.reg` at module scope: every function declares it again.
    fn module_register(&mut self, variable: &tree::Variable<'a>, layout: &VariableLayout) -> Result<(), Diagnostic> {
        if layout.is_array() || variable.init.is_some() {
            return Err(Diagnostic::error("space", variable.name.span, "a register is not an array and has no initial value"));
        }
        self.registers.push(tree::Variable { linkage: None, ..variable.clone() });
        Ok(())
    }

    /// Checks that a name at module scope is not that of a special register.
    pub(super) fn check_module_name(&self, name: tree::Name<'_>) -> Result<(), Diagnostic> {
        let matches = |register: &SpecialRegister| {
            let is_same = register.name.split('.').next() == Some(name.text);
            is_same && self.header.require(register.ptx, register.sm, "", name.span).is_ok()
        };
        if !name.text.starts_with('%') || !SPECIAL_REGISTERS.iter().any(matches) {
            return Ok(());
        }
        let error = Diagnostic::error("duplicate", name.span, format!("'{}' is a special register", name.text));
        Err(error.with_help("give it another name; in a function a register may be called so"))
    }

    fn record_declared(&mut self, variable: &tree::Variable<'a>, mut layout: VariableLayout, id: VarId) {
        let is_extern = variable.linkage == Some(Linkage::Extern);
        if !is_extern {
            // An unsized array has the length of its initializer now.
            let shape = &self.program.variables[id.index()].shape;
            (layout.shape.iter_mut().zip(shape)).for_each(|(extent, final_extent)| *extent = *final_extent);
            layout.is_unsized = false;
        }
        self.declared.insert(variable.name.text, Declared { layout, id, span: variable.name.span, is_extern });
    }

    /// Handles a declaration of a variable that is declared already, if one of the two is `.extern`; returns true if so.
    fn redeclare(&mut self, variable: &tree::Variable<'a>, layout: &VariableLayout) -> Result<bool, Diagnostic> {
        let name = variable.name;
        let Some((Symbol::Variable(id), _)) = self.scopes.find(name.text) else { return Ok(false) };
        let Some(earlier) = self.declared.get_mut(name.text) else { return Ok(false) };
        let is_extern = variable.linkage == Some(Linkage::Extern);
        if !is_extern && !earlier.is_extern {
            return Ok(false);
        }
        let (label, what) = if earlier.is_extern { ("declared '.extern'", "'.extern' declaration") } else { ("defined", "definition") };
        let first_span = earlier.span;
        let first = |error: Diagnostic| error.with_label(first_span, format!("'{}' is {label} here", name.text));
        let was_extern = earlier.is_extern;
        // An invalid definition counts as well, so that no second error follows.
        earlier.is_extern &= is_extern;
        if variable.linkage.is_none() {
            let error =
                Diagnostic::error("linkage", name.span, format!("'{}' is '.extern' above, but this definition is not visible", name.text));
            return Err(first(error).with_help("write '.visible' before the definition"));
        }
        // Declarations of other modules were compared by `link`.
        let is_elsewhere = first_span.source != name.span.source;
        if !is_elsewhere && !earlier.layout.is_like(layout) {
            let message = format!("'{}' has another type here than in its {what}", name.text);
            return Err(first(Diagnostic::error("type", name.span, message)));
        }
        let gives_size = was_extern && earlier.layout.is_unsized && !layout.is_unsized && variable.space.text != "shared";
        if !is_extern || gives_size {
            self.define(variable, layout.clone(), id)?;
            self.record_declared(variable, layout.clone(), id);
        }
        Ok(true)
    }

    /// Declares a `.global`, `.const` or `.shared` variable in the innermost scope.
    ///
    /// # Errors
    /// The name is declared already, the space is exhausted, or the initializer is invalid.
    pub(super) fn variable(
        &mut self,
        variable: &tree::Variable<'a>,
        layout: VariableLayout,
        function: Option<FuncId>,
    ) -> Result<VarId, Diagnostic> {
        let id = VarId::new(self.program.variables.len());
        self.scopes.declare(variable.name, Symbol::Variable(id), None)?;
        let space = match variable.space.text {
            "const" => Space::Const,
            "shared" => Space::Shared,
            "local" => Space::Local,
            "param" => Space::ParamFunc,
            _ => Space::Global,
        };
        self.program.variables.push(Variable {
            name: variable.name.text.into(),
            span: variable.name.span,
            ty: layout.ty,
            shape: layout.full_shape(),
            is_array: layout.is_array(),
            location: Location { space, address: 0 },
            bytes: layout.bytes,
            align: layout.align,
            init: Vec::new(),
            function,
            kernels: self.shared.kernels(variable.name.span),
            opaque: layout.opaque,
            sampler: None,
        });
        self.define(variable, layout, id)?;
        Ok(id)
    }

    /// Sets size, initial bytes and address of the declared variable `id`.
    fn define(&mut self, variable: &tree::Variable<'a>, mut layout: VariableLayout, id: VarId) -> Result<(), Diagnostic> {
        let space = self.program.variables[id.index()].location.space;
        let is_extern = variable.linkage == Some(Linkage::Extern);
        let init = match &variable.init {
            None => Vec::new(),
            Some(_) if is_extern => {
                return Err(Diagnostic::error("linkage", variable.name.span, "an '.extern' variable cannot be initialized"));
            }
            Some(init) if matches!(space, Space::Global | Space::Const) => initializer::bytes(self, variable, init, &mut layout)?,
            Some(_) => {
                let message = format!("a '.{}' variable cannot be initialized", variable.space.text);
                let error = Diagnostic::error("space", variable.name.span, message);
                return Err(error.with_help("only '.global' and '.const' variables have initial values"));
            }
        };
        if layout.opaque == Some(ImageKind::Sampler) {
            self.check_sampler(variable.ty.span)?;
        }
        if layout.ty == crate::isa::ScalarType::Pred {
            return Err(Diagnostic::error("type", variable.ty.span, "a predicate can only be a register"));
        }
        if !is_extern && layout.bytes == 0 {
            let message = format!("the size of '{}' is not known", variable.name.text);
            let error = Diagnostic::error("size", variable.name.span, message);
            return Err(error.with_help("give the first dimension, an initializer, or '.extern' if it is defined elsewhere"));
        }
        if space == Space::Const && is_extern && layout.is_unsized && variable.bank.is_some() {
            // It covers the whole bank.
            let row = layout.shape.iter().skip(1).fold(layout.element_bytes(), |bytes, length| bytes.saturating_mul(*length));
            layout.set_length((CONST_BYTES / row.max(1)).max(1), variable.name)?;
        }
        // After an '.extern' declaration of the same size code may use the address already.
        let declared = &self.program.variables[id.index()];
        let address = match declared.location.address {
            address if address != 0 && declared.bytes == layout.bytes => address,
            _ => self.allocate(variable, &layout, space, id)?,
        };
        let sampler = match (&variable.init, layout.opaque) {
            (Some(init), Some(_)) => Some(Box::new(initializer::sampler(init)?)),
            (None, Some(ImageKind::Sampler)) => Some(Box::default()),
            _ => None,
        };
        let entry = &mut self.program.variables[id.index()];
        entry.location.address = address;
        entry.shape = layout.full_shape();
        entry.bytes = layout.bytes;
        entry.align = layout.align;
        entry.init = init;
        entry.sampler = sampler;
        Ok(())
    }

    /// `.file 1 "name"`: an index denotes one file (PTX ISA, ".file").
    pub(super) fn source_file(&mut self, index: u32, name: &str, span: Span) {
        if self.program.source_files.iter().any(|file| file.0 == index) {
            let error = Diagnostic::error("duplicate", span, format!("a second '.file {index}'"));
            self.diags.push(error.with_help("every '.file' has a number of its own, by which '.loc' refers to it"));
            return;
        }
        self.program.source_files.push((index, name.to_string()));
    }

    /// Samplers are declared in independent mode only (PTX ISA, "Texture, Sampler and Surface Types").
    pub(super) fn check_sampler(&self, span: Span) -> Result<(), Diagnostic> {
        if self.header.has_samplers {
            return Ok(());
        }
        let error = Diagnostic::error("type", span, "samplers are not apart from textures in unified mode, which is assumed");
        Err(error.with_help("write '.target .., texmode_independent', or put what it says into the '.texref'"))
    }

    /// `.pragma` at module scope, where only `nounroll` is allowed (PTX ISA, "Pragma Strings").
    pub(super) fn module_pragma(&mut self, texts: &[tree::Name<'a>], span: Span) {
        self.diags.extend(self.header.require(PRAGMA_SINCE, 0, "'.pragma'", span).err());
        for text in texts.iter().filter(|text| text.text != MODULE_PRAGMA) {
            let error = Diagnostic::error("directive", text.span, format!("there is no pragma '{}' for a whole module", text.text));
            self.diags.push(error.with_help(format!("only '{MODULE_PRAGMA}' is; others stand in the body of a function")));
        }
    }

    /// Allocates the address of a variable in its space; those in frames are allocated by the function's body.
    fn allocate(&mut self, variable: &tree::Variable<'a>, layout: &VariableLayout, space: Space, id: VarId) -> Result<u64, Diagnostic> {
        let span = variable.name.span;
        match space {
            Space::Global => {
                let align = layout.align.max(map::ALLOCATION_ALIGN as u32);
                let address = self.global.allocate(layout.bytes, align, span)?;
                self.global.next = self.global.next.saturating_add(map::GUARD_BYTES);
                Ok(address)
            }
            Space::Local if self.program.variables[id.index()].function.is_none() => {
                let offset = self.local.allocate(layout.bytes, layout.align, span)?;
                Ok(map::LOCAL_BASE + offset)
            }
            Space::Const => self.allocate_const(variable, layout),
            Space::Shared => {
                Ok(self.shared.address(self.program.variables[id.index()].function, variable.name.span).unwrap_or(map::SHARED_RESERVED))
            }
            Space::Generic | Space::SharedCluster | Space::Local | Space::Param | Space::ParamFunc => Ok(0),
        }
    }

    fn allocate_const(&mut self, variable: &tree::Variable<'a>, layout: &VariableLayout) -> Result<u64, Diagnostic> {
        let bank = match &variable.bank {
            None => 0,
            Some(bank) => self.constant_bank(bank, variable)?,
        };
        while self.banks.len() <= bank {
            let base = map::CONST_BASE + 2 * CONST_BYTES * self.banks.len() as u64;
            self.banks.push(Region { noun: "constant memory", next: base, end: base + CONST_BYTES });
        }
        match bank {
            0 => self.banks[0].allocate(layout.bytes, layout.align, variable.name.span),
            // All arrays of another bank start with its first byte.
            _ => Ok(self.banks[bank].next),
        }
    }

    /// The number in `.const[N]` (PTX ISA, "Banked Constant State Space").
    fn constant_bank(&self, bank: &tree::Expr<'a>, variable: &tree::Variable<'a>) -> Result<usize, Diagnostic> {
        let number = super::const_expr::evaluate_count(bank)?;
        if self.header.version >= (2, 2) {
            let error = Diagnostic::error("version", bank.span, "constant banks ended with PTX 2.1");
            return Err(error.with_help("leave the number out, or pass the address of what the bank held as a parameter"));
        }
        match number {
            0 => Ok(0),
            1..=10 if self.header.version < (1, 5) => {
                let error = Diagnostic::error("version", bank.span, format!("constant bank {number} requires PTX 1.5"));
                Err(error.with_help("leave the number out: variables lie in bank 0"))
            }
            1..=10 if variable.linkage != Some(Linkage::Extern) || !matches!(variable.shape.first(), Some(None)) => {
                let message = format!("constant bank {number} is for '.extern' arrays without a size");
                Err(Diagnostic::error("linkage", bank.span, message).with_help("leave the number out: variables lie in bank 0"))
            }
            1..=10 => Ok(number as usize),
            number => Err(Diagnostic::error("value", bank.span, format!("there is no constant bank {number}; banks are 0 to 10"))),
        }
    }

    /// The program, unless there are errors, and all diagnostics.
    pub(super) fn finish(mut self, sources: Sources) -> (Option<Program>, Vec<Diagnostic>) {
        self.check_externs();
        self.check_undefined_calls();
        function::check_defined(&mut self);
        self.diags.extend(self.inlined.unknown_labels(&self.section_labels, &self.program));
        for name in self.inlined.names(&self.section_labels, &sources) {
            self.program.inlined_functions.push(name);
        }
        let passed = if self.diags.iter().any(Diagnostic::is_error) { Ok(()) } else { module_registers::pass_in_calls(&mut self) };
        self.diags.extend(passed.err());
        // The size of each frame is a multiple of the largest alignment, so that all frames are aligned.
        let frames = self.program.variables.iter().filter(|variable| matches!(variable.location.space, Space::Local | Space::ParamFunc));
        let align = frames.map(|variable| variable.align).fold(FRAME_ALIGN, u32::max);
        for function in &mut self.program.functions {
            function.frame_bytes = function.frame_bytes.next_multiple_of(align);
        }
        let with_code = (0..self.program.functions.len()).map(FuncId::new).filter(|id| !self.program.functions[id.index()].code.is_empty());
        let mut by_code: Vec<FuncId> = with_code.collect();
        by_code.sort_by_key(|id| self.program.functions[id.index()].code.start);
        self.program.functions_by_code = by_code;
        self.diags.sort_by_key(|diag| diag.span);
        self.program.sources_text = sources;
        self.program.opcodes = std::mem::take(&mut self.decoder).into_opcodes();
        let is_usable = !self.diags.iter().any(Diagnostic::is_error);
        if is_usable && !self.header.is_debug {
            contract::contract(&mut self.program);
        }
        (is_usable.then_some(self.program), self.diags)
    }

    /// A section of debug data: its directives and the labels in it.
    pub(super) fn section(&mut self, name: &str, labels: &[tree::Name<'a>], span: Span) {
        let is_old = name == "@@DWARF";
        if is_old && self.header.version >= SECTION_SINCE {
            let error = Diagnostic::error("version", span, "'@@DWARF' is gone from PTX 2.0 on");
            self.diags.push(error.with_help("debug data stands in '.section NAME { .. }'"));
        } else if !is_old {
            self.diags.extend(self.header.require(SECTION_SINCE, 0, "'.section'", span).err());
            self.program.debug_sections.push(span);
        }
        for label in labels {
            if let Some(first) = self.section_labels.insert(label.text, label.span) {
                let error = Diagnostic::error("duplicate", label.span, format!("label '{}' is declared twice", label.text));
                self.diags.push(error.with_label(first, format!("'{}' is first declared here", label.text)));
            }
        }
    }

    /// Reports `.extern` variables without a definition. Without a size they cannot be used, unless they are dynamic shared memory; with
    /// one they are allocated like others, with a warning as in ptxas.
    fn check_externs(&mut self) {
        let mut undefined: Vec<_> = self.declared.drain().filter(|(_, declared)| declared.is_extern).collect();
        undefined.sort_by_key(|(_, declared)| declared.span);
        for (name, declared) in undefined {
            let message = format!("'{name}' is declared '.extern' but defined nowhere in this module");
            let variable = &self.program.variables[declared.id.index()];
            let is_dynamic = declared.layout.is_unsized && variable.bytes == 0 && variable.location.space == Space::Shared;
            if self.program.modules.len() > 1 && !is_dynamic {
                self.diags.push(self.undefined_reference(name, declared.span));
                continue;
            }
            if !declared.layout.is_unsized || variable.bytes > 0 {
                self.diags.push(Diagnostic::warning("linkage", declared.span, message).with_help("it is taken as defined here, all zeros"));
            } else if variable.location.space != Space::Shared {
                let error = Diagnostic::error("name", declared.span, message);
                self.diags.push(error.with_help("define it here; other modules are not linked in"));
            }
        }
    }

    /// Reports calls of functions that none of several modules defines. A single module may be incomplete, as for `ptxas -c`: such a call
    /// is then reported when it is executed.
    fn check_undefined_calls(&mut self) {
        if self.program.modules.len() < 2 {
            return;
        }
        for (callee, span) in std::mem::take(&mut self.undefined_calls) {
            let name = self.index.functions[callee.index()].name;
            let error = Diagnostic::error("link", span, format!("'{}' is called, but defined in none of the modules", name.text));
            let error = self.with_hidden(error.with_label(name.span, "declared here"), name.text);
            self.diags.push(error);
        }
    }

    /// The linker's error for a name that none of several modules defines.
    fn undefined_reference(&self, name: &str, span: Span) -> Diagnostic {
        let error = Diagnostic::error("link", span, format!("'{name}' is declared '.extern' but defined in none of the modules"));
        self.with_hidden(error, name)
    }

    /// The error with help: it points out an internal definition of the name in another module.
    fn with_hidden(&self, error: Diagnostic, name: &str) -> Diagnostic {
        let renamed = format!("{name}$");
        let hidden = self.index.declared.iter().filter(|(declared, _)| declared.starts_with(&renamed)).map(|(_, span)| *span).min();
        match hidden {
            Some(hidden) => error.with_label(hidden, "this one is seen in its own module alone").with_help("write '.visible' before it"),
            None => error.with_help("define it '.visible' in one of them"),
        }
    }

    /// The error for a name that is not in scope; `noun` is the expected kind of name.
    pub(super) fn unknown_name(&self, name: &str, span: Span, noun: &str) -> Diagnostic {
        let error = Diagnostic::error("name", span, format!("unknown {noun} '{name}'"));
        if let Some(later) = self.index.declared.get(name) {
            return error
                .with_label(*later, format!("'{name}' is declared here, too late"))
                .with_help("PTX wants declarations before their use");
        }
        if let Some((prefix, count)) = self.scopes.outgrown_family(name) {
            let last = count.saturating_sub(1);
            return error.with_help(format!("'{prefix}<{count}>' declares '{prefix}0' to '{prefix}{last}'"));
        }
        if self.diags.len() > SUGGESTIONS_MAX {
            return error;
        }
        let special = SPECIAL_REGISTERS.iter().map(|register| register.name).filter(|_| name.starts_with('%'));
        suggest::with_nearest(error, name, self.scopes.singles().chain(special))
    }
}

/// Checks `.attribute(..)` of a variable (PTX ISA, "Variable and Function Attribute Directive").
fn check_attributes(variable: &tree::Variable<'_>) -> Result<(), Diagnostic> {
    for attribute in &variable.attributes {
        let name = attribute.name;
        match name.text {
            "managed" if variable.space.text != "global" => {
                return Err(Diagnostic::error("attribute", name.span, "'.managed' variables must be '.global'"));
            }
            "managed" | "unified" => {}
            other => {
                let error = Diagnostic::error("attribute", name.span, format!("unknown attribute '.{other}'"));
                return Err(error.with_help("the attributes are '.managed' and '.unified'"));
            }
        }
    }
    Ok(())
}
