//! `info registers`: the registers of the selected frame, of the focused lane or of all lanes of the warp.

use crate::cfg::ControlFlow;
use crate::debug::eval_context::{EvalContext, Frame, ThreadError};
use crate::debug::expression::{Expression, register_bits};
use crate::debug::names::scope::{self, RegisterLocation};
use crate::debug::source_names;
use crate::debug::target::Target;
use crate::debug::value::{Format, Lanes, Scalar, Type, Value, ValueText};
use crate::flow::live_registers::LiveRegisters;
use crate::machine::LaneMask;
use crate::program::operands::RegisterOperand;
use crate::program::{Bank, FuncId, Program, Register, Slot};

/// A register with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterRow {
    /// Its name.
    pub name: String,
    /// Its declared type.
    pub ty: String,
    /// Its value.
    pub value: ValueText,
    /// The lanes of the value that have never written the register: its contents are undefined there.
    pub undefined: LaneMask,
}

/// The options for reading and formatting register values.
#[derive(Clone, Copy, Debug, Default)]
pub struct Values {
    /// True for the values of all lanes in the function instead of the focused lane's.
    pub all_lanes: bool,
    /// With `all_lanes`, true to omit lanes for which the register is undefined, unless it is undefined for all.
    pub defined: bool,
    /// The format of the values.
    pub format: Option<Format>,
}

/// The registers in scope that the code uses and whose name satisfies `filter`, in order of declaration; with `all_lanes`, the values of
/// every lane in the function.
///
/// # Errors
/// The thread is not resident.
pub fn registers(
    context: &EvalContext<'_>,
    filter: impl Fn(&str) -> bool,
    all_lanes: bool,
    format: Option<Format>,
) -> Result<Vec<RegisterRow>, ThreadError> {
    let names: Vec<String> = visible(context, &context.frame()?, filter).into_iter().map(|register| register.name).collect();
    register_rows(context, names.iter().map(String::as_str), Values { all_lanes, defined: false, format })
}

/// A register of the selected frame, without its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterState {
    /// Its name.
    pub name: String,
    /// True if some path reads it before it is written.
    pub is_live: bool,
    /// True if a lane has written it.
    pub is_defined: bool,
}

/// The registers in scope that the code uses and that satisfy `filter`: live ones, then the others that are defined, then undefined ones,
/// each in order of declaration. With `all_lanes` a register is defined if any lane in the function has written it.
///
/// # Errors
/// The thread is not resident.
pub fn register_states(
    context: &EvalContext<'_>,
    live: &LiveRegisters,
    filter: impl Fn(&str) -> bool,
    all_lanes: bool,
) -> Result<Vec<RegisterState>, ThreadError> {
    let frame = context.frame()?;
    let live_here = live.before(context.program(), frame.pc.index());
    let lanes = if all_lanes { context.lanes_in(&frame) } else { LaneMask::of((frame.lane % 32) as usize) };
    let state = |Visible { name, bank, slot, width }: Visible| {
        let operand = RegisterOperand { bank, slot, width };
        let first = slot.in_frame(frame.base.slot(bank));
        let written = frame.warp.registers.written.as_ref();
        let is_defined = written.is_none_or(|written| first.run(width).all(|slot| written.lanes(bank, slot).intersects(lanes)));
        RegisterState { name, is_live: is_defined && live.cells.of(operand).any(|cell| live_here.contains(cell)), is_defined }
    };
    let mut states: Vec<RegisterState> = visible(context, &frame, filter).into_iter().map(state).collect();
    states.sort_by_key(|state| (!state.is_live, !state.is_defined));
    Ok(states)
}

/// The registers of a function that are live before each of its instructions.
pub fn live_registers(program: &Program, function: FuncId) -> LiveRegisters {
    LiveRegisters::new(program, &program.functions[function.index()], &ControlFlow::new(program, function))
}

/// A register that is in scope.
struct Visible {
    name: String,
    bank: Bank,
    slot: Slot,
    width: u32,
}

