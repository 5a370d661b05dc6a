//! Layout of shared variables.
//!
//! A shared variable has one address in the module, because it is a constant in code that several kernels may reach. But a kernel only
//! needs space for the variables that it reaches: variables of different kernels may overlap. So each variable is allocated, in order of
//! declaration, after all earlier variables of all kernels that reach it.
//!
//! Dynamic shared memory (`.extern .shared x[]`) starts after a kernel's static variables. Kernels that reach the same function which uses
//! it have the same start, the maximum of theirs.

use std::collections::{BTreeSet, HashMap};

use super::index::{self, Index};
use super::variable::{self, VariableLayout, align_up};
use crate::base::{Diagnostic, Span};
use crate::flow::graph::Edges;
use crate::flow::reach::{Reached, closure};
use crate::flow::solver::{Analysis, Direction, Lattice, solve};
use crate::program::{FuncId, map};
use crate::syntax::tree::{Block, Expr, ExprKind, Init, Item, Module, Operand, OperandKind, Statement, Variable};

/// Most bytes of static shared memory of a kernel.
const STATIC_BYTES: u64 = 227 << 10;

/// Minimum alignment of dynamic shared memory.
const DYNAMIC_ALIGN: u32 = 16;

/// Addresses of shared variables.
#[derive(Debug, Default)]
pub(super) struct SharedLayout {
    /// By the span of the variable's name.
    addresses: HashMap<Span, u64>,
    /// The kernels that reach each variable, by the span of its name.
    kernels: HashMap<Span, Vec<FuncId>>,
    /// End of static shared memory, by kernel.
    ends: HashMap<FuncId, u64>,
    /// Start of dynamic shared memory in the code of each function that uses it.
    dynamic: HashMap<FuncId, u64>,
}

impl SharedLayout {
    /// The address of the variable declared at `name`; for dynamic shared memory that in `function`.
    pub(super) fn address(&self, function: Option<FuncId>, name: Span) -> Option<u64> {
        self.addresses.get(&name).copied().or_else(|| self.dynamic_start(function?))
    }

    /// The kernels that reach the variable declared at `name`.
    pub(super) fn kernels(&self, name: Span) -> Vec<FuncId> {
        self.kernels.get(&name).cloned().unwrap_or_default()
    }

    /// Start of dynamic shared memory in the code of `function`.
    pub(super) fn dynamic_start(&self, function: FuncId) -> Option<u64> {
        self.dynamic.get(&function).copied()
    }

    /// Bytes of shared memory of a kernel before its dynamic part.
    pub(super) fn static_bytes(&self, kernel: FuncId) -> u64 {
        self.ends.get(&kernel).map_or(0, |end| end - map::SHARED_RESERVED)
    }

    /// Lays out the shared variables of `module`, and reports kernels that exceed the limit.
    pub(super) fn new(module: &Module<'_>, index: &Index<'_>, diags: &mut Vec<Diagnostic>) -> Self {
        let variables = collect(module, index);
        if variables.is_empty() {
            return Self::default();
        }
        let references = References::new(module, index, &variables);
        let kernels: Vec<FuncId> = (0..index.functions.len()).map(FuncId::new).filter(|id| index.functions[id.index()].is_kernel).collect();
        let reach: Vec<Reached> = kernels.iter().map(|kernel| references.reached_from(*kernel)).collect();
        let mut layout = Self::default();
        let users = references.users(&reach, variables.len());
        let reaching = |users: &BTreeSet<usize>| users.iter().map(|kernel| kernels[*kernel]).collect();
        layout.kernels = variables.iter().zip(&users).map(|(variable, users)| (variable.span, reaching(users))).collect();
        let ends = layout.assign_static(&variables, &users, kernels.len());
        layout.assign_dynamic(&variables, &references, &kernels, &reach, ends);
        layout.check(&kernels, index, diags);
        layout
    }

