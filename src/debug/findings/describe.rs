//! Describes findings with names and values: the run is executed again up to each side of a finding.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{FindingText, LinkText, MemoryText, SideText};
use crate::check::{Finding, MemoryRange, PathStep, Side, SideAction};
use crate::debug::causes::OriginTexts;
use crate::debug::eval_context::{Buffer, EvalContext};
use crate::debug::expression::little_endian;
use crate::debug::file_line::{FileLine, source_lines};
use crate::debug::focus::Focus;
use crate::debug::memory;
use crate::debug::names::access::access_type;
use crate::debug::names::inferred::InferredTypes;
use crate::debug::names::memory_name;
use crate::debug::names::scope::data_type;
use crate::debug::run::{Job, RunError, RunOptions, Runner};
use crate::debug::site::Site;
use crate::debug::source_texts::SourceTexts;
use crate::debug::value::{Scalar, Type};
use crate::dwarf::LazyDebugInfo;
use crate::isa::{ScalarType, Space, TypeKind};
use crate::launch::Case;
use crate::machine::{Instrumentation, IssuePoint, LaneMask, NullObserver, Tick};
use crate::program::{MbarrierOp, MemoryOp, Op, Program, Src};
use crate::weak::StaleRead;

/// Largest number of bytes whose value is shown.
const VALUE_MAX: u32 = 16;

/// Descriptions of findings in progress, with the times that the run must visit for them.
pub(in crate::debug) struct Descriptions<'a> {
    findings: &'a [Finding],
    texts: Vec<FindingText>,
    /// In order of time.
    visits: Vec<Visit>,
    /// The number of visits done.
    visited: usize,
    /// The lines of the places that the advice of each finding names, as far as they are known.
    advice_lines: Vec<Vec<Option<String>>>,
}

/// A time at which something of a finding is described: right after its instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Visit {
    launch: usize,
    time: Tick,
    finding: usize,
    described: Described,
}

/// What is described at a visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Described {
    /// The place of this number that the advice names.
    Advice(usize),
    /// The earlier side.
    First,
    /// The side at which it was detected.
    Second,
}

impl<'a> Descriptions<'a> {
    /// Descriptions of `findings`, the first of which is number `first` of the list.
    pub fn new(program: &Program, case: &Case, findings: &'a [Finding], first: usize) -> Self {
        let mut origins = OriginTexts { program, origins: BTreeMap::new() };
        let texts = findings.iter().zip(first..).map(|(finding, number)| outline(program, case, finding, number, &mut origins)).collect();
        let visits_of = |(finding, found): (usize, &Finding)| {
            let of = |point: IssuePoint, described| Visit { launch: found.launch, time: point.tick + 1, finding, described };
            let advice = found.fix.places().enumerate();
            let advice = advice.filter_map(|(index, place)| Some(of(place.execution?.0, Described::Advice(index))));
            let first = found.first.iter().map(|side| of(side.point, Described::First));
            advice.chain(first).chain([of(found.second.point, Described::Second)]).collect::<Vec<_>>()
        };
        let mut visits: Vec<Visit> = findings.iter().enumerate().flat_map(visits_of).collect();
        visits.sort_unstable();
        let advice_lines = findings.iter().map(|finding| finding.fix.places().map(|_| None).collect()).collect();
        Self { findings, texts, visits, visited: 0, advice_lines }
    }

    /// The launch and the time to which the run must go next.
    pub fn next(&self) -> Option<(usize, Tick)> {
        self.visits.get(self.visited).map(|visit| (visit.launch, visit.time))
    }

    /// Describes what [`Self::next`] is about. `context` is at that time, or at the end of the run if that comes first.
    pub fn visit(&mut self, context: &EvalContext<'_>) {
        let Some(Visit { finding: index, described, .. }) = self.visits.get(self.visited).copied() else { return };
        self.visited += 1;
        let Some(finding) = self.findings.get(index) else { return };
        match (described, &finding.first) {
            (Described::Advice(place), _) => self.name_advice_place(context, index, place),
            (Described::First, Some(first)) => self.describe_side(context, index, first, false),
            (Described::First | Described::Second, _) => self.describe_side(context, index, &finding.second, true),
        }
    }

