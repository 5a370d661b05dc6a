//! Operands of random instructions: registers of the kernel, numbers that matter, and addresses in the thread's own memory.

use arbitrary::{Result, Unstructured};
use ptxdbg::isa::{OperandForm, RegisterCount, ScalarType, Space, TypeKind, agrees};

/// The registers of a kernel that its instructions may read and write: type, name, how many.
pub const REGISTERS: &[(ScalarType, &str, u32)] = &[
    (ScalarType::Pred, "%p", 4),
    (ScalarType::B8, "%b", 2),
    (ScalarType::B16, "%h", 4),
    (ScalarType::B32, "%r", 6),
    (ScalarType::B64, "%d", 5),
    (ScalarType::B128, "%q", 2),
    (ScalarType::U16, "%hu", 1),
    (ScalarType::S32, "%rs", 2),
    (ScalarType::U64, "%du", 2),
    (ScalarType::F16, "%hf", 2),
    (ScalarType::F16x2, "%rh", 2),
    (ScalarType::F32, "%rf", 4),
    (ScalarType::F64, "%df", 3),
];

/// Bytes of global memory that a thread has: what its instructions may touch, and after it its results.
pub const OWN_BYTES: u32 = 512;
/// Where in that the results begin.
pub const RESULTS: u32 = OWN_BYTES / 2;
/// Bytes of shared memory that a thread has.
pub const SHARED_BYTES: u32 = 32;
/// Bytes of local memory, of constants, and of the kernel's second parameter.
pub const SMALL_BYTES: u32 = 64;

/// Integers at which something changes, cut to the width they are used in.
const INTEGERS: &[u64] = &[
    0,
    1,
    2,
    5,
    31,
    32,
    33,
    63,
    64,
    127,
    128,
    255,
    0x7fff,
    0x8000,
    0xffff,
    0x0001_0000,
    0x00ff_ffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x1_0000_0000,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0xffff_ffff_ffff_fffe,
    u64::MAX,
];
/// Zeros, ones, subnormals, the largest numbers, infinities and NaNs of `.f64`.
const DOUBLES: &[u64] = &[
    0,
    1 << 63,
    0x3ff0_0000_0000_0000,
    0xbff0_0000_0000_0000,
    1,
    0x800f_ffff_ffff_ffff,
    0x0010_0000_0000_0000,
    0x7fef_ffff_ffff_ffff,
    0x7ff0_0000_0000_0000,
    0xfff0_0000_0000_0000,
    0x7ff8_0000_0000_0000,
    0xfff0_0000_0000_0001,
    0x41df_ffff_ffc0_0000,
    0x3fe0_0000_0000_0000,
];
/// The same of `.f32`.
const FLOATS: &[u32] = &[
    0,
    1 << 31,
    0x3f80_0000,
    0xbf80_0000,
    1,
    0x807f_ffff,
    0x0080_0000,
    0x7f7f_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0xff80_0001,
    0x4f00_0000,
    0x3f00_0000,
];
/// The same of two `.f16` or `.bf16`.
const HALVES: &[u32] = &[0x0000_8000, 0x3c00_bc00, 0x0001_83ff, 0x7bff_7c00, 0xfc00_7e00, 0x7f80_ff81, 0x3f80_0080];

/// Eight bytes at which something changes, whatever they are read as.
pub fn bits(u: &mut Unstructured<'_>) -> Result<u64> {
    let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
    Ok(match u.int_in_range(0..=4)? {
        0 => *u.choose(INTEGERS)?,
        1 => *u.choose(DOUBLES)?,
        2 => pair(*u.choose(FLOATS)?, *u.choose(FLOATS)?),
        3 => pair(*u.choose(HALVES)?, *u.choose(HALVES)?),
        _ => u.arbitrary()?,
    })
}

/// A register for a value of type `ty`, or one that may be wider.
pub fn register(u: &mut Unstructured<'_>, ty: ScalarType, wider: bool) -> Result<String> {
    // Older editions have no registers of 128 bits.
    let fit: Vec<_> = REGISTERS.iter().filter(|register| agrees(ty, register.0, wider) && register.0.bits() <= ty.bits().max(64)).collect();
    if fit.is_empty() {
        return Err(arbitrary::Error::IncorrectFormat);
    }
    let (_, name, count) = u.choose(&fit)?;
    Ok(format!("{name}{}", u.int_in_range(0..=count - 1)?))
}

/// A constant of type `ty`.
fn constant(u: &mut Unstructured<'_>, ty: ScalarType) -> Result<String> {
    Ok(match (ty.kind(), ty.bits()) {
        (TypeKind::Float, 32) => format!("0f{:08X}", u.choose(FLOATS)?),
        (TypeKind::Float, 64) => format!("0d{:016X}", u.choose(DOUBLES)?),
        (TypeKind::Signed, bits) => ((*u.choose(INTEGERS)? << (64 - bits)) as i64 >> (64 - bits)).to_string(),
        (_, bits) => format!("{:#x}", *u.choose(INTEGERS)? & u64::MAX >> (64 - bits)),
    })
}

