//! Calls: targets, prototypes, and passing of arguments and results (PTX ISA, "call").

use super::body::{BodyBuilder, Prototype};
use super::decode_context::{DecodeContext, RegisterRef, Value};
use super::scope::Symbol;
use crate::base::{Diagnostic, Span};
use crate::isa::{ScalarType, Space, SystemFn, TypeKind};
use crate::program::{
    Bank, CallArg, CallId, CallSite, CallTarget, ControlOp, Dst, FuncId, MoveOp, Named, Op, Param, ParamStorage, PredSrc, Src, VarId, map,
    shown_name,
};
use crate::syntax::tree::{Expr, ExprKind, Name, Operand, OperandKind};

/// The operands of `call` by their roles.
struct Parts<'o, 'a> {
    results: &'o [Operand<'a>],
    target: &'o Expr<'a>,
    args: &'o [Operand<'a>],
    /// `.calltargets` or `.callprototype`.
    table: Option<&'o Expr<'a>>,
}

/// The operation of a `call` with these operands.
///
/// # Errors
/// Unknown or uncallable targets, arguments that do not fit the parameters.
pub(super) fn call<'a>(builder: &mut BodyBuilder<'_, 'a>, operands: &[Operand<'a>], uniform: bool, span: Span) -> Result<Op, Diagnostic> {
    let parts = split(operands, span)?;
    let (target, prototype, callee) = target(builder, &parts)?;
    for other in others(builder, &target) {
        arguments(builder, parts.results, &other.results, CallOperand::Result, &callee, span)?;
        arguments(builder, parts.args, &other.params, CallOperand::Argument, &callee, span)?;
    }
    let results = arguments(builder, parts.results, &prototype.results, CallOperand::Result, &callee, span)?;
    let args = arguments(builder, parts.args, &prototype.params, CallOperand::Argument, &callee, span)?;
    if let CallTarget::Direct(id) = target
        && !builder.module.index.functions[id.index()].has_body
    {
        let Some((f, _)) = SystemFn::from_name(&callee).filter(|(_, count)| args.len() == *count) else {
            let called = shown_name(&callee);
            let calls = &mut builder.module.undefined_calls;
            if !calls.iter().any(|(known, _)| *known == id) {
                calls.push((id, parts.target.span));
            }
            let why = format!("function '{called}' is called, but this module only declares it, and the device runtime has none like it");
            return Ok(Op::Unsupported { why: builder.unsupported(why) });
        };
        return Ok(Op::Control(ControlOp::SystemCall { f, call: add_call(builder, CallSite { target, args, results }) }));
    }
    Ok(Op::Control(ControlOp::Call { call: add_call(builder, CallSite { target, args, results }), uniform }))
}

/// The prototypes of all functions in the target list of an indirect call, except the first.
fn others(builder: &BodyBuilder<'_, '_>, target: &CallTarget) -> Vec<Prototype> {
    match target {
        CallTarget::Direct(_) => Vec::new(),
        CallTarget::Indirect { candidates, .. } => candidates.iter().skip(1).map(|id| prototype_of(builder, *id)).collect(),
    }
}

fn add_call(builder: &mut BodyBuilder<'_, '_>, site: CallSite) -> CallId {
    let calls = &mut builder.module.program.calls;
    calls.push(site);
    CallId::new(calls.len() - 1)
}

fn split<'o, 'a>(operands: &'o [Operand<'a>], span: Span) -> Result<Parts<'o, 'a>, Diagnostic> {
    let mut rest = operands.iter().peekable();
    let list = |operand: &'o Operand<'a>| if let OperandKind::List(list) = &operand.kind { list.as_slice() } else { &[] };
    let is_list = |operand: &&Operand<'a>| matches!(operand.kind, OperandKind::List(_));
    let results = rest.next_if(is_list).map_or(&[][..], list);
    let target = match rest.next() {
        Some(Operand { kind: OperandKind::Expr(target), .. }) => target,
        Some(other) => return Err(Diagnostic::error("operand", other.span, "a function or a register is called, not this")),
        None => return Err(Diagnostic::error("operand", span, "'call' names no function")),
    };
    let args = rest.next_if(is_list).map_or(&[][..], list);
    let table = match rest.next() {
        Some(Operand { kind: OperandKind::Expr(table), .. }) => Some(table),
        Some(other) => {
            return Err(Diagnostic::error(
                "operand",
                other.span,
                "the last operand of 'call' is a label of '.calltargets' or '.callprototype'",
            ));
        }
        None => None,
    };
    match rest.next() {
        Some(extra) => Err(Diagnostic::error("operand", extra.span, "'call' has too many operands")),
        None => Ok(Parts { results, target, args, table }),
    }
}