    /// Assigns addresses to the static variables; `users` are the kernels that reach each. Returns the end for every kernel.
    fn assign_static(&mut self, variables: &[SharedVariable<'_>], users: &[BTreeSet<usize>], kernels: usize) -> Vec<u64> {
        let mut ends = vec![map::SHARED_RESERVED; kernels];
        for (variable, users) in variables.iter().zip(users).filter(|(variable, _)| !variable.layout.is_unsized) {
            let base = users.iter().map(|kernel| ends[*kernel]).max().unwrap_or(map::SHARED_RESERVED);
            let address = align_up(base, variable.layout.align).unwrap_or(u64::MAX);
            self.addresses.insert(variable.span, address);
            users.iter().for_each(|kernel| ends[*kernel] = address.saturating_add(variable.layout.bytes));
        }
        ends
    }

    fn assign_dynamic(
        &mut self,
        variables: &[SharedVariable<'_>],
        references: &References,
        kernels: &[FuncId],
        reach: &[Reached],
        mut ends: Vec<u64>,
    ) {
        let dynamic: Vec<usize> = (0..variables.len()).filter(|number| variables[*number].layout.is_unsized).collect();
        let align = dynamic.iter().map(|number| variables[*number].layout.align).max().unwrap_or(1).max(DYNAMIC_ALIGN);
        let users: Vec<usize> =
            (0..references.shared.len()).filter(|f| dynamic.iter().any(|number| references.shared[*f].contains(number))).collect();
        for (kernel, end) in ends.iter_mut().enumerate() {
            if users.iter().any(|user| reach[kernel].contains(*user)) {
                *end = align_up(*end, align).unwrap_or(u64::MAX);
            }
        }
        // Kernels that reach the same user have the same start, transitively.
        let reached = |kernel: usize| users.iter().zip(kernels.len()..).filter(move |(user, _)| reach[kernel].contains(**user));
        let pairs = (0..kernels.len()).flat_map(|kernel| reached(kernel).map(move |(_, node)| (kernel as u32, node as u32)));
        let edges: Vec<(u32, u32)> = pairs.flat_map(|(kernel, user)| [(kernel, user), (user, kernel)]).collect();
        let agreed = solve(&Edges::new(kernels.len() + users.len(), &edges), &Agreement(ends));
        self.ends = kernels.iter().copied().zip(agreed.iter().map(|end| end.0)).collect();
        self.dynamic = users.iter().map(|user| FuncId::new(*user)).zip(agreed[kernels.len()..].iter().map(|end| end.0)).collect();
    }

    fn check(&self, kernels: &[FuncId], index: &Index<'_>, diags: &mut Vec<Diagnostic>) {
        for kernel in kernels {
            let bytes = self.static_bytes(*kernel);
            if bytes > STATIC_BYTES {
                let name = index.functions[kernel.index()].name;
                let message = format!("kernel '{}' uses {bytes} bytes of static shared memory; {STATIC_BYTES} is the most", name.text);
                let error = Diagnostic::error("size", name.span, message);
                diags.push(error.with_help("declare '.extern .shared name[]' and give the size at launch"));
            }
        }
    }
}

/// The end of a kernel's static shared memory, or the maximum of several.
#[derive(Clone, Copy)]
struct End(u64);

impl Lattice for End {
    fn join(&mut self, other: &Self) -> bool {
        let grown = other.0 > self.0;
        self.0 = self.0.max(other.0);
        grown
    }
}

/// The initial ends of the kernels. Nodes are the kernels, then the functions that use dynamic shared memory; edges connect a kernel and
/// the users that it reaches.
struct Agreement(Vec<u64>);

impl Analysis for Agreement {
    type Fact = End;
    const DIRECTION: Direction = Direction::Forward;

    fn bottom(&self) -> End {
        End(map::SHARED_RESERVED)
    }

    fn start(&self, node: usize) -> Option<End> {
        self.0.get(node).map(|end| End(*end))
    }

    fn transfer(&self, _: usize, _: &mut End) {}
}

/// A shared variable of the module or of a function.
struct SharedVariable<'a> {
    name: &'a str,
    span: Span,
    layout: VariableLayout,
    /// The function it is declared in.
    function: Option<FuncId>,
}

/// All shared variables in order. Invalid declarations are skipped here and reported by the analysis.
fn collect<'a>(module: &Module<'a>, index: &Index<'a>) -> Vec<SharedVariable<'a>> {
    let mut variables = Vec::new();
    let mut add = |variable: &Variable<'a>, function| {
        if variable.space.text == "shared"
            && let Ok(layout) = variable::layout(variable)
        {
            variables.push(SharedVariable { name: variable.name.text, span: variable.name.span, layout, function });
        }
    };
    for item in &module.items {
        match item {
            Item::Variable(variable) => add(variable, None),
            Item::Function(function) => {
                let id = index.number(function.name.text);
                for statement in function.body.iter().flat_map(Block::flattened) {
                    if let Statement::Variable(variable) = statement {
                        add(variable, id);
                    }
                }
            }
            Item::Version { .. }
            | Item::Target { .. }
            | Item::AddressSize { .. }
            | Item::Alias { .. }
            | Item::File { .. }
            | Item::Loc(_)
            | Item::Pragma { .. }
            | Item::Section { .. } => {}
        }
    }
    variables
}

/// The functions and shared variables that the code of each function refers to, by function number.
struct References {
    /// Functions it calls or takes the address of.
    functions: Vec<BTreeSet<usize>>,
    /// Shared variables it uses or declares.
    shared: Vec<BTreeSet<usize>>,
    /// True if it has indirect calls, to any function whose address is taken.
    indirect: Vec<bool>,
    /// Functions whose address is taken somewhere.
    address_taken: BTreeSet<usize>,
}