    /// Names a place in the advice of finding `index`.
    fn name_advice_place(&mut self, context: &EvalContext<'_>, index: usize, place: usize) {
        let executed = self.findings[index].fix.places().nth(place).and_then(|place| place.execution);
        let Some((point, lanes)) = executed else { return };
        let line = Site::with_calls(context, point, lanes).users_line().map(FileLine::short);
        self.advice_lines[index][place] = line;
    }

    /// Describes a side of finding `index`.
    fn describe_side(&mut self, context: &EvalContext<'_>, index: usize, side: &Side, is_second: bool) {
        let (Some(finding), Some(text)) = (self.findings.get(index), self.texts.get_mut(index)) else { return };
        let mut described = if is_second { text.second.as_mut() } else { text.first.as_mut() };
        let context = context.refocused(focus(side));
        if let Some(described) = described.as_deref_mut() {
            described.site.add_calls(&context);
            let lines = described.site.source_lines().map(|line| line.line);
            let new: Vec<u32> = lines.filter(|line| !text.source_lines.contains(line)).collect();
            text.source_lines.extend(new);
        }
        let Some(memory) = &finding.memory else { return };
        let named = Named::new(&context, memory);
        if let Some(described) = described {
            described.value = named.value(&context, side, memory);
        }
        if let (true, Some(first), Some(second)) = (is_second, &finding.first, text.second.as_mut())
            && let Some((one, other)) = named.stored(&context, (first, &finding.second), memory)
        {
            second.value = Some(other);
            text.first.iter_mut().for_each(|side| side.value = Some(one.clone()));
        }
        if is_second {
            text.memory = Some(named.text(memory, memory_name::region(&context, memory.space, finding.conflict_bytes.ranges())));
        }
    }

    /// The findings in words.
    pub fn texts(mut self, program: &Program) -> Vec<FindingText> {
        for ((finding, text), lines) in self.findings.iter().zip(&mut self.texts).zip(self.advice_lines) {
            let mut lines = lines.into_iter();
            text.fix = finding.fix.with_lines(|place| lines.next().flatten().unwrap_or_else(|| place.line(program)));
        }
        self.texts
    }
}

/// Describes the findings of a run of `case`, by running it again.
///
/// # Errors
/// Reasons outside the kernel.
pub(in crate::debug) fn describe_case(
    program: &Arc<Program>,
    case: &Case,
    options: &RunOptions,
    findings: &[Finding],
) -> Result<Vec<FindingText>, RunError> {
    let (buffers, inferred, debug_data) = (Buffer::of_case(case), InferredTypes::new(program), LazyDebugInfo::default());
    let source_texts = SourceTexts::new(program, Vec::new());
    let mut descriptions = Descriptions::new(program, case, findings, 1);
    let mut runner = Runner::new(Job { program, case, options, instrumentation: Instrumentation::Nothing });
    while descriptions.next().is_some() {
        let ran = runner.run_next(|machine, launch| {
            while let Some((_, time)) = descriptions.next().filter(|(index, _)| *index == launch.index()) {
                machine.run(time.saturating_since(machine.tick()), &mut NullObserver);
                let context = EvalContext::at(machine, Focus::first(machine)).with_buffers(&buffers).with_inferred_types(&inferred);
                descriptions.visit(&context.with_source_texts(&source_texts).with_debug_data(&debug_data));
            }
            if descriptions.next().is_some() { launch.run(machine, &mut NullObserver) } else { None }
        })?;
        if !ran {
            break;
        }
    }
    Ok(descriptions.texts(program))
}

