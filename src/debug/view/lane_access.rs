//! The memory that each lane of the focused warp accesses with the instruction that it executes next, also those whose guard predicate is
//! false.

use std::collections::BTreeMap;

use super::contents::{MemoryObject, MemorySpace, memory_objects};
use super::list::current_pc;
use super::location::off_at;
use crate::base::ranges;
use crate::debug::eval_context::{EvalContext, Frame};
use crate::debug::expression::{Expression, register_bits};
use crate::debug::names::{scope, symbols};
use crate::debug::value::{Scalar, Value};
use crate::isa::Space;
use crate::machine::LaneMask;
use crate::program::{MatrixOp, Op, Pc};

/// Bytes of a row of `ldmatrix` and `stmatrix`, which the address of a lane names.
const MATRIX_ROW: u64 = 16;

/// An access of several lanes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneAccess {
    /// The instruction.
    pub pc: Pc,
    /// The space: never generic.
    pub space: Space,
    /// Bytes of each lane.
    pub bytes: u64,
    /// The lanes with their addresses, ascending.
    pub addresses: Vec<(u32, u64)>,
    /// Those of them whose guard predicate is false.
    pub off: LaneMask,
}

/// The access that the lanes of the focused group execute next; none if it accesses no memory by an address of theirs.
pub fn lane_access(context: &EvalContext<'_>) -> Option<LaneAccess> {
    let frame = context.frame().ok().filter(|_| context.focus.frame == 0)?;
    access_at(context, &frame, current_pc(context))
}

/// The access of the lanes of a group by the instruction at `pc`, with the registers as they are.
pub(super) fn access_at(context: &EvalContext<'_>, frame: &Frame<'_>, pc: Pc) -> Option<LaneAccess> {
    let context = &context.with_names_as_in_ptx();
    let program = context.program();
    let inst = program.code.get(pc.index())?;
    let texts = program.operand_texts(pc);
    let inner = texts.iter().find_map(|text| text.strip_prefix('[')?.strip_suffix(']'))?;
    let (bytes, lanes) = extent(context, pc, &texts)?;
    let of_lane = lane_addresses(context, frame, inner)?;
    let named = inst.op.access().map(|access| access.space);
    let is_shared = super::statement(program, pc).contains(".shared");
    let space = named.unwrap_or(if is_shared { Space::Shared } else { Space::Generic });
    let mut addresses: Vec<(u32, u64)> = Vec::new();
    let mut actual = None;
    for lane in (frame.group.mask & lanes).iter() {
        let Some(address) = of_lane(lane as u32) else { continue };
        let (resolved, address) = symbols::resolve(program, space, address);
        actual.get_or_insert(resolved);
        addresses.push((lane as u32, address));
    }
    Some(LaneAccess { pc, space: actual?, bytes, addresses, off: off_at(program, frame.warp, frame.group, pc) })
}

/// The bytes that each lane accesses, and the lanes that provide an address.
fn extent(context: &EvalContext<'_>, pc: Pc, texts: &[String]) -> Option<(u64, LaneMask)> {
    let program = context.program();
    if let Op::Matrix { matrix } = program.code[pc.index()].op {
        let (MatrixOp::LoadRows(_) | MatrixOp::StoreRows(_)) = &program.matrices[matrix] else { return None };
        let matrices = texts.iter().find(|text| !text.starts_with('[')).map_or(1, |text| text.split(',').count());
        return Some((MATRIX_ROW, LaneMask::lowest(u32::try_from(8 * matrices).unwrap_or(32).min(32))));
    }
    let opcode = program.opcode(pc)?;
    let statement = super::statement(program, pc);
    if statement.contains("cp.async.c") {
        let bytes = texts.get(2)?.parse().ok()?;
        return Some((bytes, LaneMask::ALL));
    }
    // Bulk copies and mbarriers have no address for each lane that is worth a look.
    program.code[pc.index()].op.access().filter(|_| !statement.contains("mbarrier"))?;
    let vector = texts.iter().find(|text| text.starts_with('{')).map_or(1, |text| text.split(',').count() as u64);
    let ty = opcode.matched.types.last()?;
    Some((u64::from(ty.bytes().max(1)) * vector, LaneMask::ALL))
}

