//! `type`: the inferred types of arrays, and the reasons.

use crate::debug::arrays::{Inference, UntypedReason, id_of, is_byte_array, type_words, why};
use crate::debug::eval_context::{Buffer, EvalContext};
use crate::debug::names::scope;
use crate::isa::Space;
use crate::program::{VarId, Variable, shown_name};

/// The source of a variable's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum Origin {
    /// Its declaration.
    Declared,
    /// Its accesses.
    Accesses,
    /// The user.
    User,
}

/// The source of the type of `variable`.
pub fn origin(context: &EvalContext<'_>, variable: &Variable) -> Origin {
    let program = context.program();
    let Some((inferred, id)) = context.inferred.zip(id_of(program, variable)) else { return Origin::Declared };
    match (inferred.arrays.chosen(id), inferred.arrays.inference(program, id)) {
        (Some(_), _) => Origin::User,
        (None, Some(Inference::Typed(_))) => Origin::Accesses,
        (None, Some(Inference::Bytes(_)) | None) => Origin::Declared,
    }
}

/// The type of an array, with the reason.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ArrayTypeRow {
    /// The variable's name.
    pub name: String,
    /// Its type: `f32[16][16]`.
    pub ty: String,
    /// The reason for the type.
    pub why: String,
}

/// The row of one variable.
pub fn array_type(context: &EvalContext<'_>, id: VarId) -> ArrayTypeRow {
    row(context, &context.program().variables[id.index()])
}

/// The row of one buffer of the launch.
pub fn buffer_type(context: &EvalContext<'_>, buffer: &Buffer) -> ArrayTypeRow {
    let why = if chosen_buffer(context, buffer) { "as given" } else { "as the launch has it" };
    ArrayTypeRow { name: buffer.name.clone(), ty: type_words(buffer.ty, &buffer.shape, false), why: why.to_string() }
}

/// True if the user chose the type of the buffer.
fn chosen_buffer(context: &EvalContext<'_>, buffer: &Buffer) -> bool {
    let chosen = context.inferred.and_then(|inferred| inferred.arrays.chosen_buffers().get(&buffer.name));
    chosen.is_some_and(|chosen| chosen.ty == buffer.ty && chosen.shape == buffer.shape)
}

/// The rows of all arrays declared as bytes, except strings that no code accesses, and of all variables and buffers whose type the user
/// chose.
pub fn array_types(context: &EvalContext<'_>) -> Vec<ArrayTypeRow> {
    let program = context.program();
    let known = |variable: &Variable| {
        context.inferred.zip(id_of(program, variable)).and_then(|(inferred, id)| inferred.arrays.inference(program, id))
    };
    let is_text = |variable: &Variable| {
        let is_accessed = !matches!(known(variable), Some(Inference::Bytes(UntypedReason::Unused | UntypedReason::Escapes(_))));
        variable.align <= 1 && !is_accessed
    };
    let is_listed = |variable: &&Variable| is_byte_array(variable) && !is_text(variable) || origin(context, variable) == Origin::User;
    let variables = program.variables.iter().filter(is_listed).map(|variable| row(context, variable));
    let buffers = context.buffers.iter().filter(|buffer| chosen_buffer(context, buffer)).map(|buffer| buffer_type(context, buffer));
    variables.chain(buffers).collect()
}

/// The bytes of dynamic shared memory, if `variable` is the unsized array for it and there are any.
pub fn dynamic_bytes(context: &EvalContext<'_>, variable: &Variable) -> Option<u64> {
    let is_dynamic = variable.bytes == 0 && variable.location.space == Space::Shared;
    Some(scope::variable_bytes(context, variable)).filter(|bytes| is_dynamic && *bytes > 0)
}

fn row(context: &EvalContext<'_>, variable: &Variable) -> ArrayTypeRow {
    let program = context.program();
    let is_unsized = variable.bytes == 0 && variable.location.space == Space::Shared;
    let (ty, shape) = scope::variable_type(context, variable);
    let known = context.inferred.zip(id_of(program, variable)).and_then(|(inferred, id)| inferred.arrays.inference(program, id));
    let extents: &[u64] = if is_unsized { &[] } else { &variable.shape };
    let declared = format!(".align {} .{}", variable.align, type_words(variable.ty, extents, is_unsized));
    let why = match (origin(context, variable), known) {
        (Origin::User, Some(Inference::Typed(inferred))) => {
            format!("as given; from its accesses {}", type_words(inferred.ty.ty, &inferred.ty.shape, is_unsized))
        }
        (Origin::User, _) => format!("as given; declared as {declared}"),
        (Origin::Accesses | Origin::Declared, Some(known)) => why(program, known),
        (Origin::Accesses | Origin::Declared, None) => "as it is declared".to_string(),
    };
    ArrayTypeRow { name: shown_name(&variable.name).into_owned(), ty: type_words(ty, shape, is_unsized), why }
}
