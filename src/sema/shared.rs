//! Where shared variables lie.
//!
//! A shared variable has one address for the whole module, because its address is a constant in code that several kernels may reach. Yet a
//! kernel pays only for what it reaches: variables that no kernel reaches together may overlap. So each is put, in order of declaration,
//! after everything that any kernel reaching it has so far.
//!
//! Dynamic shared memory (`.extern .shared x[]`) begins after a kernel's static variables. Code that several kernels reach needs one
//! answer, so these kernels agree on the furthest.

use std::collections::{BTreeSet, HashMap};

use super::index::{self, Index};
use super::variable::{self, VariableLayout, align_up};
use crate::base::{Diagnostic, Span};
use crate::flow::graph::Edges;
use crate::flow::reach::{Reached, closure};
use crate::flow::solver::{Analysis, Direction, Lattice, solve};
use crate::program::{FuncId, map};
use crate::syntax::tree::{Block, Expr, ExprKind, Init, Item, Module, Operand, OperandKind, Statement, Variable};

/// Static shared memory a kernel can declare.
const STATIC_BYTES: u64 = 227 << 10;

/// Alignment of dynamic shared memory at least.
const DYNAMIC_ALIGN: u32 = 16;

/// Addresses of shared variables.
#[derive(Debug, Default)]
pub(super) struct SharedLayout {
    /// By the place of the variable's name.
    addresses: HashMap<Span, u64>,
    /// End of static shared memory, by kernel.
    ends: HashMap<FuncId, u64>,
    /// Start of dynamic shared memory in the code of each function that uses it.
    dynamic: HashMap<FuncId, u64>,
}

impl SharedLayout {
    /// The address of the variable declared at `name`; of dynamic shared memory, the one that `function` sees.
    pub(super) fn address(&self, function: Option<FuncId>, name: Span) -> Option<u64> {
        self.addresses.get(&name).copied().or_else(|| self.dynamic_start(function?))
    }

    /// Where dynamic shared memory starts for the code of `function`.
    pub(super) fn dynamic_start(&self, function: FuncId) -> Option<u64> {
        self.dynamic.get(&function).copied()
    }

    /// Bytes of shared memory of a kernel before its dynamic part.
    pub(super) fn static_bytes(&self, kernel: FuncId) -> u64 {
        self.ends.get(&kernel).map_or(0, |end| end - map::SHARED_RESERVED)
    }

    /// Lays out the shared variables of `module`, and reports kernels that have too many.
    pub(super) fn new(module: &Module<'_>, index: &Index<'_>, diags: &mut Vec<Diagnostic>) -> Self {
        let variables = collect(module, index);
        if variables.is_empty() {
            return Self::default();
        }
        let mentions = Mentions::new(module, index, &variables);
        let kernels: Vec<FuncId> = (0..index.functions.len()).map(FuncId::new).filter(|id| index.functions[id.index()].is_kernel).collect();
        let reach: Vec<Reached> = kernels.iter().map(|kernel| mentions.reached_from(*kernel)).collect();
        let mut layout = Self::default();
        let ends = layout.place(&variables, &mentions.users(&reach, variables.len()), kernels.len());
        layout.place_dynamic(&variables, &mentions, &kernels, &reach, ends);
        layout.check(&kernels, index, diags);
        layout
    }

