//! What a row of the instruction table says, and the notation it says it in.
//!
//! A row's `syntax` is written as the manual writes it:
//!
//! ```text
//! add[.rn|.rz|.rm|.rp][.ftz][.sat].f32            d, a, b
//! setp(.eq|.ne|.lt)[.ftz].f32                     p[|q], a, b
//! setp(.eq|.ne|.lt)(.and|.or|.xor)[.ftz].f32      p[|q], a, b, [!]c
//! mul.wide(.u16|.s16|.u32|.s32)                   d:2x, a, b
//! shl(.b16|.b32|.b64)                             d, a, b:u32
//! ld[.weak][.global|.shared](.b8|.u8|.b32)        d:+, [a]
//! ```
//!
//! `(..)` is a slot that must be filled by one of its words, `[..]` one that may be; a bare `.word` must stand there. Words may be
//! written in any order. Operands have the type of the instruction (its last type word) unless `:` says otherwise.

/// One form of an instruction: what may be written, since when, and what family it decodes to.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Notation of the opcode with its slots, and of the operands.
    pub syntax: &'static str,
    /// First PTX version that has it.
    pub ptx: (u8, u8),
    /// First target that has it, as the number after `sm_`.
    pub sm: u32,
    /// How `sema` decodes it.
    pub decode: Decode,
    /// One line of help: what it computes.
    pub help: &'static str,
}

/// The operation family a form decodes to, with the function that the form fixes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Decode {
    /// To be extended by sema's author.
    Unsupported,
}