impl References {
    fn new(module: &Module<'_>, index: &Index<'_>, variables: &[SharedVariable<'_>]) -> Self {
        let count = index.functions.len();
        let mut references = Self {
            functions: vec![BTreeSet::new(); count],
            shared: vec![BTreeSet::new(); count],
            indirect: vec![false; count],
            address_taken: BTreeSet::new(),
        };
        let mut module_shared: HashMap<&str, Vec<usize>> = HashMap::new();
        for (number, variable) in variables.iter().enumerate() {
            match variable.function {
                Some(function) => {
                    references.shared[function.index()].insert(number);
                }
                None => module_shared.entry(variable.name).or_default().push(number),
            }
        }
        for (id, body) in index::bodies(module, index) {
            let function = id.index();
            for statement in body.flattened() {
                references.indirect[function] |= matches!(statement, Statement::CallPrototype { .. });
                let is_call = matches!(statement, Statement::Instruction(instruction) if instruction.opcode.text.starts_with("call"));
                each_name(statement, &mut |name| {
                    if let Some(called) = index.number(name) {
                        references.functions[function].insert(called.index());
                        if !is_call {
                            references.address_taken.insert(called.index());
                        }
                    }
                    references.shared[function].extend(module_shared.get(name).into_iter().flatten());
                });
            }
        }
        for item in &module.items {
            if let Item::Variable(Variable { init: Some(init), .. }) = item {
                each_initial_name(init, &mut |name| references.address_taken.extend(index.number(name).map(FuncId::index)));
            }
        }
        references
    }

    /// The functions that `kernel` reaches in the call graph.
    fn reached_from(&self, kernel: FuncId) -> Reached {
        closure(self.functions.len(), [kernel.index()], |function| {
            let any = self.address_taken.iter().filter(move |_| self.indirect[function]);
            self.functions[function].iter().chain(any).copied()
        })
    }

    /// The kernels that reach each of `count` shared variables; `reach` has the functions that each kernel reaches.
    fn users(&self, reach: &[Reached], count: usize) -> Vec<BTreeSet<usize>> {
        let mut users = vec![BTreeSet::new(); count];
        for (kernel, reached) in reach.iter().enumerate() {
            for variable in reached.order().iter().flat_map(|function| &self.shared[*function]) {
                users[*variable].insert(kernel);
            }
        }
        users
    }
}

/// Calls `visit` with the names in a statement that could be functions or variables.
fn each_name<'a>(statement: &Statement<'a>, visit: &mut impl FnMut(&'a str)) {
    match statement {
        Statement::Instruction(instruction) => {
            let mut open: Vec<&Operand<'a>> = instruction.operands.iter().collect();
            while let Some(operand) = open.pop() {
                match &operand.kind {
                    OperandKind::Expr(expr) | OperandKind::Address(expr) => base_name(expr).into_iter().for_each(&mut *visit),
                    OperandKind::Index(name, _) => visit(name.text),
                    OperandKind::Not(_) => {}
                    OperandKind::Pair(left, right) => open.extend([&**left, &**right]),
                    OperandKind::Vector(parts) | OperandKind::AddressList(parts) | OperandKind::List(parts) => open.extend(parts),
                }
            }
        }
        Statement::CallTargets { targets, .. } => targets.iter().for_each(|target| visit(target.text)),
        Statement::Label(_)
        | Statement::Variable(_)
        | Statement::Block(_)
        | Statement::Loc(_)
        | Statement::Pragma { .. }
        | Statement::BranchTargets { .. }
        | Statement::CallPrototype { .. }
        | Statement::Section { .. } => {}
    }
}

fn each_initial_name<'a>(init: &Init<'a>, visit: &mut impl FnMut(&'a str)) {
    let mut open = vec![init];
    while let Some(init) = open.pop() {
        match init {
            Init::Value(expr) => base_name(expr).into_iter().for_each(&mut *visit),
            Init::Field { .. } => {}
            Init::List(values, _) => open.extend(values),
        }
    }
}

/// The base name of an address expression, unless it is a register.
fn base_name<'a>(expr: &Expr<'a>) -> Option<&'a str> {
    let mut expr = expr;
    loop {
        match &expr.kind {
            ExprKind::Name(name) => return (!name.starts_with('%')).then_some(*name),
            ExprKind::Binary(_, left, _) => expr = left,
            ExprKind::Generic(inner) | ExprKind::Mask { inner, .. } => expr = inner,
            ExprKind::Int { .. }
            | ExprKind::Float(_)
            | ExprKind::Float32Bits(_)
            | ExprKind::Float64Bits(_)
            | ExprKind::Unary(..)
            | ExprKind::Conditional(..)
            | ExprKind::Cast { .. } => return None,
        }
    }
}