/// The text of a finding, as far as it needs no run.
fn outline(program: &Program, case: &Case, finding: &Finding, number: usize, origins: &mut OriginTexts<'_>) -> FindingText {
    let launch = case.launches.get(finding.launch);
    let extent = launch.map_or([1; 3], |launch| launch.block);
    let site = |place: IssuePoint, lanes: LaneMask| Site::new(program, extent, place, lanes);
    let flight = |side: &Side| program.code[side.point.pc.index()].op.in_flight_noun();
    let side = |side: &Side| {
        let site = site(side.point, side.lanes);
        SideText { site, action: Some(side.action), copy: side.copy, flight: flight(side), value: None }
    };
    let lines = |side: &Side| source_lines(program, side.point.pc).into_iter().map(|place| place.line).collect::<Vec<_>>();
    let kernel = launch.map(|launch| &program.functions[launch.kernel.index()]);
    FindingText {
        number,
        id: finding.id,
        severity: finding.severity,
        kernel: kernel.map_or(String::new(), |kernel| kernel.name.to_string()),
        launch: finding.launch,
        message: finding.id.meaning().to_string(),
        first: finding.first.as_ref().map(side),
        second: Some(side(&finding.second)),
        memory: None,
        why: finding.why.clone(),
        fix: finding.fix.in_program(program),
        tried: None,
        chain: finding.path.iter().map(|link| link_text(program, extent, link)).collect(),
        count: finding.count,
        waiting: Vec::new(),
        waiting_more: 0,
        source_lines: finding.first.iter().chain([&finding.second]).flat_map(lines).collect(),
        made_up: launch.map_or(String::new(), |launch| origins.of_finding(launch, finding)),
    }
}

/// A step of the explanation of a race in a launch of blocks of `extent` threads.
pub(super) fn link_text(program: &Program, extent: [u32; 3], link: &PathStep) -> LinkText {
    LinkText { site: link.point.map(|point| Site::new(program, extent, point, LaneMask::NONE)), text: link.text.clone() }
}

/// Bytes as values of a type.
fn shown(context: &EvalContext<'_>, ty: ScalarType, bytes: &[u8]) -> String {
    let shown = |bytes: &[u8]| Scalar { ty: Type::Scalar(ty), bits: little_endian(bytes) }.text(context, None);
    let values: Vec<String> = bytes.chunks(ty.bits().div_ceil(8) as usize).map(shown).collect();
    values.join(" ")
}

/// The bytes that the first lane of a side has stored, read from its registers; none if the side is no store.
fn stored_bytes(context: &EvalContext<'_>, side: &Side) -> Option<Vec<u8>> {
    let program = context.program();
    let (bits, reg_bits, parts) = match &program.code[side.point.pc.index()].op {
        Op::Memory(MemoryOp::Store { bits, reg_bits, a, .. }) => (*bits, *reg_bits, std::slice::from_ref(a)),
        Op::Memory(MemoryOp::StoreVector { bits, reg_bits, parts, .. }) => (*bits, *reg_bits, &program.sources[*parts][..]),
        _ => return None,
    };
    let (warp, group) = (context.warp().ok()?, context.group().ok()?);
    let word = |part: Src| context.machine.operand_of(warp, group, part, reg_bits >= 64)[side.lanes.first()];
    let of = |part: &Src| -> Vec<u8> {
        let high = (bits == 128).then(|| word(part.next()));
        let words = [Some(word(*part)), high];
        words.into_iter().flatten().flat_map(|word| word.to_le_bytes().into_iter().take(usize::from(bits.min(64) / 8))).collect()
    };
    Some(parts.iter().flat_map(of).collect())
}

/// The thread of a side whose values are shown.
fn focus(side: &Side) -> Focus {
    Focus { block: side.point.block, warp: side.point.warp.number(), lane: side.lanes.first() as u32, frame: 0 }
}

/// What a load has returned that was not the newest write, on weak memory.
fn older_bytes(context: &EvalContext<'_>, side: &Side, memory: &MemoryRange) -> Option<Vec<u8>> {
    let Focus { block, warp, lane, .. } = context.focus;
    let by = context.machine.thread_place(block, warp, lane)?;
    let point = side.point;
    let is_meant = |stale: &&StaleRead| {
        let (_, address, bytes) = stale.at;
        (stale.by, stale.time, stale.code) == (by, point.tick.0, point.pc.0) && (address, bytes) == (memory.address, memory.bytes)
    };
    let stale = context.machine.stale_reads().find(is_meant).filter(|stale| !stale.is_store);
    stale.map(|stale| stale.read.bytes.to_vec())
}

