//! Decoding of an instruction of the syntax tree into an operation of the program, by the instruction table.
//!
//! Every instruction is decoded in the same steps: its opcode is matched to a form of the table, the form is checked against the module's
//! version and target, its operands are decoded as the form describes them (`operand`), and the form's family builds the operation from
//! them (`arithmetic`, `async_copy`, `comparison`, `movement`, `memory`, `atomic`, `control`, `image`, `matrix`, `mbarrier`, `parallel`,
//! `policy`, `tensor`, `video`, `wgmma`).

mod address_operand;
mod arithmetic;
mod async_copy;
mod atomic;
mod availability;
mod comparison;
mod constant;
mod control;
mod element;
mod family;
mod image;
mod matrix;
mod mbarrier;
mod memory;
mod movement;
mod name;
mod operand;
mod parallel;
mod policy;
mod space;
mod tensor;
mod vector;
mod video;
mod wgmma;

use std::collections::HashMap;

use super::decode_context::DecodeContext;
use crate::base::{Diagnostic, Span};
use crate::isa::{Decode, MatchError, Matched, match_opcode};
use crate::program::{Guard, Inst, Op, Opcode, OpcodeId, Program, Statement};
use crate::syntax::tree::{self, Instruction};

pub(super) use address_operand::OF_MODULE;
use family::{Decoded, Decoding};
use name::predicate;

/// Decodes the instructions of one module.
#[derive(Default)]
pub(super) struct Decoder<'a> {
    /// Opcodes decoded so far, by text and number of operands.
    ids: HashMap<(&'a str, usize), OpcodeId>,
    /// Opcodes that matched a form which the module's version and target have.
    opcodes: Vec<Opcode>,
}

impl<'a> Decoder<'a> {
    /// Decodes `instruction` with its guard; if it returns `None`, the errors are in `diags`.
    pub(super) fn decode(
        &mut self,
        instruction: &Instruction<'a>,
        cx: &mut dyn DecodeContext<'a>,
        diags: &mut Vec<Diagnostic>,
    ) -> Option<Inst> {
        let errors = diags.len();
        let guard = instruction.guard.as_ref().and_then(|guard| decode_guard(guard, cx).map_err(|error| diags.push(error)).ok());
        let matched = self.matched(instruction, cx).map_err(|error| diags.push(error)).ok()?;
        let op = decode_op(matched, instruction, cx, diags)?;
        (diags[errors..].iter().all(|diagnostic| !diagnostic.is_error())).then_some(Inst { guard, op })
    }

    /// The decoded opcodes, by their ids.
    pub(super) fn into_opcodes(self) -> Vec<Opcode> {
        self.opcodes
    }

    /// The parts of a decoded statement, whose mentions in `program` start at `first_mention`; adds the spans of its operands to `program`.
    /// `None` if its opcode is wrong.
    pub(super) fn statement(&self, instruction: &Instruction<'a>, program: &mut Program, first_mention: usize) -> Option<Statement> {
        let opcode = *self.ids.get(&(instruction.opcode.text, instruction.operands.len()))?;
        let operand_spans = &mut program.operand_spans;
        let first = operand_spans.len() as u32;
        operand_spans.extend(instruction.operands.iter().map(|operand| operand.span));
        Some(Statement {
            opcode,
            opcode_span: instruction.opcode.span,
            guard: instruction.guard.as_ref().map(|guard| guard.name.span),
            operands: first..operand_spans.len() as u32,
            mentions: first_mention as u32..program.mentions.len() as u32,
        })
    }

    /// The form of an opcode, matched once for each spelling.
    fn matched(&mut self, instruction: &Instruction<'a>, cx: &dyn DecodeContext<'a>) -> Result<&Matched, Diagnostic> {
        let key = (instruction.opcode.text, instruction.operands.len());
        let id = match self.ids.get(&key) {
            Some(id) => *id,
            None => {
                let matched = match_opcode(key.0, key.1).map_err(|error| match_diagnostic(error, instruction.opcode.span))?;
                availability::check(&matched, instruction, cx)?;
                let id = OpcodeId::new(self.opcodes.len());
                self.opcodes.push(Opcode::new(key.0, matched));
                self.ids.insert(key, id);
                id
            }
        };
        Ok(&self.opcodes[id.index()].matched)
    }
}

/// Decodes the operands and builds the operation.
fn decode_op<'a>(
    matched: &Matched,
    instruction: &Instruction<'a>,
    cx: &mut dyn DecodeContext<'a>,
    diags: &mut Vec<Diagnostic>,
) -> Option<Op> {
    let args = operand::read_all(matched, instruction, cx, diags)?;
    let mut decoding = Decoding { matched, instruction, args: &args, cx };
    decoding.op().map_err(|error| diags.push(error)).ok()
}

impl Decoding<'_, '_> {
    /// The operation of the form's family.
    fn op(&mut self) -> Decoded {
        use Decode as D;
        match self.matched.form.row.decode {
            D::Unsupported => self.unsupported(),
            D::Nop => Ok(Op::Nop),
            D::Integer(decode) => self.integer(decode),
            D::Bits(decode) => self.bits(decode),
            D::Float(decode) => self.float(decode),
            D::Video(decode) => self.video(decode),
            D::Compare(decode) => self.comparison(decode),
            D::Move(decode) => self.movement(decode),
            D::Cluster(decode) => self.cluster(decode),
            D::Policy(decode) => self.policy(decode),
            D::Memory(decode) => self.memory(decode),
            D::Atomic(decode) => self.atomic(decode),
            D::Image(decode) => self.image(decode),
            D::Tensor(decode) => self.tensor(decode),
            D::Async(decode) => self.async_copy(decode),
            D::Wgmma(decode) => self.wgmma(decode),
            D::Mbarrier(decode) => self.mbarrier(decode),
            D::Matrix(decode) => self.matrix(decode),
            D::Stack(decode) => self.stack(decode),
            D::Control(decode) => self.control(decode),
            D::Parallel(decode) => self.parallel(decode),
        }
    }
}

/// `@p` and `@!p`.
fn decode_guard<'a>(guard: &tree::Guard<'a>, cx: &mut dyn DecodeContext<'a>) -> Result<Guard, Diagnostic> {
    let register = predicate(guard.name, cx)?;
    Ok(Guard { slot: register.slot, negate: guard.negate })
}

/// The diagnostic for an error of the matcher, with its span in the file.
fn match_diagnostic(error: MatchError, opcode: Span) -> Diagnostic {
    let offset = |at: usize| opcode.start.saturating_add(u32::try_from(at).unwrap_or(u32::MAX)).min(opcode.end);
    let span = Span::new(opcode.source, offset(error.at.start), offset(error.at.end));
    Diagnostic { help: error.help, ..Diagnostic::error(error.code, span, error.message) }
}
