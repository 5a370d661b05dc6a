//! Types of arrays, and the reasons for them, in words.

use super::flow::Escape;
use super::inference::{Inference, Inferred, UntypedReason};
use crate::isa::{ScalarType, TypeKind};
use crate::program::{Pc, Program, short_name};

/// `f32[16][16]`; of dynamic shared memory, whose size the launch gives, `f32[][16]`.
pub fn type_words(ty: ScalarType, shape: &[u64], is_unsized: bool) -> String {
    let extents: String = shape.iter().map(|extent| format!("[{extent}]")).collect();
    format!("{}{}{extents}", ty.word(), if is_unsized { "[]" } else { "" })
}

/// The reason for an array's type: the text after the type, without a full stop.
pub fn why(program: &Program, inference: &Inference) -> String {
    match inference {
        Inference::Typed(inferred) => agreed(program, inferred),
        Inference::Bytes(reason) => unknown(program, reason),
    }
}

fn agreed(program: &Program, inferred: &Inferred) -> String {
    let place = inferred.at.map_or(String::new(), |at| format!(", {} the first", instruction(program, at)));
    let rows = match inferred.rows.as_slice() {
        [] => String::new(),
        [row] => format!("; rows of {row} bytes"),
        rows => format!("; rows of {} bytes", rows.iter().map(u64::to_string).collect::<Vec<_>>().join(" and ")),
    };
    let is_integer = matches!(inferred.ty.ty.kind(), TypeKind::Signed | TypeKind::Unsigned);
    let sign = if is_integer && !inferred.is_sign_known { "; whether the integers have a sign does not show" } else { "" };
    format!("from its accesses{place}{rows}{sign}")
}

fn unknown(program: &Program, reason: &UntypedReason) -> String {
    match reason {
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
