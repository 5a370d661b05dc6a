//! Translation of a function's body into code, with its scopes, registers, frame and labels.

use std::collections::HashSet;

use super::builder::ModuleBuilder;
use super::const_expr;
use super::decode_context::{NumberedRegister, RegisterRef};
use super::inline_sites::{self, InlineSites, source_line};
use super::insert::Insertions;
use super::labels::{self, Labels};
use super::parameter;
use super::scope::{self, Symbol};
use super::variable::{self, Region, VariableLayout};
use crate::base::{Diagnostic, Span};
use crate::isa::ScalarType;
use crate::program::{
    Bank, ControlOp, FuncId, Function, InlinedCall, Inst, LocalVariable, Op, Param, ParamStorage, Pc, Placement, Register, Slot, Slots,
    SourceLine, Statement as Parts, TableId, VarId, map,
};
use crate::syntax::tree::{Block, Loc, Name, Statement, Variable};

/// Most registers of one function.
const REGISTERS_MAX: u64 = 1 << 20;

/// The end of a scope that is still open.
const OPEN: u32 = u32::MAX;

/// PTX versions that introduced directives of a body.
pub(super) const PRAGMA_SINCE: (u8, u8) = (2, 0);
const PARAM_VARIABLES: (u8, u8) = (2, 0);
const INDIRECT_CALLS_SINCE: (u8, u8) = (2, 1);
const BRANCH_TARGETS_SINCE: (u8, u8) = (6, 0);

/// Alignment of every frame.
pub(super) const FRAME_ALIGN: u32 = 16;

/// The parameters of the functions that an indirect call can reach.
#[derive(Clone, Debug, Default)]
pub(super) struct Prototype {
    pub(super) params: Vec<Param>,
    pub(super) results: Vec<Param>,
}

/// The function under construction.
pub(super) struct BodyBuilder<'m, 'a> {
    pub(super) module: &'m mut ModuleBuilder<'a>,
    pub(super) id: FuncId,
    pub(super) is_kernel: bool,
    /// Functions of each `.calltargets`.
    pub(super) call_targets: Vec<Vec<FuncId>>,
    /// Each `.callprototype`.
    pub(super) prototypes: Vec<Prototype>,
    pub(super) labels: Labels<'a>,
    /// Registers declared so far.
    declared: Slots,
    placement: Placement,
    frame: Region,
    pub(super) registers: Vec<Register>,
    /// Variables declared so far.
    pub(super) variables: Vec<LocalVariable>,
    /// Operations to insert before the instruction that is being decoded.
    before: Vec<Op>,
    insertions: Insertions,
    /// Space of the parameters that the body of a kernel declares in PTX before 1.4.
    pub(super) bank: Region,
    /// The registers of all open scopes, innermost last, and the start of each open scope in that list.
    open_registers: Vec<usize>,
    open_scopes: Vec<usize>,
    /// The number of variables that are declared before each open scope.
    variables_before: Vec<usize>,
    blocks_entered: usize,
    line: Option<SourceLine>,
    /// The inlined calls that lead to `line`, innermost first.
    inlined_calls: Vec<InlinedCall>,
    /// The `.loc`s of the body.
    sites: InlineSites,
}

impl<'m, 'a> BodyBuilder<'m, 'a> {
    /// Opens the scope of function `id`, which holds its parameters and its body.
    pub(super) fn new(module: &'m mut ModuleBuilder<'a>, id: FuncId, is_kernel: bool) -> Self {
        // The registers of the module are in a separate scope, so that names of the function may hide them.
        module.scopes.open();
        let frame_start = if is_kernel { module.local_bytes() } else { 0 };
        let mut builder = Self {
            module,
            id,
            is_kernel,
            call_targets: Vec::new(),
            prototypes: Vec::new(),
            labels: Labels::default(),
            declared: Slots::default(),
            placement: Placement::default(),
            frame: Region { noun: "local memory", next: frame_start, end: map::LOCAL_BYTES },
            registers: Vec::new(),
            variables: Vec::new(),
            before: Vec::new(),
            insertions: Insertions::default(),
            bank: parameter::parameter_bank((0, 0)),
            open_registers: Vec::new(),
            open_scopes: vec![0],
            variables_before: vec![0],
            blocks_entered: 0,
            line: None,
            inlined_calls: Vec::new(),
            sites: InlineSites::default(),
        };
        builder.bank = parameter::parameter_bank(builder.module.header.version);
        builder.declare_module_registers();
        builder.module.scopes.open();
        builder
    }

