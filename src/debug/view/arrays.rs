//! `type`: what arrays are taken for, and why.

use crate::debug::arrays::{Known, UntypedReason, id_of, is_of_bytes, type_words, why};
use crate::debug::names::scope;
use crate::debug::scene::Scene;
use crate::isa::Space;
use crate::program::{VarId, Variable, short_name};

/// Where the type of a variable is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum Origin {
    /// Its declaration.
    Declared,
    /// What accesses it.
    Accesses,
    /// The user.
    User,
}

/// Where the type of `variable` is from.
pub fn origin(scene: &Scene<'_>, variable: &Variable) -> Origin {
    let program = scene.program();
    let Some((inferred, id)) = scene.inferred.zip(id_of(program, variable)) else { return Origin::Declared };
    match (inferred.arrays.chosen(id), inferred.arrays.known(program, id)) {
        (Some(_), _) => Origin::User,
        (None, Some(Known::Typed(_))) => Origin::Accesses,
        (None, Some(Known::Bytes(_)) | None) => Origin::Declared,
    }
}

/// What an array is taken for.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ArrayTypeRow {
    /// The variable's name.
    pub name: String,
    /// Its type: `f32[16][16]`.
    pub ty: String,
    /// Why it is taken for that.
    pub why: String,
}

/// One variable: its type, and where that is from.
pub fn array_type(scene: &Scene<'_>, id: VarId) -> ArrayTypeRow {
    row(scene, &scene.program().variables[id.index()])
}

/// Every array that is declared by the byte, strings that no code accesses left out, and every variable whose type the user has given.
pub fn array_types(scene: &Scene<'_>) -> Vec<ArrayTypeRow> {
    let program = scene.program();
    let known =
        |variable: &Variable| scene.inferred.zip(id_of(program, variable)).and_then(|(inferred, id)| inferred.arrays.known(program, id));
    let is_text = |variable: &Variable| {
        let is_accessed = !matches!(known(variable), Some(Known::Bytes(UntypedReason::Unused | UntypedReason::Escapes(_))));
        variable.align <= 1 && !is_accessed
    };
    let wanted = |variable: &&Variable| is_of_bytes(variable) && !is_text(variable) || origin(scene, variable) == Origin::User;
    program.variables.iter().filter(wanted).map(|variable| row(scene, variable)).collect()
}

/// The bytes of dynamic shared memory, if `variable` stands for it and there is some.
pub fn dynamic_bytes(scene: &Scene<'_>, variable: &Variable) -> Option<u64> {
    let is_dynamic = variable.bytes == 0 && variable.location.space == Space::Shared;
    Some(scope::variable_bytes(scene, variable)).filter(|bytes| is_dynamic && *bytes > 0)
}

fn row(scene: &Scene<'_>, variable: &Variable) -> ArrayTypeRow {
    let program = scene.program();
    let is_open = variable.bytes == 0 && variable.location.space == Space::Shared;
    let (ty, shape) = scope::variable_type(scene, variable);
    let known = scene.inferred.zip(id_of(program, variable)).and_then(|(inferred, id)| inferred.arrays.known(program, id));
    let extents: &[u64] = if is_open { &[] } else { &variable.shape };
    let declared = format!(".align {} .{}", variable.align, type_words(variable.ty, extents, is_open));
    let why = match (origin(scene, variable), known) {
        (Origin::User, Some(Known::Typed(inferred))) => {
            format!("as given; from its accesses {}", type_words(inferred.ty.ty, &inferred.ty.shape, is_open))
        }
        (Origin::User, _) => format!("as given; declared as {declared}"),
        (Origin::Accesses | Origin::Declared, Some(known)) => why(program, known),
        (Origin::Accesses | Origin::Declared, None) => "as it is declared".to_string(),
    };
    ArrayTypeRow { name: short_name(&variable.name).to_string(), ty: type_words(ty, shape, is_open), why }
}
