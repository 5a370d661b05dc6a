//! placeholder
use crate::program::Program;
pub fn frontier_order(program: &Program) -> Vec<u32> {
    (0..program.code.len() as u32).collect()
}