/// The address of each lane, from `%rd1+16` or `name+16`.
fn lane_addresses<'a>(context: &'a EvalContext<'_>, frame: &'a Frame<'_>, inner: &str) -> Option<impl Fn(u32) -> Option<u64> + use<'a>> {
    let stem = inner.split(['+', '-']).next().unwrap_or(inner).trim();
    let rest = inner[stem.len()..].replace([' ', '+'], "");
    let offset: i64 = if rest.is_empty() { 0 } else { rest.parse().ok()? };
    let register = scope::register(context.function(frame), frame.pc, stem);
    let base = match register {
        Some(_) => 0,
        None => match Expression::parse(&format!("(u64)&({stem})")).ok()?.evaluate(context).ok()? {
            Value::Scalar(Scalar { bits, .. }) => bits as u64,
            _ => return None,
        },
    };
    Some(move |lane: u32| {
        let own = context.same_frame(frame, lane)?;
        let base = match &register {
            Some(place) => register_bits(&own, place)? as u64,
            None => base,
        };
        Some(base.wrapping_add_signed(offset))
    })
}

/// The elements that an access of these addresses is to: `C[3][18-31]`, or how far they are from the variable.
pub(super) fn elements_at(context: &EvalContext<'_>, access: &LaneAccess, addresses: &[u64]) -> Option<String> {
    let objects = memory_objects(context, MemorySpace::of(access.space)?);
    let (first, last) = (*addresses.iter().min()?, *addresses.iter().max()?);
    let inside = |object: &&MemoryObject| (object.address..object.end()).contains(&first);
    let Some(object) = objects.iter().find(inside) else {
        let before = objects.iter().rfind(|object| object.address <= first)?;
        return Some(match first.checked_sub(before.end())? {
            0 => format!("from the end of {} on", before.short_name()),
            bytes => format!("{bytes} bytes after the end of {}", before.short_name()),
        });
    };
    let size = u64::from(object.ty.bytes().max(1));
    let index = |address: u64| (address - object.address) / size;
    if last >= object.end() {
        return Some(format!("from {} on, past its end", object.element_name(index(first))));
    }
    let per_lane = access.bytes.div_ceil(size).max(1);
    let mut elements: Vec<u64> = addresses.iter().flat_map(|address| (0..per_lane).map(|element| index(*address) + element)).collect();
    elements.sort_unstable();
    elements.dedup();
    Some(object.element_ranges(&elements))
}

impl MemoryObject {
    /// The address after its last byte.
    pub fn end(&self) -> u64 {
        self.address.saturating_add(self.elements.saturating_mul(u64::from(self.ty.bytes().max(1))))
    }

    /// `C[3][18-31]`, `C[3-7][18,20]`; of rows with other columns each the first and the last element.
    fn element_ranges(&self, elements: &[u64]) -> String {
        let columns = self.shape.last().copied().unwrap_or(1).max(1);
        let (Some(first), Some(last)) = (elements.first(), elements.last()) else { return String::new() };
        let mut rows: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
        for element in elements {
            rows.entry(element / columns).or_default().extend(u32::try_from(element % columns).ok());
        }
        let numbers: Vec<u32> = rows.keys().filter_map(|row| u32::try_from(*row).ok()).collect();
        let own = rows.first_key_value().map_or_else(Vec::new, |(_, own)| own.clone());
        let name = self.element_name(*first);
        let Some(at) = name.rfind('[') else { return name };
        match self.shape.len() {
            _ if rows.len() == 1 => format!("{}[{}]", &name[..at], ranges(&own)),
            2 if rows.values().all(|other| *other == own) => format!("{}[{}][{}]", self.short_name(), ranges(&numbers), ranges(&own)),
            _ => format!("{} to {}", self.element_name(*first), self.element_name(*last)),
        }
    }
}