/// The target, with its parameters and its name for messages.
fn target<'a>(builder: &mut BodyBuilder<'_, 'a>, parts: &Parts<'_, 'a>) -> Result<(CallTarget, Prototype, String), Diagnostic> {
    let ExprKind::Name(text) = parts.target.kind else {
        return Err(Diagnostic::error("operand", parts.target.span, "a function or a register is called, not an expression"));
    };
    let name = Name { text, span: parts.target.span };
    if let Some((Symbol::Register { .. }, _)) = builder.module.scopes.find(text) {
        let Value::Register(register) = builder.resolve(parts.target)? else {
            return Err(Diagnostic::error("type", name.span, format!("'{text}' is a vector; an address is one register")));
        };
        return indirect(builder, name, register, parts.table);
    }
    let id = builder.callable(name)?;
    builder.mention(Named::Callee(id), name.span);
    if let Some(table) = parts.table {
        let error = Diagnostic::error("operand", table.span, "a call of a named function takes no list of targets and no prototype");
        return Err(error.with_help("leave it out"));
    }
    Ok((CallTarget::Direct(id), prototype_of(builder, id), text.to_string()))
}

fn prototype_of(builder: &BodyBuilder<'_, '_>, id: FuncId) -> Prototype {
    let function = &builder.module.program.functions[id.index()];
    Prototype { params: function.params.clone(), results: function.results.clone() }
}

fn indirect<'a>(
    builder: &BodyBuilder<'_, 'a>,
    name: Name<'a>,
    register: RegisterRef,
    table: Option<&Expr<'a>>,
) -> Result<(CallTarget, Prototype, String), Diagnostic> {
    if register.ty.kind() == TypeKind::Float {
        let message = format!("'{}' is a floating-point register and cannot hold an address", name.text);
        return Err(Diagnostic::error("type", name.span, message));
    }
    let wide = match register.bank {
        Bank::B64 => true,
        Bank::B32 if register.ty.bits() == 32 => false,
        Bank::B32 | Bank::Pred => {
            return Err(Diagnostic::error("type", name.span, format!("'{}' is too narrow to hold an address", name.text)));
        }
    };
    let help = "declare what it can call: 'label: .callprototype _ (..);' or 'label: .calltargets f, g;'";
    let Some(table) = table else {
        return Err(
            Diagnostic::error("operand", name.span, "a call through a register needs a prototype or a list of targets").with_help(help)
        );
    };
    let ExprKind::Name(label) = table.kind else {
        return Err(Diagnostic::error("operand", table.span, "a label of '.calltargets' or '.callprototype' stands here").with_help(help));
    };
    let (candidates, prototype) = match builder.module.scopes.find(label) {
        Some((Symbol::Prototype(index), _)) => (Vec::new(), builder.prototypes[index].clone()),
        Some((Symbol::CallTargets(index), _)) => {
            let candidates = builder.call_targets[index].clone();
            let prototype = candidates.first().map_or_else(Prototype::default, |first| prototype_of(builder, *first));
            (candidates, prototype)
        }
        Some((Symbol::Variable(id), _)) => {
            let candidates = functions_of(builder, id, table.span)?;
            let prototype = candidates.first().map_or_else(Prototype::default, |first| prototype_of(builder, *first));
            (candidates, prototype)
        }
        Some((symbol, span)) => {
            let message = format!("'{label}' is {}, not a call prototype or a list of call targets", symbol.noun());
            return Err(Diagnostic::error("type", table.span, message).with_label(span, "declared here").with_help(help));
        }
        None => return Err(builder.module.unknown_name(label, table.span, "call prototype")),
    };
    Ok((CallTarget::Indirect { address: Src::reg(register.slot), wide, candidates }, prototype, name.text.to_string()))
}

