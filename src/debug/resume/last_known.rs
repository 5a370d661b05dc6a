//! The last value of a variable of the source that has none at the instruction where a thread stands.
//!
//! A compiler says of which instructions a register holds a variable, and registers of PTX keep their values: after the last of these
//! instructions the register still holds the last value, until it is written again. The value is known if the write that gave the
//! register its value was followed by an instruction of the range, and no other register that may hold the variable was written later.

use crate::debug::expression::Expression;
use crate::debug::session::{InterruptCheck, Session};
use crate::debug::source_names::{self, ObjectPlace, SourceObject};
use crate::debug::value::{Format, Value, ValueText};
use crate::dwarf::Operation;
use crate::machine::Tick;
use crate::program::Pc;

/// The last value of a variable, and when it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastKnown {
    /// The value.
    pub value: ValueText,
    /// The tick of the write.
    pub time: Tick,
}

impl Session {
    /// The last value of the variable `name` of the source for the focused thread; none if it has a value now, or the last one is not
    /// known.
    pub fn last_known(&mut self, name: &str, format: Option<Format>, interrupt: &mut dyn InterruptCheck) -> Option<LastKnown> {
        let registers = self.registers_of(name)?;
        let mut latest: Option<(Tick, Pc, &str)> = None;
        for register in &registers {
            let target = Expression::parse(register).ok()?.target(&self.eval_context()).ok()?;
            let history = self.last(&target, interrupt);
            if history.interrupted {
                return None;
            }
            let Some(write) = history.writes.last() else { continue };
            if latest.is_none_or(|(time, ..)| write.time > time) {
                latest = Some((write.time, write.pc, register));
            }
        }
        let (time, pc, register) = latest?;
        let context = self.eval_context();
        let frame = context.frame().ok()?;
        let variable = source_names::find(&context, Some(&frame), name)?;
        let next = Pc(pc.0.checked_add(1)?);
        let held = variable.variable.location_at(next)?;
        if held.registers().next() != Some(register) {
            return None;
        }
        let function = context.function(&frame);
        let location = crate::debug::names::scope::register(function, frame.pc, register)?;
        let object = SourceObject { info: variable.info, ty: variable.variable.ty, place: ObjectPlace::Register(location), bits: None };
        let value = Value::Source(object.value(&context, Some(&frame)).ok()?);
        Some(LastKnown { value: value.text(&context, format), time })
    }

    /// The registers that hold the variable `name` in some instructions, if it has no value at the present one and is never elsewhere.
    fn registers_of(&self, name: &str) -> Option<Vec<String>> {
        let context = self.eval_context();
        let frame = context.frame().ok()?;
        // Of a tensor a register holds some elements.
        if context.tensors().is_some_and(|tensors| tensors.is_tensor(name)) {
            return None;
        }
        let variable = source_names::find(&context, Some(&frame), name)?.variable;
        if variable.location_at(frame.pc).is_some() {
            return None;
        }
        let register = |location: &crate::dwarf::Location| match location.0.as_slice() {
            [Operation::Register(name)] => Some(name.to_string()),
            _ => None,
        };
        let mut registers = variable.locations.iter().map(|entry| register(&entry.location)).collect::<Option<Vec<String>>>()?;
        registers.sort();
        registers.dedup();
        Some(registers)
    }
}
