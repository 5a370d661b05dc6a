//! From tree to program.
mod decode;
mod operands;