    fn declare_module_registers(&mut self) {
        for variable in self.module.registers.clone() {
            let declared = self.register(&variable).map(|_| ());
            self.report(declared);
        }
        self.module.module_slots[self.id.index()] = self.declared;
    }

    /// The function's entry in the program.
    pub(super) fn function_mut(&mut self) -> &mut Function {
        &mut self.module.program.functions[self.id.index()]
    }

    /// The diagnostics of the module.
    pub(super) fn diags(&mut self) -> &mut Vec<Diagnostic> {
        &mut self.module.diags
    }

    /// Declares a name in the innermost scope.
    pub(super) fn declare(&mut self, name: Name<'a>, symbol: Symbol, count: Option<u32>) -> Result<(), Diagnostic> {
        self.module.scopes.declare(name, symbol, count)
    }

    /// Closes the scopes of a declaration without a body.
    pub(super) fn abandon(self) {
        self.module.scopes.close();
        self.module.scopes.close();
    }

    /// Generates the code of `body`, and completes the function's entry.
    pub(super) fn build(mut self, body: &Block<'a>, span: Span) {
        let (start, first_table) = (self.here(), TableId::new(self.module.program.tables.len()));
        self.labels = Labels::new(body, start);
        self.declare_labels();
        let locs = inline_sites::locs(body).into_iter();
        let of_body = locs.map(|loc| (loc, loc.function.map(|(label, offset)| self.module.inlined.function(self.id, label, offset))));
        self.sites = InlineSites::new(&of_body.collect::<Vec<_>>());
        self.statements(body);
        let end = body.end.unwrap_or(Span { start: span.end.saturating_sub(1), ..span });
        self.push(Inst { guard: None, op: Op::Control(ControlOp::Return { uniform: false }) }, end, None);
        self.close_scope();
        self.module.scopes.close();
        let insertions = std::mem::take(&mut self.insertions);
        self.insert(&insertions, start, first_table);
        let (shared, here) = (self.module.shared.static_bytes(self.id), self.here());
        let labels = self.labels.all.iter().map(|(name, pc)| (name.text.into(), *pc)).collect();
        let (placement, registers, frame) = (std::mem::take(&mut self.placement), std::mem::take(&mut self.registers), self.frame.next);
        let variables = std::mem::take(&mut self.variables);
        let function = self.function_mut();
        function.code = start.0..here.0;
        function.slots = placement.slots;
        function.placement = placement;
        function.registers = registers;
        function.variables = variables;
        function.labels = labels;
        function.frame_bytes = frame.next_multiple_of(u64::from(FRAME_ALIGN)) as u32;
        function.shared_bytes = shared as u32;
    }

    fn statements(&mut self, body: &Block<'a>) {
        let mut decoder = std::mem::take(&mut self.module.decoder);
        let mut reported = HashSet::new();
        let mut open = vec![body.statements.iter()];
        let mut follows_label = false;
        while let Some(statements) = open.last_mut() {
            let statement = statements.next();
            let is_labelled = std::mem::replace(&mut follows_label, matches!(statement, Some(Statement::Label(_))));
            match statement {
                Some(Statement::Block(inner)) => {
                    self.open_scope();
                    open.push(inner.statements.iter());
                }
                Some(Statement::Instruction(instruction)) => {
                    let mut errors = Vec::new();
                    let first_mention = self.module.program.mentions.len();
                    let inst =
                        decoder.decode(instruction, self, &mut errors).unwrap_or(Inst { guard: None, op: Op::Control(ControlOp::Trap) });
                    let statement = decoder.statement(instruction, &mut self.module.program, first_mention);
                    self.push(inst, instruction.span, statement);
                    // An unknown name is reported at its first use only.
                    errors.retain(|error| error.code != "name" || reported.insert(error.message.clone()));
                    self.module.diags.append(&mut errors);
                }
                Some(Statement::Label(name)) => {
                    if let Some(table) = statements.as_slice().first().filter(|next| labels::is_table(next)) {
                        let result = self.table(*name, table);
                        self.report(result);
                    }
                }
                Some(statement) => {
                    let result = if is_labelled { Ok(()) } else { labels::check_no_table(statement) };
                    let result = result.and_then(|()| self.declaration(statement));
                    self.report(result);
                }
                None => {
                    open.pop();
                    if !open.is_empty() {
                        self.close_scope();
                    }
                }
            }
        }
        self.module.decoder = decoder;
    }

