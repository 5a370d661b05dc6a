//! Copies of a line: a compiler that unrolls a loop writes the lines of its body once for each iteration.

use std::collections::{BTreeMap, BTreeSet};

use crate::program::{ControlOp, Effect, Effects, Op, Pc, Program, SourceLine};

/// A piece of a line: instructions without those of another line between them.
struct Piece {
    first: Pc,
    /// What it does that is compared with other pieces.
    actions: Vec<String>,
}

/// What instructions are compared by: all of them, those that read memory too, or those that others notice.
const LEVELS: [Level; 3] = [Level::Noticed, Level::Reads, Level::All];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Noticed,
    Reads,
    All,
}

impl Level {
    fn has(self, program: &Program, pc: u32) -> bool {
        let Some(inst) = program.code.get(pc as usize) else { return false };
        let effects = inst.op.effects(program);
        match self {
            Level::Noticed => effects.has_any(NOTICED) || matches!(inst.op, Op::Control(ControlOp::Call { .. })),
            Level::Reads => effects.has(Effect::ReadsMemory),
            Level::All => effects.only_computes(),
        }
    }
}

/// Fewest instructions that show a copy where only other lines that compute come again with it.
const LONG: usize = 3;

/// Effects that other threads or the rest of the thread notice.
const NOTICED: Effects =
    Effects::of(&[Effect::WritesMemory, Effect::Collective, Effect::Blocks, Effect::Orders, Effect::Asynchronous, Effect::Stops]);

/// True if an instruction does something that others notice: it is neither executed earlier than the source says nor once for a loop.
pub(super) fn is_noticed(program: &Program, pc: u32) -> bool {
    Level::Noticed.has(program, pc)
}

/// True if an instruction reads memory or does something that others notice.
pub(super) fn accesses(program: &Program, pc: u32) -> bool {
    Level::Noticed.has(program, pc) || Level::Reads.has(program, pc)
}

/// The first instructions of the copies of a line, whose pieces begin at `entries`, one after the other; none if it has no copies.
///
/// Pieces are copies if what they do is the same again and again, and another line comes again with each of them: a line that a compiler
/// takes apart has no such companion. Pieces that differ are copies where they take turns with the copies of another line, which stores
/// or does something else that others notice.
pub(super) fn copies(program: &Program, entries: &[Pc], is_on_line: impl Fn(u32) -> bool) -> Vec<Pc> {
    let find = |level: &Level| of_level(program, entries, *level, &is_on_line);
    let found = LEVELS.iter().find_map(find).unwrap_or_default();
    if found.is_empty() { in_turn(program, entries, &is_on_line).unwrap_or_default() } else { found }
}

/// The first of the pieces in each turn with the copies of another line; none if no line takes turns with them.
fn in_turn(program: &Program, entries: &[Pc], is_on_line: &impl Fn(u32) -> bool) -> Option<Vec<Pc>> {
    let (first, last) = (entries.first()?.0, entries.get(1..)?.last()?.0);
    let code = program.function_at(Pc(first)).map(|id| program.functions[id.index()].code.clone())?;
    let goes_on = |pc: &u32| !matches!(program.code.get(*pc as usize).map(|inst| &inst.op), Some(Op::Control(_)) | None);
    let begin = (code.start..first).rev().take_while(goes_on).last().unwrap_or(first);
    let straight = begin..(last..code.end).take_while(goes_on).last().unwrap_or(last) + 1;
    let line = |pc: u32| program.source_line(Pc(pc)).map(|line| (line.file, line.line)).filter(|(_, line)| *line > 0);
    let others: BTreeSet<(u32, u32)> = (first..entries[1].0).filter(|pc| !is_on_line(*pc)).filter_map(line).collect();
    others.into_iter().find_map(|other| {
        let is_of_other = |pc: u32| line(pc) == Some(other);
        let begins = |pc: &u32| is_of_other(*pc) && (*pc == straight.start || !is_of_other(pc - 1));
        let pieces: Vec<Pc> = straight.clone().filter(begins).map(Pc).collect();
        let turns = of_level(program, &pieces, Level::Noticed, is_of_other).filter(|turns| turns.len() > 1)?;
        // By the number of turns before each piece, those that are first.
        let mut firsts: BTreeMap<usize, Pc> = BTreeMap::new();
        for entry in entries {
            firsts.entry(turns.iter().filter(|turn| *turn < entry).count()).or_insert(*entry);
        }
        (firsts.len() == turns.len()).then(|| firsts.into_values().collect())
    })
}

