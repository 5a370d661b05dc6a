//! The last value of a variable of the source that has none at the instruction where a thread stands.
//!
//! A compiler says at which instructions a variable has a place. The last value is that at the last instruction before the present at which
//! the thread had one: the session goes back there and reads it.

use std::collections::{BTreeMap, BTreeSet};

use super::backward::{Choice, EarlierInstruction};
use crate::debug::eval_context::EvalContext;
use crate::debug::expression::Expression;
use crate::debug::focus::Focus;
use crate::debug::names::scope;
use crate::debug::session::{InterruptCheck, Session};
use crate::debug::source_names::{self, ObjectPlace, SourceVariable};
use crate::debug::value::{Format, SourceValue, ValueText};
use crate::dwarf::{DebugInfo, Location, ScopeId};
use crate::machine::Tick;
use crate::program::Pc;

/// The last value of a variable, and when it had it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastKnown {
    /// The value.
    pub value: ValueText,
    /// The last tick at which the variable had a place.
    pub time: Tick,
}

impl LastKnown {
    /// The value with its time: `100 (last known, t=2)`.
    pub fn text(self) -> ValueText {
        match self.value {
            ValueText::Scalar(text) => ValueText::Scalar(format!("{text} (last known, t={})", self.time)),
            other => other,
        }
    }
}

/// A variable by its scope and its position in it.
struct Variables {
    scope: ScopeId,
    name: String,
}

impl Variables {
    /// The variable that has a place at `pc`: compilers write several of one name for parts of one.
    fn at<'a>(&self, info: &'a DebugInfo, pc: Pc) -> Option<SourceVariable<'a>> {
        let named = info.scopes[self.scope].variables.iter().filter(|variable| *variable.name == *self.name);
        let variable = named.into_iter().find(|variable| variable.location_at(pc).is_some())?;
        Some(SourceVariable { info, variable, scope: Some(self.scope) })
    }

    /// True if the variable had a place at `pc`, another than the register that is not written now.
    fn had_value(&self, info: &DebugInfo, pc: Pc, unwritten: Option<&Location>) -> bool {
        let location = self.at(info, pc).and_then(|variable| variable.variable.location_at(pc));
        location.is_some() && location != unwritten
    }
}

/// A variable that has no value at the present instruction.
struct WithoutValue {
    variables: Variables,
    /// The calls around its frame.
    depth: u32,
    /// Where it is: in a register that the thread has not written. None if it has no place.
    unwritten: Option<Location>,
}

impl Session {
    /// The value of an expression for the focused thread with the last values of its variables that have none now, and the oldest of their
    /// times; none if all have one, one had none before, or the user interrupts.
    pub fn last_known(&mut self, text: &str, format: Option<Format>, interrupt: &mut dyn InterruptCheck) -> Option<LastKnown> {
        // Of several lanes each would have a last value of its own.
        let expression = Expression::parse(text).ok().filter(|expression| !expression.root().names_lanes())?;
        let names = expression.names().into_iter().map(|name| name.split('.').next().unwrap_or(name).to_string());
        let (mut values, mut times) = (BTreeMap::new(), Vec::new());
        for name in names.collect::<BTreeSet<String>>() {
            if let Some((value, time)) = self.last_of(&name, interrupt) {
                values.insert(name, value.bytes);
                times.push(time);
            }
        }
        let time = times.into_iter().min()?;
        let context = self.eval_context();
        let context = EvalContext { last_values: Some(&values), ..context };
        let value = expression.evaluate(&context).ok()?;
        Some(LastKnown { value: expression.formatted(&value, format, &context), time })
    }

    /// The last value of the variable `name`, and its time; none if it has a value now, or had none before.
    fn last_of(&mut self, name: &str, interrupt: &mut dyn InterruptCheck) -> Option<(SourceValue, Tick)> {
        let WithoutValue { variables, depth, unwritten } = self.without_value(name)?;
        let (now, focus) = (self.time(), self.focus);
        let data = self.debug_data.clone();
        let info = data.get(self.program())?;
        let mut is_before_call = false;
        let chosen = self.choose_past(interrupt, |past: &EarlierInstruction| {
            let is_same = past.focus == Focus { frame: 0, ..focus };
            match past.depth.cmp(&depth) {
                std::cmp::Ordering::Less if is_same => {
                    is_before_call = true;
                    Choice::Stop
                }
                // Before a thread came into the scope, another variable had the name, if any.
                std::cmp::Ordering::Equal if is_same && !info.scopes[variables.scope].contains(past.pc) => {
                    is_before_call = true;
                    Choice::Stop
                }
                std::cmp::Ordering::Equal if is_same && variables.had_value(info, past.pc, unwritten.as_ref()) => Choice::Stop,
                _ => Choice::Continue,
            }
        });
        let time = chosen.ok().flatten().filter(|_| !is_before_call).map(|past| past.time);
        let value = time.and_then(|time| {
            self.return_to(time);
            self.focus = Focus { frame: 0, ..focus };
            self.value_at(&variables, depth)
        });
        self.return_to(now);
        self.focus = focus;
        Some((value?, time?))
    }

    /// The value at the present instruction, in the call of this depth.
    fn value_at(&self, variables: &Variables, depth: u32) -> Option<SourceValue> {
        let context = self.eval_context();
        let frame = context.frames().ok()?.into_iter().find(|frame| frame.depth == depth)?;
        let variable = variables.at(context.debug_info()?, frame.position())?;
        let object = variable.object(&context, Some(&frame)).ok()?;
        if let ObjectPlace::Register(register) = &object.place
            && !scope::is_written(&frame, register)
        {
            return None;
        }
        object.value(&context, Some(&frame)).ok()
    }

    /// The variable that `name` means for the focused thread, if it has no value at the present instruction.
    fn without_value(&self, name: &str) -> Option<WithoutValue> {
        let context = self.eval_context();
        let frame = context.frame().ok()?;
        // Of a tensor a register holds some elements.
        if context.tensors().is_some_and(|tensors| tensors.is_tensor(name)) {
            return None;
        }
        let found = source_names::find(&context, Some(&frame), name)?;
        let variables = Variables { scope: found.scope?, name: name.to_string() };
        let Some(here) = variables.at(found.info, frame.position()) else {
            let has_any = !found.variable.locations.is_empty();
            return has_any.then_some(WithoutValue { variables, depth: frame.depth, unwritten: None });
        };
        // Another register may have held it before.
        let location = here.variable.location_at(frame.position())?;
        if here.variable.locations.iter().all(|entry| entry.location == *location) {
            return None;
        }
        let ObjectPlace::Register(register) = here.object(&context, Some(&frame)).ok()?.place else { return None };
        let unwritten = if scope::is_written(&frame, &register) { None } else { Some(location.clone()) };
        unwritten.map(|location| WithoutValue { variables, depth: frame.depth, unwritten: Some(location) })
    }
}