    fn report(&mut self, result: Result<(), Diagnostic>) {
        self.module.diags.extend(result.err());
    }

    fn here(&self) -> Pc {
        Pc::new(self.module.program.code.len())
    }

    fn push(&mut self, inst: Inst, span: Span, statement: Option<Parts>) {
        if !self.before.is_empty() {
            let code = self.before.drain(..).map(|op| Inst { op, ..inst }).collect();
            self.insertions.add(Pc::new(self.module.program.code.len()), code);
        }
        let program = &mut self.module.program;
        program.code.push(inst);
        program.spans.push(span);
        program.statements.push(statement);
        program.source_lines.push(self.line);
        if !self.inlined_calls.is_empty() {
            program.inlined_calls.insert(Pc::new(program.code.len() - 1), self.inlined_calls.clone());
        }
    }

    fn open_scope(&mut self) {
        self.module.scopes.open();
        self.open_scopes.push(self.open_registers.len());
        self.variables_before.push(self.variables.len());
        self.blocks_entered += 1;
        self.declare_labels();
    }

    fn close_scope(&mut self) {
        let end = self.here().0;
        let start = self.open_scopes.pop().unwrap_or(0);
        for register in self.open_registers.drain(start..) {
            self.registers[register].scope.end = end;
        }
        let before = self.variables_before.pop().unwrap_or(0);
        for variable in self.variables[before..].iter_mut().filter(|variable| variable.scope.end == OPEN) {
            variable.scope.end = end;
        }
        self.module.scopes.close();
    }

    /// Declares the labels of the block that was entered last.
    fn declare_labels(&mut self) {
        for (name, pc) in self.labels.of_block(self.blocks_entered) {
            if let Err(error) = self.module.scopes.declare(name, Symbol::Label(pc), None) {
                self.module.diags.push(error);
            }
        }
    }

    fn declaration(&mut self, statement: &Statement<'a>) -> Result<(), Diagnostic> {
        match statement {
            Statement::Variable(variable) => self.variable(variable),
            Statement::Loc(loc) => self.set_line(loc),
            Statement::Pragma { span, .. } => self.module.header.require(PRAGMA_SINCE, 0, "'.pragma'", *span),
            Statement::Section { labels, span, text } => {
                self.module.section(if text.starts_with("@@") { "@@DWARF" } else { "" }, labels, *span);
                Ok(())
            }
            Statement::Label(_)
            | Statement::Instruction(_)
            | Statement::Block(_)
            | Statement::BranchTargets { .. }
            | Statement::CallTargets { .. }
            | Statement::CallPrototype { .. } => Ok(()),
        }
    }

    /// Handles `.loc`. For nested inlined calls, an earlier `.loc` has given the outer call site.
    fn set_line(&mut self, loc: &Loc<'a>) -> Result<(), Diagnostic> {
        let line = source_line((loc.file, loc.line, loc.column));
        let of_sites = self.sites.pass();
        let inlined_calls = if loc.inlined_at.is_some() { of_sites } else { self.module.inlined.calls_in_comment(loc.span) };
        if !self.counts_lines_of_asm(line, loc.span) {
            self.inlined_calls = inlined_calls;
            self.line = Some(line);
        }
        let result = match loc.inlined_at.map(source_line) {
            Some(site) if !self.module.loc_lines.contains(&site) => {
                let error = Diagnostic::error("directive", loc.span, "'inlined_at' names a place that no '.loc' before it does");
                Err(error.with_help("a '.loc' of the place that calls stands before those of the code that is put there"))
            }
            _ => Ok(()),
        };
        self.module.loc_lines.insert(line);
        result
    }