/// A value that is read: a register, a constant where one may stand, or several registers in braces.
pub fn source(u: &mut Unstructured<'_>, form: &OperandForm, ty: ScalarType, elements: usize) -> Result<String> {
    let elements = count(form, elements)?;
    if !form.values.is_empty() {
        return Ok(u.choose(&form.values)?.to_string());
    }
    if form.constant_only {
        let (low, high) = form.range.unwrap_or((0, 255));
        return Ok(u.int_in_range(low..=high)?.to_string());
    }
    if elements > 1 {
        return braced(u, ty, form.wider, elements);
    }
    let takes_constants = !form.register_only && ty.kind() != TypeKind::Predicate && ty.bits() <= 64;
    if takes_constants && u.ratio(1, 4)? {
        return constant(u, ty);
    }
    let negated = if form.negatable && u.ratio(1, 3)? { "!" } else { "" };
    Ok(format!("{negated}{}", register(u, ty, form.wider)?))
}

/// A register that is written, `_`, several in braces, or a pair.
pub fn destination(u: &mut Unstructured<'_>, form: &OperandForm, ty: ScalarType, elements: usize) -> Result<String> {
    let sink = form.sink && u.ratio(1, 8)?;
    let first = match count(form, elements)? {
        _ if sink => "_".to_string(),
        1 => register(u, ty, form.wider)?,
        several => braced(u, ty, form.wider, several)?,
    };
    let paired = match form.pair {
        Some(required) => required || u.ratio(1, 2)?,
        None => false,
    };
    Ok(if paired { format!("{first}|{}", register(u, ScalarType::Pred, false)?) } else { first })
}

/// How many registers there are, of an instruction of `elements` elements; of tensors and matrices that is not known here.
fn count(form: &OperandForm, elements: usize) -> Result<usize> {
    match form.registers {
        None => Ok(if form.vector { elements } else { 1 }),
        Some(RegisterCount::Fixed(count)) => Ok(count),
        Some(RegisterCount::Dimensions(_) | RegisterCount::Columns(_)) => Err(arbitrary::Error::IncorrectFormat),
    }
}

/// `{a, b}`: registers of which no two are the same, as a vector that is written needs them.
pub fn braced(u: &mut Unstructured<'_>, ty: ScalarType, wider: bool, count: usize) -> Result<String> {
    let mut names: Vec<String> = Vec::new();
    for _ in 0..count * 4 {
        let name = register(u, ty, wider)?;
        if names.len() < count && !names.contains(&name) {
            names.push(name);
        }
    }
    names.resize(count, "_".to_string());
    Ok(format!("{{{}}}", names.join(", ")))
}

/// An address for `bytes` bytes in the space that the words of the opcode name: mostly the thread's own memory, rightly aligned.
pub fn address(u: &mut Unstructured<'_>, words: &[&str], bytes: u32) -> Result<String> {
    let space = words.iter().map(|word| word.split("::").next().unwrap_or(word)).find_map(|word| {
        let found = ["shared", "local", "const", "param"].into_iter().find(|space| *space == word);
        found.or((word == "global").then_some("global"))
    });
    let (base, room) = match space {
        Some("shared") => ("%mine", SHARED_BYTES),
        Some("local") => ("lm", SMALL_BYTES),
        Some("const") => ("cm", SMALL_BYTES),
        Some("param") => ("numbers", SMALL_BYTES),
        _ => ("%own", RESULTS),
    };
    let places = (room / bytes.max(1)).max(1);
    let offset = u.int_in_range(0..=places - 1)? * bytes;
    // Nothing ever stands at these: a fault is what must come, and where two threads meet the order of theirs would matter.
    Ok(match u.int_in_range(0..=23)? {
        0 => format!("[{base}+{}]", offset + 1),
        1 if base != "%own" => format!("[{base}+{}]", 1 << 20),
        1 => format!("[{base}-{}]", 1 << 30),
        2 if space.is_none_or(|space| space == "global" || space == "local") => {
            format!("[%wild{}+{offset}]", u.int_in_range(0..=1)?)
        }
        _ => format!("[{base}+{offset}]"),
    })
}

/// An address of 16 bytes that all threads of the block know, for copies and barrier objects: in global memory if the operand says so.
pub fn shared_address(u: &mut Unstructured<'_>, form: &OperandForm) -> Result<String> {
    let (base, places) = if form.space == Some(Space::Global) { ("%own", RESULTS / 16) } else { ("sm", 4) };
    Ok(format!("[{base}+{}]", u.int_in_range(0..=places - 1)? * 16))
}
