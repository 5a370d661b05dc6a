//! From the accesses to a variable to the type of its elements and the extents of its dimensions.

use super::accesses::Access;
use super::evidence::ElementUse;
use super::known::{ArrayType, Inferred, Known, UntypedReason};
use crate::isa::{ScalarType, TypeKind};
use crate::program::{Pc, Variable};

/// Dimensions at most.
const DIMENSIONS: usize = 4;

/// What one access takes elements for.
#[derive(Clone, Copy, PartialEq)]
enum Element {
    Float(ScalarType),
    Int(u32),
    /// Bits of any type, this many bytes at once.
    Bits(u32),
    /// It says nothing.
    Nothing,
}

/// What the accesses to `variable` show its elements to be.
pub fn infer(variable: &Variable, accesses: &[Access]) -> Known {
    match element(accesses).and_then(|(ty, signs)| Ok((ty, signs, fitting(variable, ty)?))) {
        Err(doubt) => Known::Bytes(doubt),
        Ok((ty, sign_shows, at)) => {
            let (shape, rows) = shape(variable, accesses, u64::from(ty.bytes()));
            Known::Typed(Inferred { ty: ArrayType { ty, shape }, sign_shows, rows, at: at.or(accesses.first().map(|access| access.pc)) })
        }
    }
}

/// The type on which all accesses agree, and whether its sign shows.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other elements are integers")]
fn element(accesses: &[Access]) -> Result<(ScalarType, bool), UntypedReason> {
    if let Some(object) = accesses.iter().find(|access| access.object.is_some()) {
        return of_objects(accesses, object);
    }
    let mut chosen: Option<(Element, Pc)> = None;
    let mut taken = ElementUse::default();
    for access in accesses {
        let element = element_of(access)?;
        if matches!(element, Element::Bits(_) | Element::Nothing) {
            continue;
        }
        let signed = access.word.filter(|ty| ty.kind() == TypeKind::Signed);
        taken = taken.and(access.taken).and(signed.map_or(ElementUse::default(), ElementUse::for_type));
        match chosen {
            None => chosen = Some((element, access.pc)),
            Some((known, _)) if known == element => {}
            Some((known, at)) => return Err(UntypedReason::Differ((at, words(known)), (access.pc, words(element)))),
        }
    }
    let (bits, pc) = narrowest(accesses)?;
    let Some((element, at)) = chosen else {
        // Bits that are masked and inverted are those of an unsigned integer.
        let bitwise = accesses.iter().any(|access| access.taken.bitwise);
        let ty = if bitwise { integer(bits, ElementUse { unsigned: true, ..ElementUse::default() }) } else { untyped(bits) };
        return ty.map(|ty| (ty, !bitwise)).ok_or(UntypedReason::Unused);
    };
    let size = size_of(element);
    if let Some(other) = other_member(accesses, u64::from(size), element) {
        return Err(UntypedReason::Differ((at, words(element)), (other.pc, words(Element::Bits(other.bytes)))));
    }
    if bits > 0 && !bits.is_multiple_of(size) {
        return Err(UntypedReason::Differ((at, words(element)), (pc, words(Element::Bits(bits)))));
    }
    Ok(match element {
        Element::Float(ty) => (ty, true),
        _ => (integer(size, taken).ok_or(UntypedReason::Unused)?, taken.signed || taken.unsigned),
    })
}

/// An access that says nothing, to a part of every row that no access with a type comes to: in a structure it may be a member of another
/// type, which is only copied.
fn other_member(accesses: &[Access], size: u64, element: Element) -> Option<&Access> {
    let strides = || accesses.iter().flat_map(|access| access.form.strides.iter().copied().chain([access.form.step]));
    let row = strides().filter(|stride| *stride > 0).min().unwrap_or(u64::MAX);
    let is_row = row > size && strides().all(|stride| stride.is_multiple_of(row));
    if !is_row || accesses.iter().any(|access| access.is_derived) {
        return None;
    }
    let parts = |access: &Access| {
        let first = access.form.offset.rem_euclid(i64::try_from(row).unwrap_or(i64::MAX)).unsigned_abs() / size;
        first..first + (u64::from(access.bytes) * u64::from(access.count) / size).max(1)
    };
    let is_typed = |access: &&Access| !matches!(element_of(access), Ok(Element::Bits(_) | Element::Nothing));
    let typed: Vec<_> = accesses.iter().filter(is_typed).map(parts).collect();
    // What matrices are loaded from has one type.
    if accesses.iter().any(|access| access.bytes == 0 && element_of(access) != Ok(Element::Nothing)) {
        return None;
    }
    let comes_to = |part: u64| typed.iter().any(|parts| parts.contains(&part));
    // The word of an integer is that of an integer, though floats are copied by it as well.
    let agrees = |access: &Access| matches!(element, Element::Int(_)) && access.word.is_some_and(|ty| ty.kind() == TypeKind::Unsigned);
    accesses.iter().find(|access| !is_typed(access) && !agrees(access) && parts(access).any(|part| !comes_to(part)))
}