    /// True if a `.loc` is one that LLVM writes before each line of the text of an `asm` statement: it counts up from the line of the
    /// statement, so it denotes lines of that text and not of the source.
    fn counts_lines_of_asm(&self, line: SourceLine, span: Span) -> bool {
        let is_counted = |before: SourceLine| (before.file, before.column) == (line.file, line.column) && before.line <= line.line;
        self.line.is_some_and(is_counted) && self.module.program.inline_asm_at(span.source, span.start).is_some()
    }

    fn variable(&mut self, variable: &Variable<'a>) -> Result<(), Diagnostic> {
        if variable.linkage.is_some() {
            let error = Diagnostic::error("linkage", variable.span, "a variable of a function is not visible outside it");
            return Err(error.with_help("leave out the word before its space, or declare it at module scope"));
        }
        match variable.space.text {
            "reg" => {
                scope::check_reserved(variable.name)?;
                self.register(variable).map(|_| ())
            }
            "sreg" => {
                let error = Diagnostic::error("space", variable.space.span, "special registers are predefined and cannot be declared");
                Err(error.with_help("use '.reg'"))
            }
            "param" if self.module.header.version < parameter::PARAMETER_LIST => self.parameter_in_body(variable),
            "param" if self.module.header.version < PARAM_VARIABLES => {
                let error = Diagnostic::error("space", variable.space.span, "parameters are declared in the list after the kernel's name");
                Err(error.with_help("only before PTX 1.4 they stand in the body; '.param' variables for calls came with PTX 2.0"))
            }
            "local" | "param" => {
                let layout = variable::layout(variable)?;
                parameter::check_vector_in_param(variable, &layout)?;
                let (bytes, align) = (layout.bytes, layout.align);
                let id = self.local_variable(variable, layout)?;
                let offset = self.frame.allocate(bytes, align, variable.name.span)?;
                self.module.program.variables[id.index()].location.address = offset;
                Ok(())
            }
            _ => {
                let layout = variable::layout(variable)?;
                self.local_variable(variable, layout).map(|_| ())
            }
        }
    }

    fn local_variable(&mut self, variable: &Variable<'a>, layout: VariableLayout) -> Result<VarId, Diagnostic> {
        let id = self.module.variable(variable, layout, Some(self.id))?;
        self.variables.push(LocalVariable { id, scope: self.here().0..OPEN });
        Ok(id)
    }

    /// `.param` in the body of a kernel, as PTX before 1.4 declares parameters.
    fn parameter_in_body(&mut self, variable: &Variable<'a>) -> Result<(), Diagnostic> {
        if !self.is_kernel {
            let error = Diagnostic::error("space", variable.space.span, "parameters are declared in kernels only");
            return Err(error.with_help("before PTX 2.0 the parameters of a '.func' are registers in the list after its name"));
        }
        let param = parameter::kernel_parameter(&mut self.bank, variable)?;
        let index = self.function_mut().params.len();
        self.declare(variable.name, Symbol::Param(index), None)?;
        let end = parameter::kernel_end(&param).unwrap_or(0);
        let function = self.function_mut();
        function.param_bytes = function.param_bytes.max(end);
        function.params.push(param);
        Ok(())
    }

    /// Declares the registers of a `.reg` declaration; returns the first.
    fn register(&mut self, variable: &Variable<'a>) -> Result<NumberedRegister, Diagnostic> {
        let layout = variable::layout(variable)?;
        variable::check_available(variable, layout.ty, &self.module.header)?;
        let name = variable.name;
        if layout.is_array() {
            let error = Diagnostic::error("space", name.span, "registers cannot form an array");
            return Err(error.with_help(format!("'{}<N>' declares N registers; '.local' variables can be indexed", name.text)));
        }
        if variable.init.is_some() {
            return Err(Diagnostic::error("space", name.span, "a register cannot be initialized").with_help("write it with 'mov'"));
        }
        let count = match &variable.count {
            Some(count) => const_expr::evaluate_count(count)?,
            None => 1,
        };
        let first = self.numbers(&layout, count, name)?;
        let components = layout.components;
        let count = variable.count.is_some().then_some(count as u32);
        if !parameter::is_anonymous(name) {
            self.declare(name, Symbol::Register { first, components }, count)?;
            let start = self.here().0;
            self.open_registers.push(self.registers.len());
            let (bank, number) = (first.bank, first.number);
            self.registers.push(Register { name: name.text.into(), count, components, ty: layout.ty, bank, number, scope: start..start });
        }
        Ok(first)
    }