/// The functions whose addresses an array in `.global` or `.const` memory is initialized with: a call may name such an array as its list of
/// targets (PTX ISA, "call").
#[expect(clippy::wildcard_enum_match_arm, reason = "the other types hold no addresses")]
fn functions_of(builder: &BodyBuilder<'_, '_>, table: VarId, span: Span) -> Result<Vec<FuncId>, Diagnostic> {
    let program = &builder.module.program;
    let variable = &program.variables[table.index()];
    let help = "declare it '.global .u64 table[] = { f, g };'";
    let refused = |why: &str| Err(Diagnostic::error("operand", span, format!("'{}' {why}", variable.name)).with_help(help));
    let bytes = match variable.ty {
        ScalarType::U64 => 8,
        ScalarType::U32 => 4,
        ScalarType::U8 => program.address_bits as usize / 8,
        _ => return refused("does not hold addresses"),
    };
    if !matches!(variable.location.space, Space::Global | Space::Const) || !variable.is_array || variable.shape.len() != 1 {
        return refused("is not an array in '.global' or '.const' memory");
    }
    if variable.init.is_empty() || !variable.init.len().is_multiple_of(bytes) {
        return refused("has no initial addresses of functions");
    }
    let address = |chunk: &[u8]| chunk.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
    let low = |value: u64| value & (u64::MAX >> (64 - 8 * bytes.min(8)));
    let find = |wanted: u64| (0..program.functions.len()).find(|id| low(map::function_address(&builder.module.map, *id as u32)) == wanted);
    let mut functions = Vec::new();
    for chunk in variable.init.chunks(bytes) {
        match find(address(chunk)).map(FuncId::new) {
            Some(id) if !builder.module.index.functions[id.index()].is_kernel => functions.push(id),
            _ => return refused("holds what is not an address of a function"),
        }
    }
    Ok(functions)
}

/// The kind of a call operand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CallOperand {
    Argument,
    Result,
}

impl CallOperand {
    fn word(self) -> &'static str {
        match self {
            CallOperand::Argument => "argument",
            CallOperand::Result => "result",
        }
    }

    fn noun(self) -> &'static str {
        match self {
            CallOperand::Argument => "an argument",
            CallOperand::Result => "a result",
        }
    }
}

fn arguments<'a>(
    builder: &mut BodyBuilder<'_, 'a>,
    operands: &[Operand<'a>],
    params: &[Param],
    kind: CallOperand,
    callee: &str,
    span: Span,
) -> Result<Vec<CallArg>, Diagnostic> {
    let is_first = |param: &&Param| param.component.is_none_or(|(index, _)| index == 0);
    let count = params.iter().filter(is_first).count();
    if operands.len() != count {
        let operands_span = operands.first().map_or(span, |first| operands.iter().fold(first.span, |all, operand| all.to(operand.span)));
        let plural = if count == 1 { "" } else { "s" };
        let message = format!("'{callee}' has {count} {}{plural}, and {} are given", kind.word(), operands.len());
        return Err(Diagnostic::error("count", operands_span, message));
    }
    let mut passed = Vec::with_capacity(params.len());
    let mut rest = params;
    for operand in operands {
        let Some(first) = rest.first() else { break };
        let formal = first.component.map_or(1, |(_, count)| count as usize).min(rest.len());
        if let OperandKind::Expr(expr) = &operand.kind
            && let Some(registers) = vector_register(builder, expr)
        {
            passed.extend(vector_argument(builder, &registers, &rest[..formal], kind, operand.span)?);
        } else if formal == 1 {
            passed.push(argument(builder, operand, first, kind)?);
        } else if is_dropped(operand, kind) {
            passed.extend(std::iter::repeat_n(CallArg::Ignored, formal));
        } else {
            let message = format!("a vector register of {formal} '.{}' is needed here", first.ty.word());
            return Err(Diagnostic::error("type", operand.span, message).with_help("declare one and pass it as a whole"));
        }
        rest = &rest[formal..];
    }
    Ok(passed)
}

fn is_dropped(operand: &Operand<'_>, kind: CallOperand) -> bool {
    kind == CallOperand::Result && matches!(&operand.kind, OperandKind::Expr(Expr { kind: ExprKind::Name("_"), .. }))
}