/// An array of mbarriers is one of words of 64 bits.
fn of_objects(accesses: &[Access], object: &Access) -> Result<(ScalarType, bool), UntypedReason> {
    let is_same = |access: &&Access| access.object != object.object && access.bytes != object.bytes;
    match accesses.iter().find(is_same) {
        None if object.bytes == 8 => Ok((ScalarType::B64, false)),
        None => Err(UntypedReason::Object(object.pc, object.object.unwrap_or_default())),
        Some(other) => {
            let numbers = element_of(other).map_or("something else".to_string(), words);
            Err(UntypedReason::Differ((object.pc, object.object.unwrap_or_default().to_string()), (other.pc, numbers)))
        }
    }
}

fn element_of(access: &Access) -> Result<Element, UntypedReason> {
    if let Some(ty) = access.word.filter(|ty| ty.kind() == TypeKind::Float) {
        let single = ElementUse::for_type(ty).floats().next().unwrap_or(ty);
        return Ok(Element::Float(single));
    }
    let mut floats = access.taken.floats();
    let int = access.taken.int_bytes(access.bytes);
    match (floats.next(), floats.next()) {
        (Some(a), Some(b)) => Err(UntypedReason::Differ((access.pc, a.word().to_string()), (access.pc, b.word().to_string()))),
        (Some(float), None) if int > 0 => {
            Err(UntypedReason::Differ((access.pc, float.word().to_string()), (access.pc, words(Element::Int(int)))))
        }
        (Some(float), None) => Ok(Element::Float(float)),
        // A register may be wider than what is loaded into it.
        (None, _) if int > 0 => Ok(Element::Int(int)),
        (None, _) if access.word.is_some_and(|ty| ty.kind() == TypeKind::Signed) => Ok(Element::Int(access.bytes)),
        (None, _) if access.bytes == 0 => Ok(Element::Nothing),
        (None, _) => Ok(Element::Bits(access.bytes)),
    }
}

/// Bytes of the narrowest of the accesses that say how wide they are, of which all others are multiples; 0 if none does.
fn narrowest(accesses: &[Access]) -> Result<(u32, Pc), UntypedReason> {
    let wide = |access: &&Access| matches!(element_of(access), Ok(Element::Bits(_)));
    let Some(least) = accesses.iter().filter(wide).min_by_key(|access| access.bytes) else { return Ok((0, Pc(0))) };
    // Two halves may be copied as one word, but words that are copied byte by byte are no bytes.
    let differs = |access: &&Access| access.bytes != least.bytes && least.bytes == 1 || !access.bytes.is_multiple_of(least.bytes);
    match accesses.iter().filter(wide).find(differs) {
        Some(other) => {
            Err(UntypedReason::Differ((least.pc, words(Element::Bits(least.bytes))), (other.pc, words(Element::Bits(other.bytes)))))
        }
        None => Ok((least.bytes, least.pc)),
    }
}

/// That elements of a type fill the variable and stand where they may; the instruction that shows the type is not known here.
fn fitting(variable: &Variable, ty: ScalarType) -> Result<Option<Pc>, UntypedReason> {
    let size = u64::from(ty.bytes());
    let is_aligned = u64::from(variable.align).is_multiple_of(size) || variable.bytes > 0 && variable.location.address.is_multiple_of(size);
    if variable.bytes.is_multiple_of(size) && is_aligned { Ok(None) } else { Err(UntypedReason::Size(ty)) }
}

fn size_of(element: Element) -> u32 {
    match element {
        Element::Float(ty) => ty.bytes(),
        Element::Int(bytes) | Element::Bits(bytes) => bytes,
        Element::Nothing => 1,
    }
}

fn words(element: Element) -> String {
    match element {
        Element::Float(ty) => ty.word().to_string(),
        Element::Int(bytes) => format!("integers of {} bits", bytes * 8),
        Element::Bits(1) => "bytes".to_string(),
        Element::Bits(bytes) => format!("words of {} bits", bytes * 8),
        Element::Nothing => "bits".to_string(),
    }
}

fn untyped(bytes: u32) -> Option<ScalarType> {
    [ScalarType::B8, ScalarType::B16, ScalarType::B32, ScalarType::B64, ScalarType::B128].into_iter().find(|ty| ty.bytes() == bytes)
}

