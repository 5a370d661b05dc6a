//! The address size of a module without `.address_size` (PTX ISA, "PTX Module Directives: .address_size").
//!
//! The directive was introduced in PTX 2.3, and the manual says that the default is 32 bits. The vendor's assembler infers it from the
//! code, so that 64-bit modules of older compilers work: 32 bits if a 32-bit register is used as a global or generic address, otherwise 64.

use crate::isa::ScalarType;
use crate::syntax::tree::{Block, Expr, ExprKind, Function, Instruction, Item, Module, OperandKind, Statement, Variable};

/// Spaces whose addresses have 32 bits in every module.
const NARROW_SPACES: &[&str] = &["shared", "local", "const", "param"];

/// Infers 32 or 64 from the code of `module`.
pub(super) fn infer(module: &Module<'_>) -> u32 {
    let functions = module.items.iter().filter_map(|item| if let Item::Function(function) = item { Some(function) } else { None });
    if functions.into_iter().any(|function| has_narrow_address(function)) { 32 } else { 64 }
}

fn has_narrow_address(function: &Function<'_>) -> bool {
    let mut registers: Vec<&Variable<'_>> = function.results.iter().chain(&function.params).filter(|param| is_register(param)).collect();
    function.body.as_ref().is_some_and(|body| block_has_narrow_address(body, &mut registers))
}

/// True if an instruction of `block` has a narrow address; `registers` are those declared in enclosing scopes.
fn block_has_narrow_address<'t, 'a>(block: &'t Block<'a>, registers: &mut Vec<&'t Variable<'a>>) -> bool {
    let outer = registers.len();
    for statement in &block.statements {
        let found = match statement {
            Statement::Variable(variable) => {
                registers.extend(is_register(variable).then_some(&**variable));
                false
            }
            Statement::Block(inner) => block_has_narrow_address(inner, registers),
            Statement::Instruction(instruction) => uses_narrow_address(instruction, registers),
            Statement::Label(_)
            | Statement::Loc(_)
            | Statement::Pragma { .. }
            | Statement::BranchTargets { .. }
            | Statement::CallTargets { .. }
            | Statement::CallPrototype { .. }
            | Statement::Section { .. } => false,
        };
        if found {
            return true;
        }
    }
    registers.truncate(outer);
    false
}

fn is_register(variable: &Variable<'_>) -> bool {
    variable.space.text == "reg"
}

/// True if a global or generic address of `instruction` is in a 32-bit register.
fn uses_narrow_address(instruction: &Instruction<'_>, registers: &[&Variable<'_>]) -> bool {
    let names_narrow_space = |word: &str| NARROW_SPACES.iter().any(|space| word.trim().starts_with(space));
    if instruction.opcode.text.split('.').any(names_narrow_space) {
        return false;
    }
    instruction.operands.iter().any(|operand| {
        let OperandKind::Address(address) = &operand.kind else { return false };
        let declared = base_name(address).and_then(|name| registers.iter().rev().find(|register| declares(register, name)));
        declared.and_then(|register| ScalarType::from_word(register.ty.text)).is_some_and(|ty| ty.bits() == 32)
    })
}

/// The name in `name` or `name+8`.
fn base_name<'a>(address: &Expr<'a>) -> Option<&'a str> {
    match &address.kind {
        ExprKind::Name(name) => Some(name),
        ExprKind::Binary(_, base, _) => base_name(base),
        ExprKind::Int { .. }
        | ExprKind::Float(_)
        | ExprKind::Float32Bits(_)
        | ExprKind::Float64Bits(_)
        | ExprKind::Unary(..)
        | ExprKind::Conditional(..)
        | ExprKind::Cast { .. }
        | ExprKind::Generic(_)
        | ExprKind::Mask { .. } => None,
    }
}

/// True if the declaration `register` declares `name`: by that name, or as `%r<30>` for `%r7`.
fn declares(register: &Variable<'_>, name: &str) -> bool {
    let number = name.strip_prefix(register.name.text);
    number.is_some_and(|number| if register.count.is_some() { number.parse::<u32>().is_ok() } else { number.is_empty() })
}