/// The components of a vector register, if `expr` names one.
fn vector_register<'a>(builder: &mut BodyBuilder<'_, 'a>, expr: &Expr<'a>) -> Option<Vec<RegisterRef>> {
    let ExprKind::Name(name) = expr.kind else { return None };
    if !matches!(builder.module.scopes.find(name), Some((Symbol::Register { components: 2.., .. }, _))) {
        return None;
    }
    if let Ok(Value::Vector(registers)) = builder.resolve(expr) { Some(registers) } else { None }
}

/// A vector register can be passed for a parameter of the same size whose components are not smaller; for an argument, several components
/// may be packed into one.
fn vector_argument(
    builder: &mut BodyBuilder<'_, '_>,
    registers: &[RegisterRef],
    params: &[Param],
    kind: CallOperand,
    span: Span,
) -> Result<Vec<CallArg>, Diagnostic> {
    let (from, to) = (registers.first().map_or(0, |register| register.ty.bits()), params.first().map_or(0, |param| param.ty.bits()));
    let in_registers = params.iter().all(|param| matches!(param.storage, ParamStorage::Register(..)) && param.ty != ScalarType::Pred);
    let fits = from * registers.len() as u32 == to * params.len() as u32 && from <= to && in_registers;
    if !fits || from != to && kind == CallOperand::Result {
        let ty = |bits: u32, count: usize| format!("{count} times {bits} bits");
        let message = format!("a vector register of {} is passed for {}", ty(from, registers.len()), ty(to, params.len()));
        return Err(Diagnostic::error("type", span, message));
    }
    if from == to {
        return Ok(registers.iter().map(|register| CallArg::Value(register.bank, Src::reg(register.slot))).collect());
    }
    let packed = registers.chunks((to / from) as usize).map(|parts| {
        let ty = if to == 64 { ScalarType::B64 } else { ScalarType::B32 };
        let (packed, sources) = (builder.temporary(ty, "packed".to_string()), parts.iter().map(|part| Src::reg(part.slot)));
        let sources: Vec<Src> = sources.collect();
        let parts = builder.source_list(&sources);
        builder.insert_before(Op::Move(MoveOp::Pack { part: from as u8, parts, d: Dst(packed.slot) }));
        CallArg::Value(packed.bank, Src::reg(packed.slot))
    });
    Ok(packed.collect())
}

#[expect(clippy::wildcard_enum_match_arm, reason = "every other value is refused")]
fn argument<'a>(builder: &mut BodyBuilder<'_, 'a>, operand: &Operand<'a>, param: &Param, kind: CallOperand) -> Result<CallArg, Diagnostic> {
    let OperandKind::Expr(expr) = &operand.kind else {
        let message = format!("this cannot be passed as {}", kind.noun());
        return Err(Diagnostic::error("operand", operand.span, message).with_help("registers, constants and '.param' variables can"));
    };
    if let ExprKind::Name(name) = expr.kind
        && let Some((Symbol::Variable(id), _)) = builder.module.scopes.find(name)
    {
        let variable = &builder.module.program.variables[id.index()];
        if variable.location.space == Space::ParamFunc {
            let passed = Passed { ty: variable.ty, bytes: variable.bytes, align: variable.align, is_array: !variable.shape.is_empty() };
            check_memory(&passed, param, operand.span)?;
            return Ok(CallArg::Frame { offset: variable.location.address as u32, bytes: variable.bytes as u32 });
        }
    }
    match builder.resolve(expr)? {
        Value::Register(register) => register_argument(register, param, operand.span),
        Value::Sink if kind == CallOperand::Result => Ok(CallArg::Ignored),
        value @ (Value::Int { .. } | Value::Float(_) | Value::Float32Bits(_) | Value::Float64Bits(_)) if kind == CallOperand::Argument => {
            constant_argument(builder, &value, param, operand.span)
        }
        Value::Symbol { location, .. } if matches!(location.space, Space::Param | Space::ParamFunc) => {
            let error = Diagnostic::error("space", operand.span, "a parameter of this function cannot be passed on as it is");
            Err(error.with_help("load it, and pass the register"))
        }
        _ => {
            let message = format!("this cannot be passed as {}", kind.noun());
            Err(Diagnostic::error("operand", operand.span, message).with_help("registers, constants and '.param' variables can"))
        }
    }
}