/// The name and the type of bytes.
struct Named {
    element: memory_name::Element,
    ty: ScalarType,
}

impl Named {
    fn new(context: &EvalContext<'_>, memory: &MemoryRange) -> Self {
        let element = memory_name::element(context, memory.space, memory.address);
        let untyped = [ScalarType::B8, ScalarType::B16, ScalarType::B32, ScalarType::B64, ScalarType::B128];
        let widest = untyped.into_iter().rfind(|ty| ty.bits() / 8 <= memory.bytes).unwrap_or(ScalarType::B8);
        // Compilers declare arrays in shared memory as bytes.
        let ty = element.ty.filter(|ty| ty.bits() > 8 && ty.bits() / 8 <= memory.bytes).unwrap_or(widest);
        Self { element, ty }
    }

    /// The type of the bytes for `side`: that of its access, or for an untyped one that of the variable or the register.
    fn type_for(&self, context: &EvalContext<'_>, side: &Side, memory: &MemoryRange) -> ScalarType {
        let fits = |ty: &ScalarType| ty.bits() / 8 <= memory.bytes;
        let is_typed = |ty: &ScalarType| ty.kind() != TypeKind::Untyped;
        let access = access_type(context.program(), side.point.pc).filter(is_typed);
        let element = Some(self.ty).filter(is_typed);
        let register = || data_type(context, side.point.pc).filter(|ty| is_typed(ty) && ty.bits() == self.ty.bits());
        access.or(element).or_else(register).filter(fits).unwrap_or(self.ty)
    }

    /// The value of the bytes in `context`, if the access of `side` is complete then.
    fn value(&self, context: &EvalContext<'_>, side: &Side, memory: &MemoryRange) -> Option<String> {
        let is_access = matches!(side.action, SideAction::Read | SideAction::Write | SideAction::Atomic);
        let op = context.program().code[side.point.pc.index()].op;
        // The bits of an mbarrier object are opaque (PTX manual, mbarrier object): no value is shown.
        let is_opaque = matches!(op, Op::Mbarrier(MbarrierOp::Update { .. } | MbarrierOp::Wait { .. }));
        if is_opaque || side.copy.is_some() || !is_access || memory.bytes == 0 || memory.bytes > VALUE_MAX {
            return None;
        }
        let owner = if matches!(memory.space, Space::Shared | Space::SharedCluster) {
            context.refocused(Focus { block: memory.block, ..context.focus })
        } else {
            *context
        };
        let mut bytes = vec![0; memory.bytes as usize];
        memory::read(&owner, memory.space, memory.address, &mut bytes).ok()?;
        if let Some(older) = older_bytes(context, side, memory) {
            bytes = older;
        }
        Some(shown(context, self.type_for(context, side, memory), &bytes))
    }

    /// The two values that lanes of one store, just executed, have written to the same bytes: memory holds only one of them.
    fn stored(&self, context: &EvalContext<'_>, (first, second): (&Side, &Side), memory: &MemoryRange) -> Option<(String, String)> {
        if first.point != second.point || first.copy.is_some() || second.copy.is_some() {
            return None;
        }
        let of = |side: &Side| stored_bytes(&context.refocused(focus(side)), side).filter(|bytes| bytes.len() == memory.bytes as usize);
        let (one, other) = (of(first)?, of(second)?);
        let ty = self.type_for(context, second, memory);
        Some((shown(context, ty, &one), shown(context, ty, &other)))
    }

    fn text(self, memory: &MemoryRange, region: Option<String>) -> MemoryText {
        let of_block = matches!(memory.space, Space::Shared | Space::SharedCluster | Space::Local | Space::ParamFunc);
        MemoryText {
            name: self.element.name,
            region,
            symbol: self.element.symbol,
            space: memory.space.word(),
            block: of_block.then_some(memory.block),
            address: memory.address,
            bytes: memory.bytes,
        }
    }
}