/// The copies as one level of actions shows them; none if the line has no such actions.
fn of_level(program: &Program, entries: &[Pc], level: Level, is_on_line: impl Fn(u32) -> bool) -> Option<Vec<Pc>> {
    let opcode = |pc: u32| program.text(Pc(pc)).split_whitespace().find(|word| !word.starts_with('@')).unwrap_or_default().to_string();
    let actions = |first: &Pc| {
        let code = (first.0..).take_while(|pc| (*pc as usize) < program.code.len() && is_on_line(*pc));
        code.filter(|pc| level.has(program, *pc)).map(opcode).collect::<Vec<String>>()
    };
    let mut pieces: Vec<Piece> = Vec::new();
    // A piece without actions belongs to the next one that has some, unless a branch divides it from that.
    let is_divided = |first: Pc, next: Pc| (first.0..next.0).any(|pc| matches!(program.code[pc as usize].op, Op::Control(_)));
    let mut first = None;
    for entry in entries {
        first = first.filter(|first| !is_divided(*first, *entry));
        let (begin, actions) = (*first.get_or_insert(*entry), actions(entry));
        if !actions.is_empty() {
            pieces.push(Piece { first: begin, actions });
            first = None;
        }
    }
    if pieces.is_empty() {
        return None;
    }
    let all: Vec<&String> = pieces.iter().flat_map(|piece| &piece.actions).collect();
    let starts: Vec<usize> = pieces.iter().scan(0, |end, piece| Some(std::mem::replace(end, *end + piece.actions.len()))).collect();
    // A copy begins with a piece, and may have been taken apart.
    let repeats = |length: &usize| {
        let is_same = all.iter().zip(&all[*length..]).all(|(one, next)| one == next);
        is_same && all.len().is_multiple_of(*length) && (0..all.len()).step_by(*length).all(|at| starts.contains(&at))
    };
    let begins = |length: usize| {
        let begins = pieces.iter().zip(&starts).filter(|(_, start)| start.is_multiple_of(length));
        begins.map(|(piece, _)| piece.first).collect::<Vec<Pc>>()
    };
    // What is computed alone may be anywhere: what others notice or a branch decides shows that it is a copy, and a row that is long and
    // has no shorter one in it.
    let shortest = (1..all.len()).find(repeats);
    let is_shown = |length: usize| level == Level::Noticed || (length >= LONG && shortest == Some(length));
    let are_copies = |length: &usize| has_companion(program, &begins(*length), is_shown(*length), &is_on_line);
    Some((1..all.len()).filter(repeats).find(are_copies).map(begins).unwrap_or_default())
}

/// True if another line has instructions between any two of the copies, and before the first or after the last.
fn has_companion(program: &Program, copies: &[Pc], is_shown: bool, is_on_line: impl Fn(u32) -> bool) -> bool {
    let (Some(first), Some(last)) = (copies.first(), copies.last()) else { return false };
    let Some(code) = program.function_at(*first).map(|id| program.functions[id.index()].code.clone()) else { return false };
    let line = |pc: u32| program.source_line(Pc(pc)).filter(|line| line.line > 0);
    let is_branch = |pc: u32| program.code.get(pc as usize).is_some_and(|inst| inst.guard.is_some() && matches!(inst.op, Op::Control(_)));
    let is_firm = |pc: u32| is_shown || is_noticed(program, pc) || is_branch(pc);
    let others =
        |mut code: std::ops::Range<u32>, line_of: SourceLine| code.any(|pc| !is_on_line(pc) && is_firm(pc) && line(pc) == Some(line_of));
    let between = |pair: &[Pc]| pair[0].0..pair[1].0;
    let candidates = copies.windows(2).next().map_or(0..0, between).filter(|pc| !is_on_line(*pc)).filter_map(line);
    candidates.into_iter().any(|one| {
        copies.windows(2).all(|pair| others(between(pair), one)) && (others(code.start..first.0, one) || others(last.0..code.end, one))
    })
}
