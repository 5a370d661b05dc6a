//! The value that a function has returned, for a thread that stands after the call.

use super::eval_context::{EvalContext, Frame};
use super::names::scope::{RegisterLocation, register_bits};
use super::source_names::{ObjectPlace, SourceObject};
use super::value::{Scalar, Type, Value, number::little_endian};
use crate::debug::memory;
use crate::dwarf::TypeId;
use crate::isa::Space;
use crate::program::{CallArg, ControlOp, FuncId, Op, Param, Pc, SrcKind};

/// The result of `callee`, if the instruction before that of the selected frame has called it and it has one.
pub fn returned(context: &EvalContext<'_>, callee: FuncId) -> Option<Value> {
    let frame = context.frame().ok()?;
    let program = context.program();
    let call = Pc(frame.position().0.checked_sub(1)?);
    let Op::Control(ControlOp::Call { call, .. }) = program.code.get(call.index())?.op else { return None };
    let site = &program.calls[call];
    if site.target.direct().is_some_and(|called| called != callee) {
        return None;
    }
    let function = &program.functions[callee.index()];
    let (param, result) = (function.results.first()?, *site.results.first()?);
    let ty = result_type(context, callee);
    let info = context.debug_info();
    match (place(&frame, param, result)?, info, ty) {
        (place, Some(info), Some(ty)) => {
            let value = SourceObject { info, ty: Some(ty), place, bits: None }.value(context, Some(&frame)).ok()?;
            Some(Value::Source(value))
        }
        (ObjectPlace::Register(register), ..) => {
            register_bits(&frame, &register).map(|bits| Value::Scalar(Scalar::new(Type::Scalar(param.ty), bits)))
        }
        (ObjectPlace::Memory(space, address), ..) if !param.is_array => {
            let mut bytes = vec![0; param.ty.bytes() as usize];
            memory::read(context, space, address, &mut bytes).ok()?;
            Some(Value::Scalar(Scalar::new(Type::Scalar(param.ty), little_endian(&bytes))))
        }
        _ => None,
    }
}

/// Where the caller has the result.
fn place<'a>(frame: &Frame<'a>, param: &Param, result: CallArg) -> Option<ObjectPlace<'a>> {
    match result {
        CallArg::Frame { offset, .. } => Some(ObjectPlace::Memory(Space::Local, u64::from(frame.base.local) + u64::from(offset))),
        CallArg::Value(bank, src) => {
            let SrcKind::Reg(slot) = src.kind() else { return None };
            let width = param.ty.bits().div_ceil(64).max(1);
            Some(ObjectPlace::Register(RegisterLocation { ty: param.ty, bank, slot: Some(slot), width }))
        }
        CallArg::Pred(_) | CallArg::Ignored => None,
    }
}

/// The type of a function's result in the source.
fn result_type(context: &EvalContext<'_>, function: FuncId) -> Option<TypeId> {
    let info = context.debug_info()?;
    let start = Pc(context.program().functions[function.index()].code.start);
    info.function_at(start)?.result
}
