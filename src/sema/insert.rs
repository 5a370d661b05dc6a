//! Insertion of operations that compute an operand of the instruction after them. They are inserted when all statements of a function are
//! decoded, since labels are numbered with one instruction per statement.

use super::body::BodyBuilder;
use crate::program::{ControlOp, Inst, Op, Pc, TableId};

/// The code to insert before instructions of a function, in order.
#[derive(Debug, Default)]
pub(super) struct Insertions {
    all: Vec<(Pc, Vec<Inst>)>,
}

impl Insertions {
    /// Adds `code` to insert before the instruction at `pc`, which must increase from call to call.
    pub(super) fn add(&mut self, pc: Pc, code: Vec<Inst>) {
        assert!(self.all.last().is_none_or(|last| last.0.0 < pc.0), "insertions come in order");
        self.all.push((pc, code));
    }

    /// The first pc, after all insertions, of the statement whose instruction is at `pc`.
    fn moved(&self, pc: Pc) -> Pc {
        let before = self.all.iter().take_while(|(at, _)| at.0 < pc.0);
        Pc(pc.0 + before.map(|(_, code)| code.len() as u32).sum::<u32>())
    }
}

impl BodyBuilder<'_, '_> {
    /// Applies `insertions` to the code of this function, which begins at `start`, and relocates all references to it; its branch tables
    /// are those from `first_table` on.
    pub(super) fn insert(&mut self, insertions: &Insertions, start: Pc, first_table: TableId) {
        if insertions.all.is_empty() {
            return;
        }
        let moved = |pc: Pc| insertions.moved(pc);
        let program = &mut self.module.program;
        for inst in &mut program.code[start.index()..] {
            if let Op::Control(ControlOp::Branch { target, .. }) = &mut inst.op {
                *target = moved(*target);
            }
        }
        for target in program.tables.iter_mut().skip(first_table.index()).flat_map(|table| table.iter_mut()) {
            *target = moved(*target);
        }
        let calls = program.inlined_calls.split_off(&start);
        for (first, code) in insertions.all.iter().rev() {
            let (at, count) = (first.index(), code.len());
            let (span, line) = (program.spans[at], program.source_lines[at]);
            let statement = program.statements[at].clone();
            program.code.splice(at..at, code.iter().copied());
            program.spans.splice(at..at, std::iter::repeat_n(span, count));
            program.statements.splice(at..at, std::iter::repeat_n(statement, count));
            program.source_lines.splice(at..at, std::iter::repeat_n(line, count));
        }
        for (pc, call) in calls {
            let inserted = insertions.all.iter().find(|(at, _)| *at == pc).map_or(0, |(_, code)| code.len() as u32);
            let first = moved(pc).0;
            (first..=first + inserted).for_each(|at| drop(program.inlined_calls.insert(Pc(at), call.clone())));
        }
        for (_, pc) in &mut self.labels.all {
            *pc = moved(*pc);
        }
        for register in &mut self.registers {
            register.scope = moved(Pc(register.scope.start)).0..moved(Pc(register.scope.end)).0;
        }
        for variable in &mut self.variables {
            variable.scope = moved(Pc(variable.scope.start)).0..moved(Pc(variable.scope.end)).0;
        }
    }
}