/// A `.param` variable as the caller declared it.
struct Passed {
    ty: ScalarType,
    bytes: u64,
    align: u32,
    is_array: bool,
}

/// Checks a `.param` variable against the parameter it is passed for.
fn check_memory(passed: &Passed, param: &Param, span: Span) -> Result<(), Diagnostic> {
    let is_unsized = param.is_array && param.bytes == 0;
    let fits = if param.is_array && passed.is_array {
        passed.ty.bits() == param.ty.bits() && (is_unsized || passed.bytes == u64::from(param.bytes))
    } else {
        !param.is_array && !passed.is_array && passed.bytes == u64::from(param.bytes) && compatible(passed.ty, param.ty)
    };
    if !fits {
        let given = shape_text(passed.ty, passed.bytes, passed.is_array);
        let message = format!("{given} is passed for {}", param_text(param));
        return Err(Diagnostic::error("type", span, message));
    }
    if passed.align != param.align {
        let message = format!("passed with alignment {}, but parameter '{}' has alignment {}", passed.align, param.name, param.align);
        return Err(Diagnostic::error("type", span, message).with_help(format!("declare it with '.align {}'", param.align)));
    }
    Ok(())
}

fn shape_text(ty: ScalarType, bytes: u64, is_array: bool) -> String {
    if is_array { format!("'.{}' array of {bytes} bytes", ty.word()) } else { format!("'.{}'", ty.word()) }
}

fn param_text(param: &Param) -> String {
    let shape = shape_text(param.ty, u64::from(param.bytes), param.is_array);
    if matches!(&*param.name, "" | "_") { format!("a parameter of {shape}") } else { format!("parameter '{}' of {shape}", param.name) }
}

/// True if a value of type `passed` can be passed for `wanted`: of equal width, and not a float for an integer.
fn compatible(passed: ScalarType, wanted: ScalarType) -> bool {
    let is_untyped = |ty: ScalarType| ty.kind() == TypeKind::Untyped;
    let is_int = |ty: ScalarType| matches!(ty.kind(), TypeKind::Signed | TypeKind::Unsigned);
    passed.bits() == wanted.bits()
        && (passed.kind() == wanted.kind() || is_untyped(passed) || is_untyped(wanted) || is_int(passed) && is_int(wanted))
}

fn register_argument(register: RegisterRef, param: &Param, span: Span) -> Result<CallArg, Diagnostic> {
    if param.is_array || !compatible(register.ty, param.ty) || register.ty == ScalarType::B128 {
        let message = format!("a register of type '.{}' is passed for {}", register.ty.word(), param_text(param));
        return Err(Diagnostic::error("type", span, message));
    }
    Ok(match register.bank {
        Bank::Pred => CallArg::Pred(PredSrc::Reg { slot: register.slot, negate: false }),
        bank @ (Bank::B32 | Bank::B64) => CallArg::Value(bank, Src::reg(register.slot)),
    })
}

fn constant_argument(builder: &mut BodyBuilder<'_, '_>, value: &Value, param: &Param, span: Span) -> Result<CallArg, Diagnostic> {
    let bits = match (param.ty, value) {
        (ScalarType::Pred | ScalarType::B128, _) => None,
        (ty, Value::Int { value, .. }) if ty.kind() != TypeKind::Float => Some(*value),
        (ScalarType::F32 | ScalarType::B32, Value::Float32Bits(bits)) => Some(u64::from(*bits)),
        (ScalarType::F32 | ScalarType::B32, Value::Float(value)) => Some(u64::from(super::initializer::f32_bits(*value))),
        (ScalarType::F64 | ScalarType::B64, Value::Float(value)) => Some(value.to_bits()),
        (ScalarType::F64 | ScalarType::B64, Value::Float64Bits(bits)) => Some(*bits),
        _ => None,
    };
    let Some(bits) = bits.filter(|_| !param.is_array) else {
        return Err(Diagnostic::error("type", span, format!("this constant is passed for {}", param_text(param))));
    };
    let width = param.ty.bits().min(64);
    let bits = bits & (u64::MAX >> (64 - width));
    Ok(if width == 64 { CallArg::Value(Bank::B64, builder.const64(bits)) } else { CallArg::Value(Bank::B32, builder.const32(bits as u32)) })
}
