//! Infers the type of a variable's elements and the extents of its dimensions from its accesses.

use super::accesses::Access;
use super::evidence::ElementUse;
use super::inference::{ArrayType, Inference, Inferred, UntypedReason};
use crate::isa::{ScalarType, TypeKind};
use crate::program::{Pc, Variable};

/// Maximum number of dimensions.
const DIMENSIONS_MAX: usize = 4;

/// The element that one access shows.
#[derive(Clone, Copy, PartialEq)]
enum Element {
    Float(ScalarType),
    Int(u32),
    /// Bits of an unknown type, this many bytes.
    Bits(u32),
    /// Not known.
    Unknown,
}

/// The type that the accesses to `variable` show.
pub fn infer(variable: &Variable, accesses: &[Access]) -> Inference {
    match common_type(accesses).and_then(|(ty, is_sign_known)| Ok((ty, is_sign_known, check_fit(variable, ty)?))) {
        Err(reason) => Inference::Bytes(reason),
        Ok((ty, is_sign_known, at)) => {
            let (shape, rows) = shape(variable, accesses, u64::from(ty.bytes()));
            Inference::Typed(Inferred {
                ty: ArrayType { ty, shape },
                is_sign_known,
                rows,
                at: at.or(accesses.first().map(|access| access.pc)),
            })
        }
    }
}

/// The type on which all accesses agree, and whether its signedness is known.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other elements are integers")]
fn common_type(accesses: &[Access]) -> Result<(ScalarType, bool), UntypedReason> {
    if let Some(object) = accesses.iter().find(|access| access.object.is_some()) {
        return of_objects(accesses, object);
    }
    let mut chosen: Option<(Element, Pc)> = None;
    let mut usage = ElementUse::default();
    for access in accesses {
        let element = element_of(access)?;
        if matches!(element, Element::Bits(_) | Element::Unknown) {
            continue;
        }
        let signed = access.named_type.filter(|ty| ty.kind() == TypeKind::Signed);
        usage = usage.union(access.usage).union(signed.map_or(ElementUse::default(), ElementUse::for_type));
        match chosen {
            None => chosen = Some((element, access.pc)),
            Some((chosen_element, _)) if chosen_element == element => {}
            Some((chosen_element, at)) => {
                return Err(UntypedReason::Differ((at, describe(chosen_element)), (access.pc, describe(element))));
            }
        }
    }
    let (bits, pc) = narrowest(accesses)?;
    let Some((element, at)) = chosen else {
        // Bits that are masked and inverted are those of an unsigned integer.
        let bitwise = accesses.iter().any(|access| access.usage.bitwise);
        let ty = if bitwise { integer_type(bits, ElementUse { unsigned: true, ..ElementUse::default() }) } else { bits_type(bits) };
        return ty.map(|ty| (ty, !bitwise)).ok_or(UntypedReason::Unused);
    };
    let size = size_of(element);
    if let Some(other) = other_member(accesses, u64::from(size), element) {
        return Err(UntypedReason::Differ((at, describe(element)), (other.pc, describe(Element::Bits(other.bytes)))));
    }
    if bits > 0 && !bits.is_multiple_of(size) {
        return Err(UntypedReason::Differ((at, describe(element)), (pc, describe(Element::Bits(bits)))));
    }
    Ok(match element {
        Element::Float(ty) => (ty, true),
        _ => (integer_type(size, usage).ok_or(UntypedReason::Unused)?, usage.signed || usage.unsigned),
    })
}