/// The registers in scope that the code uses and whose name satisfies `filter`, in order of declaration.
fn visible(context: &EvalContext<'_>, frame: &Frame<'_>, filter: impl Fn(&str) -> bool) -> Vec<Visible> {
    let function = context.function(frame);
    let in_scope: Vec<_> = function.registers.iter().filter(|register| register.scope.contains(&frame.pc.0)).collect();
    let of = |declaration: &Register| {
        // A declaration in an inner scope may hide this register.
        let is_inside = |other: &&Register| other.scope.len() < declaration.scope.len();
        let has_inner = in_scope.iter().any(is_inside);
        let is_visible =
            |name: &str| !has_inner || scope::register(function, frame.pc, name).is_some_and(|place| is_of(declaration, &place));
        let named = declaration.components().filter_map(|(name, number)| {
            let slot = function.placement.slot(declaration.bank, number)?;
            (filter(&name) && is_visible(&name)).then_some(Visible { name, bank: declaration.bank, slot, width: declaration.width() })
        });
        named.collect::<Vec<_>>()
    };
    in_scope.iter().flat_map(|declaration| of(declaration)).collect()
}

/// The registers with these names, in their order; names without a register in scope are omitted.
///
/// # Errors
/// The thread is not resident.
pub fn register_rows<'n>(
    context: &EvalContext<'_>,
    names: impl Iterator<Item = &'n str>,
    options: Values,
) -> Result<Vec<RegisterRow>, ThreadError> {
    let frame = context.frame()?;
    let function = context.function(&frame);
    let lanes = context.lanes_in(&frame);
    let row = |name: &str| {
        let place = scope::register(function, frame.pc, name).filter(|place| place.slot.is_some())?;
        let place = scope::with_type_in_effect(context, frame.function, place);
        let shown = if options.all_lanes { lanes } else { LaneMask::of((frame.lane % 32) as usize) };
        let undefined = undefined(context, &frame, &place, shown);
        let with_value = if options.defined && undefined != shown { shown & !undefined } else { shown };
        let value = value(context, &frame, &place, options.all_lanes.then_some(with_value)).text(context, options.format);
        Some(RegisterRow { name: name.to_string(), ty: place.ty.word().to_string(), value, undefined })
    };
    Ok(names.filter_map(row).collect())
}

/// The value of a register in these lanes, or in the lane of the frame.
fn value(context: &EvalContext<'_>, frame: &Frame<'_>, place: &RegisterLocation, lanes: Option<LaneMask>) -> Value {
    let ty = Type::Scalar(place.ty);
    let Some(lanes) = lanes else { return Value::Scalar(Scalar::new(ty, register_bits(frame, place).unwrap_or(0))) };
    let mut values = Lanes { ty, mask: lanes, bits: [0; 32], undefined: LaneMask::NONE };
    for lane in lanes.iter() {
        let own = context.same_frame(frame, lane as u32);
        values.bits[lane] = own.and_then(|own| register_bits(&own, place)).unwrap_or(0);
    }
    Value::Lanes(Box::new(values))
}

/// The lanes of `lanes` that have not written all of a register.
fn undefined(context: &EvalContext<'_>, frame: &Frame<'_>, place: &RegisterLocation, lanes: LaneMask) -> LaneMask {
    let (Some(written), Some(slot)) = (&frame.warp.registers.written, place.slot) else { return LaneMask::NONE };
    let defined = |lane: &usize| {
        context.same_frame(frame, *lane as u32).is_some_and(|own| {
            let first = slot.in_frame(own.base.slot(place.bank));
            first.run(place.width).all(|slot| written.lanes(place.bank, slot).contains(*lane))
        })
    };
    lanes.filter(|lane| !defined(&lane))
}

/// If the expression `text` is a register, the lanes that have not written all of it; none for a variable of the source, which is in
/// another register where a lane stands elsewhere and has no value where that is not written.
pub fn undefined_lanes(context: &EvalContext<'_>, text: &str) -> LaneMask {
    let target = Expression::parse(text).ok().and_then(|expression| expression.target(context).ok());
    let (Some(Target::Register(target)), Ok(warp)) = (target, context.warp()) else { return LaneMask::NONE };
    if source_names::find(context, context.frame().ok().as_ref(), &target.name).is_some() {
        return LaneMask::NONE;
    }
    let Some(written) = &warp.registers.written else { return LaneMask::NONE };
    target.lanes.filter(|lane| !target.slot.run(target.width).all(|slot| written.lanes(target.bank, slot).contains(lane)))
}

fn is_of(declaration: &Register, place: &RegisterLocation) -> bool {
    (declaration.ty, declaration.bank) == (place.ty, place.bank)
}
