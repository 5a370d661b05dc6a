//! Opens an `asm` statement from command-line arguments as a program with its launch.

use std::sync::Arc;

use super::{Module, OpenError, Opened};
use crate::base::{Diagnostic, Sources};
use crate::debug::names::scope::register_of_slot;
use crate::inline_asm::{self, MODULE, Statement, Wrapped};
use crate::launch::{self, Overrides};
use crate::program::operands::writes;
use crate::program::{Pc, Program};
use crate::sema;

/// A statement that can be executed.
#[derive(Debug)]
pub struct OpenedAsm {
    /// The module made for it, and its launch.
    pub opened: Opened,
    /// The place of its first instruction in that module, `asm.ptx:14`; none if the kernel begins there.
    pub first: Option<String>,
    /// The texts that the warnings refer to.
    pub sources: Sources,
    /// The warnings.
    pub warnings: Vec<Diagnostic>,
}

/// A statement that was checked without errors, and the program made of it.
struct CheckedAsm {
    statement: Statement,
    wrapped: Wrapped,
    program: Arc<Program>,
}

/// Opens the statement in `args`: the whole statement, or its template and its operands. `values` are the values, in order, of the
/// operands whose expression does not give one.
///
/// # Errors
/// A statement that the compiler or the assembler refuses; values that are missing or do not fit.
pub fn open_asm(args: &[String], values: &[String]) -> Result<OpenedAsm, OpenError> {
    let mut sources = Sources::default();
    let (checked, warnings) = check(&mut sources, args, values)?;
    let Some(CheckedAsm { statement, wrapped, program }) = checked else {
        return Err(OpenError::Module(Module { program: None, sources, diagnostics: warnings }));
    };
    let lacking = statement.lacking(true);
    if !lacking.is_empty() {
        return Err(OpenError::Launch(sources, lacking));
    }
    let file = inline_asm::launch(&statement, &sources);
    let plan = launch::plan(&file, &program, MODULE, &Overrides::default());
    let plan = plan.map_err(|errors| OpenError::Launch(sources.clone(), errors))?;
    let begins = program.spans.iter().position(|span| span.start >= wrapped.start());
    let first = begins.filter(|index| *index > 0).map(|index| program.place(Pc::new(index)));
    Ok(OpenedAsm {
        opened: Opened { program, plan, made_up: None, empty_sibling: None, notes: Vec::new(), launch: None },
        first,
        sources,
        warnings,
    })
}

/// Checks the statement in `args` as compiler and assembler would.
///
/// # Errors
/// Values that do not fit, or missing values that its text depends on.
pub fn check_asm(args: &[String], values: &[String]) -> Result<Module, OpenError> {
    let mut sources = Sources::default();
    let (checked, diagnostics) = check(&mut sources, args, values)?;
    Ok(Module { program: checked.map(|checked| checked.program), sources, diagnostics })
}

/// The statement, if it has no errors, and all its diagnostics.
fn check(sources: &mut Sources, args: &[String], values: &[String]) -> Result<(Option<CheckedAsm>, Vec<Diagnostic>), OpenError> {
    let (statement, mut diagnostics) = inline_asm::read(sources, args);
    let Some(mut statement) = statement else { return Ok((None, diagnostics)) };
    let mut errors = statement.set_values(sources, values);
    errors.extend(statement.lacking(false));
    if !errors.is_empty() {
        return Err(OpenError::Launch(sources.clone(), errors));
    }
    let (wrapped, found) = inline_asm::wrap(&statement);
    diagnostics.extend(found);
    let Some(wrapped) = wrapped else { return Ok((None, diagnostics)) };
    let (program, found) = sema::load(sources, MODULE, wrapped.text.as_str());
    diagnostics.extend(found.into_iter().map(|diagnostic| wrapped.translate(diagnostic)));
    if let Some(program) = &program {
        diagnostics.extend(written_inputs(&wrapped, program));
    }
    diagnostics.sort_by_key(|diagnostic| diagnostic.span);
    Ok((program.map(|program| CheckedAsm { statement, wrapped, program }), diagnostics))
}

/// A warning for every input operand at the first instruction that writes it: the compiler goes on with the old value, or with the new one
/// in another variable that shares the register.
fn written_inputs(wrapped: &Wrapped, program: &Program) -> Vec<Diagnostic> {
    let mut warnings: Vec<(usize, Diagnostic)> = Vec::new();
    for (pc, (inst, span)) in program.code.iter().zip(&program.spans).enumerate().filter(|(_, (_, span))| wrapped.is_inside(**span)) {
        for register in writes(inst, program) {
            let name = program.functions.first().and_then(|kernel| register_of_slot(kernel, Pc::new(pc), register.bank, register.slot));
            let Some(number) = name.and_then(|name| wrapped.input(&name)) else { continue };
            if warnings.iter().all(|warning| warning.0 != number) {
                let message = format!("the input operand %{number} is written, and the compiler does not expect that");
                let warning = Diagnostic::warning("operand", wrapped.origin(*span), message);
                let help = "make it an output that is read as well, \"+r\"(x), or copy it to a register declared inside { }";
                warnings.push((number, warning.with_help(help)));
            }
        }
    }
    warnings.into_iter().map(|warning| warning.1).collect()
}