    /// The number of declared registers of a bank.
    fn declared_in(&mut self, bank: Bank) -> &mut u32 {
        match bank {
            Bank::Pred => &mut self.declared.pred,
            Bank::B32 => &mut self.declared.b32,
            Bank::B64 => &mut self.declared.b64,
        }
    }

    /// Allocates numbers for `count` registers; slots are assigned when code uses them.
    fn numbers(&mut self, layout: &VariableLayout, count: u64, name: Name<'_>) -> Result<NumberedRegister, Diagnostic> {
        let bank = layout.ty.bank();
        let next = self.declared_in(bank);
        let first = NumberedRegister { bank, number: *next, ty: layout.ty };
        let needed = count.saturating_mul(u64::from(layout.components * scope::slots_of(first)));
        match needed.checked_add(u64::from(*next)).filter(|total| *total <= REGISTERS_MAX) {
            Some(total) => *next = total as u32,
            None => {
                let message = format!("'{}<{count}>' declares too many registers", name.text);
                let help = format!("a function can have {REGISTERS_MAX} of up to 32 bits, and as many of 64 bits and as many predicates");
                return Err(Diagnostic::error("size", name.span, message).with_help(help));
            }
        }
        Ok(first)
    }

    /// Queues an operation to insert before the instruction that is being decoded.
    pub(super) fn queue_before(&mut self, op: Op) {
        self.before.push(op);
    }

    /// Declares a temporary register for the instruction that is being decoded.
    pub(super) fn add_temporary(&mut self, ty: ScalarType, name: String) -> RegisterRef {
        let bank = ty.bank();
        let next = self.declared_in(bank);
        let number = *next;
        *next += 1;
        let here = self.here().0;
        self.registers.push(Register { name: name.into(), count: None, components: 1, ty, bank, number, scope: here..here + 1 });
        self.register_ref(NumberedRegister { bank, number, ty })
    }

    /// The register with its slot, which is assigned at its first use.
    pub(super) fn register_ref(&mut self, declared: NumberedRegister) -> RegisterRef {
        let slot = self.placement.assign(declared.bank, declared.number, scope::slots_of(declared));
        RegisterRef { bank: declared.bank, slot, ty: declared.ty }
    }

    /// Declares a parameter of a device function: a register or a location in the frame.
    pub(super) fn function_parameter(&mut self, variable: &Variable<'a>) -> Result<Vec<Param>, Diagnostic> {
        let layout = variable::layout(variable)?;
        parameter::check_memory_parameter(variable, &layout)?;
        parameter::check_bare_align(variable)?;
        if let Some(kind) = layout.opaque {
            let message = format!("only kernels have parameters of type '.{}'", kind.word());
            return Err(Diagnostic::error("type", variable.ty.span, message).with_help("pass the handle's value as a '.u64'"));
        }
        match variable.space.text {
            "reg" if layout.ty == ScalarType::B128 => {
                let error = Diagnostic::error("type", variable.ty.span, "registers over 64 bits cannot be parameters here");
                Err(error.with_help("pass it in '.param' space"))
            }
            "reg" => {
                let first = self.register(variable)?;
                let component = |index: u32| NumberedRegister { number: first.number + index, ..first };
                let registers: Vec<RegisterRef> = (0..layout.components).map(|index| self.register_ref(component(index))).collect();
                let storages: Vec<ParamStorage> =
                    registers.iter().map(|register| ParamStorage::Register(register.bank, register.slot)).collect();
                parameter::register_params(variable, &layout, &storages)
            }
            "param" => {
                parameter::check_vector_in_param(variable, &layout)?;
                let offset = self.frame.allocate(layout.bytes, layout.align, variable.name.span)?;
                Ok(vec![parameter::param(variable, &layout, ParamStorage::Frame(offset as u32))?])
            }
            other => {
                let error = Diagnostic::error("space", variable.space.span, format!("a parameter cannot be '.{other}'"));
                Err(error.with_help("parameters of functions are '.reg' or '.param'"))
            }
        }
    }

