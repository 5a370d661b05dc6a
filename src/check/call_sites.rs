//! Where functions execute instructions of other ones: at the calls that lead there. A compiler for debuggers calls functions of the
//! toolkit in which atomics, fences and shuffles stand.

use std::collections::BTreeSet;

use crate::flow::reach::closure;
use crate::program::{FuncId, Pc, Program};

/// The places of two instructions in a function that executes both.
pub struct CommonPlaces {
    /// The function.
    pub function: FuncId,
    /// Of each instruction: itself, or the calls that lead to it.
    pub places: [Vec<Pc>; 2],
}

/// The places of two instructions in all functions that execute both.
pub fn common_places(program: &Program, pcs: [Pc; 2]) -> Vec<CommonPlaces> {
    let [one, other] = pcs.map(|pc| program.function_at(pc).map_or(BTreeSet::new(), |function| leading_to(program, function)));
    let places = |function: FuncId| CommonPlaces {
        function,
        places: [(pcs[0], &one), (pcs[1], &other)].map(|(pc, leading)| places(program, function, pc, leading)),
    };
    one.intersection(&other).map(|function| places(*function)).collect()
}

/// A function, and those whose calls lead to it.
fn leading_to(program: &Program, function: FuncId) -> BTreeSet<FuncId> {
    let count = program.functions.len();
    let callers = |callee: usize| (0..count).filter(move |caller| program.callees(*caller).any(|called| called == callee));
    closure(count, [function.index()], callers).order().iter().map(|function| FuncId::new(*function)).collect()
}

fn places(program: &Program, function: FuncId, pc: Pc, leading: &BTreeSet<FuncId>) -> Vec<Pc> {
    if program.function_at(pc) == Some(function) {
        return vec![pc];
    }
    program.direct_calls(function).filter(|(_, callee)| leading.contains(callee)).map(|(call, _)| call).collect()
}
