//! The memory that each lane of the focused warp accesses with the instruction that it executes next, also those whose guard predicate is
//! false.

use super::contents::{MemoryObject, MemorySpace, memory_objects};
use super::list::current_pc;
use super::location::lane_locations;
use crate::base::ranges;
use crate::debug::eval_context::{EvalContext, Frame};
use crate::debug::expression::{Expression, register_bits};
use crate::debug::focus::ThreadFilter;
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
    let context = &context.with_names_as_in_ptx();
    let (frame, pc) = (context.frame().ok()?, current_pc(context));
    if context.focus.frame > 0 {
        return None;
    }
    let program = context.program();
    let inst = program.code.get(pc.index())?;
    let texts = program.operand_texts(pc);
    let inner = texts.iter().find_map(|text| text.strip_prefix('[')?.strip_suffix(']'))?;
    let (bytes, lanes) = extent(context, pc, &texts)?;
    let holds = |lane: usize| {
        inst.guard.is_none_or(|guard| {
            let bits = frame.warp.registers.pred.get(guard.slot.in_frame(frame.base.pred).index()).copied().unwrap_or(LaneMask::NONE);
            bits.contains(lane) != guard.negate
        })
    };
    let of_lane = lane_addresses(context, &frame, inner)?;
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
    let off = frame.group.mask.filter(|lane| !holds(lane));
    Some(LaneAccess { pc, space: actual?, bytes, addresses, off })
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

/// The lanes of the focused group that do not execute the next instruction, because their guard predicate is false, and what they would
/// have accessed: `14 of 32 lanes off: C[3][18-31]`; for a branch, how many take it. None if all lanes execute it.
pub fn masked(context: &EvalContext<'_>) -> Option<String> {
    let locations = lane_locations(context, &ThreadFilter::of_warp(&context.focus));
    let group = locations.iter().find(|location| context.is_focused(location.lanes) && !location.off.is_empty())?;
    let (off, all) = (group.off.count(), group.lanes.count());
    if matches!(context.program().code.get(group.pc.index()).map(|inst| inst.op), Some(Op::Control(_))) {
        return Some(format!("{} of {all} lanes take it", all - off));
    }
    let counts = format!("{off} of {all} lanes off");
    let elements = lane_access(context).and_then(|access| {
        let off = access.addresses.iter().filter(|(lane, _)| access.off.contains(*lane as usize));
        access.elements(context, &off.map(|(_, address)| *address).collect::<Vec<_>>())
    });
    Some(counts + &elements.map_or(String::new(), |elements| format!(": {elements}")))
}

impl LaneAccess {
    /// The elements at these addresses: `C[3][18..31]`, or how far they are from the variable.
    fn elements(&self, context: &EvalContext<'_>, addresses: &[u64]) -> Option<String> {
        let objects = memory_objects(context, MemorySpace::of(self.space)?);
        let (first, last) = (*addresses.iter().min()?, *addresses.iter().max()?);
        let inside = |object: &&MemoryObject| (object.address..object.end()).contains(&first);
        let Some(object) = objects.iter().find(inside) else {
            let before = objects.iter().rfind(|object| object.address <= first)?;
            return Some(match first.checked_sub(before.end())? {
                0 => format!("from the end of {} on", before.name),
                bytes => format!("{bytes} bytes after the end of {}", before.name),
            });
        };
        let size = u64::from(object.ty.bytes().max(1));
        let index = |address: u64| (address - object.address) / size;
        if last >= object.end() {
            return Some(format!("from {} on, past its end", object.element_name(index(first))));
        }
        let per_lane = self.bytes.div_ceil(size).max(1);
        let mut elements: Vec<u64> = addresses.iter().flat_map(|address| (0..per_lane).map(|element| index(*address) + element)).collect();
        elements.sort_unstable();
        elements.dedup();
        Some(object.element_ranges(&elements))
    }
}

impl MemoryObject {
    /// The address after its last byte.
    pub fn end(&self) -> u64 {
        self.address.saturating_add(self.elements.saturating_mul(u64::from(self.ty.bytes().max(1))))
    }

    /// `C[3][18-31]`, `C[3][18,20]`; of several rows the first and the last element.
    fn element_ranges(&self, elements: &[u64]) -> String {
        let columns = self.shape.last().copied().unwrap_or(1).max(1);
        let (Some(first), Some(last)) = (elements.first(), elements.last()) else { return String::new() };
        if first / columns != last / columns {
            return format!("{} to {}", self.element_name(*first), self.element_name(*last));
        }
        let columns: Vec<u32> = elements.iter().filter_map(|element| u32::try_from(element % columns).ok()).collect();
        let name = self.element_name(*first);
        match name.rfind('[') {
            Some(at) => format!("{}[{}]", &name[..at], ranges(&columns)),
            None => name,
        }
    }
}