    /// Places the static variables, of which `users` says what kernels reach them; returns the end for every kernel.
    fn place(&mut self, variables: &[SharedVariable<'_>], users: &[BTreeSet<usize>], kernels: usize) -> Vec<u64> {
        let mut ends = vec![map::SHARED_RESERVED; kernels];
        for (variable, users) in variables.iter().zip(users).filter(|(variable, _)| !variable.layout.is_unsized) {
            let base = users.iter().map(|kernel| ends[*kernel]).max().unwrap_or(map::SHARED_RESERVED);
            let address = align_up(base, variable.layout.align).unwrap_or(u64::MAX);
            self.addresses.insert(variable.span, address);
            users.iter().for_each(|kernel| ends[*kernel] = address.saturating_add(variable.layout.bytes));
        }
        ends
    }

    fn place_dynamic(
        &mut self,
        variables: &[SharedVariable<'_>],
        mentions: &Mentions,
        kernels: &[FuncId],
        reach: &[Reached],
        mut ends: Vec<u64>,
    ) {
        let open: Vec<usize> = (0..variables.len()).filter(|number| variables[*number].layout.is_unsized).collect();
        let align = open.iter().map(|number| variables[*number].layout.align).max().unwrap_or(1).max(DYNAMIC_ALIGN);
        let users: Vec<usize> =
            (0..mentions.shared.len()).filter(|f| open.iter().any(|number| mentions.shared[*f].contains(number))).collect();
        for (kernel, end) in ends.iter_mut().enumerate() {
            if users.iter().any(|user| reach[kernel].contains(*user)) {
                *end = align_up(*end, align).unwrap_or(u64::MAX);
            }
        }
        // Kernels that reach the same user agree; one agreement can force another.
        let reached = |kernel: usize| users.iter().zip(kernels.len()..).filter(move |(user, _)| reach[kernel].contains(**user));
        let pairs = (0..kernels.len()).flat_map(|kernel| reached(kernel).map(move |(_, node)| (kernel as u32, node as u32)));
        let both_ways: Vec<(u32, u32)> = pairs.flat_map(|(kernel, user)| [(kernel, user), (user, kernel)]).collect();
        let agreed = solve(&Edges::new(kernels.len() + users.len(), &both_ways), &Agreement(ends));
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

/// The end of a kernel's static shared memory, or the furthest of several.
#[derive(Clone, Copy)]
struct End(u64);

impl Lattice for End {
    fn join(&mut self, other: &Self) -> bool {
        let grown = other.0 > self.0;
        self.0 = self.0.max(other.0);
        grown
    }
}

/// What the ends of the kernels are by themselves. Nodes are the kernels, and after them the users of dynamic shared memory; edges join
/// a kernel and the users that it reaches.
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

/// All shared variables in order. Declarations that are wrong are left out here and reported when they are analyzed.
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
                for statement in function.body.iter().flat_map(statements) {
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

/// All statements of a body, those of nested blocks included, in order.
fn statements<'m, 'a>(body: &'m Block<'a>) -> impl Iterator<Item = &'m Statement<'a>> {
    let mut open = vec![body.statements.iter()];
    std::iter::from_fn(move || {
        loop {
            match open.last_mut()?.next() {
                Some(Statement::Block(inner)) => open.push(inner.statements.iter()),
                Some(statement) => return Some(statement),
                None => {
                    open.pop();
                }
            }
        }
    })
}

/// What the code of each function mentions, by function number.
struct Mentions {
    /// Functions it calls or takes the address of.
    functions: Vec<BTreeSet<usize>>,
    /// Shared variables it uses or declares.
    shared: Vec<BTreeSet<usize>>,
    /// Whether it calls through a register, to anything whose address is taken.
    indirect: Vec<bool>,
    /// Functions whose address is taken somewhere.
    address_taken: BTreeSet<usize>,
}

impl Mentions {
    fn new(module: &Module<'_>, index: &Index<'_>, variables: &[SharedVariable<'_>]) -> Self {
        let count = index.functions.len();
        let mut mentions = Self {
            functions: vec![BTreeSet::new(); count],
            shared: vec![BTreeSet::new(); count],
            indirect: vec![false; count],
            address_taken: BTreeSet::new(),
        };
        let mut module_shared: HashMap<&str, Vec<usize>> = HashMap::new();
        for (number, variable) in variables.iter().enumerate() {
            match variable.function {
                Some(function) => {
                    mentions.shared[function.index()].insert(number);
                }
                None => module_shared.entry(variable.name).or_default().push(number),
            }
        }
        for (id, body) in index::bodies(module, index) {
            let function = id.index();
            for statement in statements(body) {
                mentions.indirect[function] |= matches!(statement, Statement::CallPrototype { .. });
                let is_call = matches!(statement, Statement::Instruction(instruction) if instruction.opcode.text.starts_with("call"));
                each_name(statement, &mut |name| {
                    if let Some(called) = index.number(name) {
                        mentions.functions[function].insert(called.index());
                        if !is_call {
                            mentions.address_taken.insert(called.index());
                        }
                    }
                    mentions.shared[function].extend(module_shared.get(name).into_iter().flatten());
                });
            }
        }
        for item in &module.items {
            if let Item::Variable(Variable { init: Some(init), .. }) = item {
                each_initial_name(init, &mut |name| mentions.address_taken.extend(index.number(name).map(FuncId::index)));
            }
        }
        mentions
    }

    /// Which functions can run when `kernel` runs.
    fn reached_from(&self, kernel: FuncId) -> Reached {
        closure(self.functions.len(), [kernel.index()], |function| {
            let any = self.address_taken.iter().filter(move |_| self.indirect[function]);
            self.functions[function].iter().chain(any).copied()
        })
    }

    /// The kernels that reach each of `count` shared variables, where `reach` says which functions each kernel reaches.
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

/// The name that an address expression starts from, registers left out.
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