fn integer(bytes: u32, taken: ElementUse) -> Option<ScalarType> {
    // A byte without a sign is a character or a truth value.
    let is_signed = taken.signed || !taken.unsigned && bytes > 1;
    let types = match is_signed {
        true => [ScalarType::S8, ScalarType::S16, ScalarType::S32, ScalarType::S64],
        false => [ScalarType::U8, ScalarType::U16, ScalarType::U32, ScalarType::U64],
    };
    types.into_iter().find(|ty| ty.bytes() == bytes)
}

/// The extents, outermost first, and the bytes of the rows that they are from. Of dynamic shared memory the outermost is left out.
fn shape(variable: &Variable, accesses: &[Access], size: u64) -> (Vec<u64>, Vec<u64>) {
    let total = variable.bytes;
    let mut rows = rows(accesses, size);
    rows.retain(|row| total == 0 || *row < total && total.is_multiple_of(*row));
    rows.sort_unstable_by(|a, b| b.cmp(a));
    rows.dedup();
    let mut rows = without_blocks(&rows, accesses);
    // What is no part of a row is a step along it.
    let mut least = 0;
    rows.retain(|row| {
        let nests = least == 0 || u64::is_multiple_of(least, *row);
        least = if nests { *row } else { least };
        nests
    });
    // More dimensions than these are those of an index that is put together from bits.
    if rows.len() >= DIMENSIONS {
        rows.clear();
    }
    let mut shape = Vec::new();
    if total > 0 {
        shape.push(total / rows.first().copied().unwrap_or(size));
    }
    let inner = rows.iter().zip(rows.iter().skip(1).copied().chain([size]));
    shape.extend(inner.map(|(outer, inner)| outer / inner));
    (shape, rows)
}

/// Bytes of rows: what an index is multiplied with where a smaller one is for the column, and, of accesses that all step by rows, their
/// common stride.
fn rows(accesses: &[Access], size: u64) -> Vec<u64> {
    let whole = |stride: &u64| *stride > size && stride.is_multiple_of(size);
    let mut rows: Vec<u64> = Vec::new();
    for access in accesses.iter().filter(|access| !access.is_derived) {
        let strides: Vec<u64> = access.form.strides.iter().filter(|stride| stride.is_multiple_of(size)).copied().collect();
        let is_row = |pair: &&[u64]| whole(&pair[1]) && (pair[1] != 2 * pair[0] || all_step_by(accesses, pair[1]));
        rows.extend(strides.windows(2).filter(is_row).map(|pair| pair[1]));
    }
    rows.extend(common_row(accesses, size).filter(|row| whole(row)));
    rows
}

/// The rows that no access steps over. Where one access goes on by rows alone and another by blocks of rows as well, the blocks are no
/// dimension, and neither are blocks of columns.
fn without_blocks(rows: &[u64], accesses: &[Access]) -> Vec<u64> {
    let is_stepped_over = |row: u64, access: &Access| {
        let larger = rows.iter().rev().find(|larger| **larger > row);
        let strides = || access.form.strides.iter().copied();
        let has = strides().any(|stride| stride.is_multiple_of(row) && larger.is_none_or(|larger| !stride.is_multiple_of(*larger)));
        let by_rows = strides().any(|stride| stride < row && rows.contains(&stride));
        let by_columns = strides().any(|stride| stride < row) && strides().any(|stride| stride > row && rows.contains(&stride));
        !has && (by_rows || by_columns)
    };
    let is_dimension = |row: &u64| !accesses.iter().any(|access| is_stepped_over(*row, access));
    rows.iter().copied().filter(is_dimension).collect()
}

/// Whether every access with an index has one of rows of `row` bytes, or more: `2 * i + j` is no row and column where `i` is an index alone
/// elsewhere.
fn all_step_by(accesses: &[Access], row: u64) -> bool {
    accesses.iter().all(|access| access.form.strides.last().is_none_or(|stride| stride.is_multiple_of(row)))
}

/// The stride that divides every stride and step, if more than one element of such a row is accessed.
fn common_row(accesses: &[Access], size: u64) -> Option<u64> {
    let row = accesses.iter().flat_map(|access| access.form.strides.iter().copied()).min()?;
    let divides = |access: &Access| {
        let strides = access.form.strides.iter().all(|stride| stride.is_multiple_of(row));
        strides && access.form.step.is_multiple_of(row) && access.bytes > 0 && !access.is_derived
    };
    if row % size != 0 || !accesses.iter().all(divides) {
        return None;
    }
    let first = |access: &Access| access.form.offset.rem_euclid(i64::try_from(row).unwrap_or(i64::MAX)).unsigned_abs() / size;
    let last = |access: &Access| first(access) + (u64::from(access.bytes * access.count) / size).max(1) - 1;
    let least = accesses.iter().map(first).min()?;
    let most = accesses.iter().map(last).max()?;
    (most > least).then_some(row)
}