    /// Declares the table that `label` names.
    fn table(&mut self, label: Name<'a>, statement: &Statement<'a>) -> Result<(), Diagnostic> {
        match statement {
            Statement::BranchTargets { targets, span } => {
                self.module.header.require(BRANCH_TARGETS_SINCE, 0, "'.branchtargets'", *span)?;
                let table = self.branch_targets(targets)?;
                self.declare(label, Symbol::BranchTable(table), None)
            }
            Statement::CallTargets { targets, span } => {
                self.module.header.require(INDIRECT_CALLS_SINCE, 0, "'.calltargets'", *span)?;
                let functions = targets.iter().map(|target| self.callable(*target)).collect::<Result<Vec<_>, _>>()?;
                self.declare(label, Symbol::CallTargets(self.call_targets.len()), None)?;
                self.call_targets.push(functions);
                Ok(())
            }
            Statement::CallPrototype { results, params, span, .. } => {
                self.module.header.require(INDIRECT_CALLS_SINCE, 0, "'.callprototype'", *span)?;
                let results = self.prototype_params(results)?;
                let params = self.prototype_params(params)?;
                self.declare(label, Symbol::Prototype(self.prototypes.len()), None)?;
                self.prototypes.push(Prototype { params, results });
                Ok(())
            }
            Statement::Label(_)
            | Statement::Instruction(_)
            | Statement::Variable(_)
            | Statement::Block(_)
            | Statement::Loc(_)
            | Statement::Pragma { .. }
            | Statement::Section { .. } => Ok(()),
        }
    }

    fn branch_targets(&mut self, targets: &[Name<'a>]) -> Result<TableId, Diagnostic> {
        let targets = targets.iter().map(|target| self.label(*target)).collect::<Result<Vec<_>, _>>()?;
        let table = self.module.program.tables.push(targets.into());
        Ok(table)
    }

    /// Parameters of a prototype; their storage is a placeholder, since each callee has its own.
    fn prototype_params(&mut self, variables: &[Variable<'a>]) -> Result<Vec<Param>, Diagnostic> {
        let read = |variable: &Variable<'a>| {
            let layout = variable::layout(variable)?;
            parameter::check_memory_parameter(variable, &layout)?;
            parameter::check_bare_align(variable)?;
            match variable.space.text {
                "param" => {
                    parameter::check_vector_in_param(variable, &layout)?;
                    Ok(vec![parameter::param(variable, &layout, ParamStorage::Frame(0))?])
                }
                _ => {
                    let storages = vec![ParamStorage::Register(Bank::B32, Slot::default()); layout.components as usize];
                    parameter::register_params(variable, &layout, &storages)
                }
            }
        };
        Ok(variables.iter().map(read).collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// The instruction after `label`.
    ///
    /// # Errors
    /// There is no such label in scope, or the name denotes something else.
    pub(super) fn label(&self, label: Name<'a>) -> Result<Pc, Diagnostic> {
        match self.module.scopes.find(label.text) {
            Some((Symbol::Label(pc), _)) => Ok(pc),
            Some((symbol, span)) => {
                let error = Diagnostic::error("type", label.span, format!("'{}' is {}, not a label", label.text, symbol.noun()));
                Err(error.with_label(span, "declared here"))
            }
            None => Err(self.unknown_label(label)),
        }
    }

    fn unknown_label(&self, label: Name<'a>) -> Diagnostic {
        if let Some((inner, _)) = self.labels.all.iter().find(|(name, _)| name.text == label.text) {
            let error = Diagnostic::error("name", label.span, format!("label '{}' is not visible here", label.text));
            return error
                .with_label(inner.span, "it is declared here, inside another block")
                .with_help("a branch can leave a block but not enter one");
        }
        let error = Diagnostic::error("name", label.span, format!("unknown label '{}'", label.text));
        super::suggest::with_nearest(error, label.text, self.labels.all.iter().map(|(name, _)| name.text))
    }
}