/// An untyped access to a part of every row that no typed access reaches: it may be a member of a structure, of another type, that is only
/// copied.
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
    let is_typed = |access: &&Access| !matches!(element_of(access), Ok(Element::Bits(_) | Element::Unknown));
    let typed: Vec<_> = accesses.iter().filter(is_typed).map(parts).collect();
    // An array that matrices are loaded from has one type.
    if accesses.iter().any(|access| access.bytes == 0 && element_of(access) != Ok(Element::Unknown)) {
        return None;
    }
    let is_reached = |part: u64| typed.iter().any(|parts| parts.contains(&part));
    // An access of an integer type agrees with integers, though floats may be copied with it as well.
    let agrees =
        |access: &Access| matches!(element, Element::Int(_)) && access.named_type.is_some_and(|ty| ty.kind() == TypeKind::Unsigned);
    accesses.iter().find(|access| !is_typed(access) && !agrees(access) && parts(access).any(|part| !is_reached(part)))
}

/// The type of an array of mbarriers: 64-bit words.
fn of_objects(accesses: &[Access], object: &Access) -> Result<(ScalarType, bool), UntypedReason> {
    let differs = |access: &&Access| access.object != object.object && access.bytes != object.bytes;
    match accesses.iter().find(differs) {
        None if object.bytes == 8 => Ok((ScalarType::B64, false)),
        None => Err(UntypedReason::Object(object.pc, object.object.unwrap_or_default())),
        Some(other) => {
            let numbers = element_of(other).map_or("something else".to_string(), describe);
            Err(UntypedReason::Differ((object.pc, object.object.unwrap_or_default().to_string()), (other.pc, numbers)))
        }
    }
}

fn element_of(access: &Access) -> Result<Element, UntypedReason> {
    if let Some(ty) = access.named_type.filter(|ty| ty.kind() == TypeKind::Float) {
        let single = ElementUse::for_type(ty).floats().next().unwrap_or(ty);
        return Ok(Element::Float(single));
    }
    let mut floats = access.usage.floats();
    let int = access.usage.int_bytes(access.bytes);
    match (floats.next(), floats.next()) {
        (Some(a), Some(b)) => Err(UntypedReason::Differ((access.pc, a.word().to_string()), (access.pc, b.word().to_string()))),
        (Some(float), None) if int > 0 => {
            Err(UntypedReason::Differ((access.pc, float.word().to_string()), (access.pc, describe(Element::Int(int)))))
        }
        (Some(float), None) => Ok(Element::Float(float)),
        // A register may be wider than the value loaded into it.
        (None, _) if int > 0 => Ok(Element::Int(int)),
        (None, _) if access.named_type.is_some_and(|ty| ty.kind() == TypeKind::Signed) => Ok(Element::Int(access.bytes)),
        (None, _) if access.bytes == 0 => Ok(Element::Unknown),
        (None, _) => Ok(Element::Bits(access.bytes)),
    }
}

/// Bytes of the narrowest access with a known width, which must divide all other widths; 0 if no width is known.
fn narrowest(accesses: &[Access]) -> Result<(u32, Pc), UntypedReason> {
    let has_width = |access: &&Access| matches!(element_of(access), Ok(Element::Bits(_)));
    let Some(least) = accesses.iter().filter(has_width).min_by_key(|access| access.bytes) else { return Ok((0, Pc(0))) };
    // Two 16-bit elements may be copied as 32 bits, but elements that are copied byte by byte are not bytes.
    let differs = |access: &&Access| access.bytes != least.bytes && least.bytes == 1 || !access.bytes.is_multiple_of(least.bytes);
    match accesses.iter().filter(has_width).find(differs) {
        Some(other) => {
            Err(UntypedReason::Differ((least.pc, describe(Element::Bits(least.bytes))), (other.pc, describe(Element::Bits(other.bytes)))))
        }
        None => Ok((least.bytes, least.pc)),
    }
}

/// Checks that elements of a type fill the variable and are aligned; the instruction that shows the type is not known here.
fn check_fit(variable: &Variable, ty: ScalarType) -> Result<Option<Pc>, UntypedReason> {
    let size = u64::from(ty.bytes());
    let is_aligned = u64::from(variable.align).is_multiple_of(size) || variable.bytes > 0 && variable.location.address.is_multiple_of(size);
    if variable.bytes.is_multiple_of(size) && is_aligned { Ok(None) } else { Err(UntypedReason::Size(ty)) }
}

