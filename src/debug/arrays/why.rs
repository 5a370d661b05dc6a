//! Types of arrays, and why they are what they are, in words.

use super::flow::Escape;
use super::known::{Inferred, Known, UntypedReason};
use crate::isa::{ScalarType, TypeKind};
use crate::program::{Pc, Program, short_name};

/// `f32[16][16]`; of dynamic shared memory, whose size the launch says, `f32[][16]`.
pub fn type_words(ty: ScalarType, shape: &[u64], is_open: bool) -> String {
    let extents: String = shape.iter().map(|extent| format!("[{extent}]")).collect();
    format!("{}{}{extents}", ty.word(), if is_open { "[]" } else { "" })
}

/// Why an array is taken for what it is taken for: what follows its type, without a stop.
pub fn why(program: &Program, known: &Known) -> String {
    match known {
        Known::Typed(inferred) => agreed(program, inferred),
        Known::Bytes(doubt) => doubted(program, doubt),
    }
}

fn agreed(program: &Program, inferred: &Inferred) -> String {
    let place = inferred.at.map_or(String::new(), |at| format!(", {} the first", instruction(program, at)));
    let rows = match inferred.rows.as_slice() {
        [] => String::new(),
        [row] => format!("; rows of {row} bytes"),
        rows => format!("; rows of {} bytes", rows.iter().map(u64::to_string).collect::<Vec<_>>().join(" and ")),
    };
    let is_whole = matches!(inferred.ty.ty.kind(), TypeKind::Signed | TypeKind::Unsigned);
    let sign = if is_whole && !inferred.sign_shows { "; whether the integers have a sign does not show" } else { "" };
    format!("from its accesses{place}{rows}{sign}")
}

fn doubted(program: &Program, doubt: &UntypedReason) -> String {
    match doubt {
        UntypedReason::Unused => "no instruction shows what its elements are".to_string(),
        UntypedReason::Differ((a, first), (b, second)) if a == b => {
            format!("its accesses disagree: {} is for {first} and for {second}", instruction(program, *a))
        }
        UntypedReason::Differ((a, first), (b, second)) => {
            format!("its accesses disagree: {} is for {first}, {} for {second}", instruction(program, *a), instruction(program, *b))
        }
        UntypedReason::Object(at, object) => format!("it holds {object}, {}", instruction(program, *at)),
        UntypedReason::Escapes(Escape::Stored(at)) => {
            format!("its address is stored, {}, and not followed further", instruction(program, *at))
        }
        UntypedReason::Escapes(Escape::Loaded(at)) => {
            format!("its address may be what is loaded from an array, {}, and is not followed further", instruction(program, *at))
        }
        UntypedReason::Escapes(Escape::Passed(at)) => {
            format!("its address is passed to a function whose code is not here, {}", instruction(program, *at))
        }
        UntypedReason::Escapes(Escape::Initial(holder)) => {
            let holder = short_name(&program.variables[holder.index()].name);
            format!("its address is the initial value of '{holder}', and not followed further")
        }
        UntypedReason::Size(ty) => format!("its accesses are for {}, and its size or its alignment is not", ty.word()),
    }
}

/// `st.shared.f32 at gemm.ptx:97`
fn instruction(program: &Program, at: Pc) -> String {
    format!("{} at {}", program.opcode(at).map_or("", |opcode| &opcode.text), program.place(at))
}