fn size_of(element: Element) -> u32 {
    match element {
        Element::Float(ty) => ty.bytes(),
        Element::Int(bytes) | Element::Bits(bytes) => bytes,
        Element::Unknown => 1,
    }
}

fn describe(element: Element) -> String {
    match element {
        Element::Float(ty) => ty.word().to_string(),
        Element::Int(bytes) => format!("integers of {} bits", bytes * 8),
        Element::Bits(1) => "bytes".to_string(),
        Element::Bits(bytes) => format!("words of {} bits", bytes * 8),
        Element::Unknown => "bits".to_string(),
    }
}

fn bits_type(bytes: u32) -> Option<ScalarType> {
    [ScalarType::B8, ScalarType::B16, ScalarType::B32, ScalarType::B64, ScalarType::B128].into_iter().find(|ty| ty.bytes() == bytes)
}

fn integer_type(bytes: u32, usage: ElementUse) -> Option<ScalarType> {
    // An unsigned byte is a character or a truth value.
    let is_signed = usage.signed || !usage.unsigned && bytes > 1;
    let types = match is_signed {
        true => [ScalarType::S8, ScalarType::S16, ScalarType::S32, ScalarType::S64],
        false => [ScalarType::U8, ScalarType::U16, ScalarType::U32, ScalarType::U64],
    };
    types.into_iter().find(|ty| ty.bytes() == bytes)
}

/// The extents, outermost first, and the bytes of the rows that they are computed from. For dynamic shared memory the outermost extent is
/// left out.
fn shape(variable: &Variable, accesses: &[Access], size: u64) -> (Vec<u64>, Vec<u64>) {
    let total = variable.bytes;
    let mut rows = rows(accesses, size);
    rows.retain(|row| total == 0 || *row < total && total.is_multiple_of(*row));
    rows.sort_unstable_by(|a, b| b.cmp(a));
    rows.dedup();
    let mut rows = without_blocks(&rows, accesses);
    // A stride that does not divide the larger rows is no dimension.
    let mut least = 0;
    rows.retain(|row| {
        let nests = least == 0 || u64::is_multiple_of(least, *row);
        least = if nests { *row } else { least };
        nests
    });
    // More dimensions than these come from an index that is assembled from bits.
    if rows.len() >= DIMENSIONS_MAX {
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

/// Bytes of rows: the stride of an index next to a smaller stride for the column, and the common stride of accesses that all step by rows.
fn rows(accesses: &[Access], size: u64) -> Vec<u64> {
    let is_row_of_elements = |stride: &u64| *stride > size && stride.is_multiple_of(size);
    let mut rows: Vec<u64> = Vec::new();
    for access in accesses.iter().filter(|access| !access.is_derived) {
        let strides: Vec<u64> = access.form.strides.iter().filter(|stride| stride.is_multiple_of(size)).copied().collect();
        let is_row = |pair: &&[u64]| is_row_of_elements(&pair[1]) && (pair[1] != 2 * pair[0] || all_step_by(accesses, pair[1]));
        rows.extend(strides.windows(2).filter(is_row).map(|pair| pair[1]));
    }
    rows.extend(common_row(accesses, size).filter(|row| is_row_of_elements(row)));
    rows
}

/// The rows that no access steps over. If one access steps by rows alone and another also by blocks of rows, the blocks are no dimension;
/// nor are blocks of columns.
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

/// True if the largest stride of every indexed access is a multiple of `row`: `2 * i + j` is no row and column if another access is indexed
/// by `i` alone.
fn all_step_by(accesses: &[Access], row: u64) -> bool {
    accesses.iter().all(|access| access.form.strides.last().is_none_or(|stride| stride.is_multiple_of(row)))
}

/// The stride that divides all strides and steps, if more than one element of such a row is accessed.
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
