//! Threads and lines as the user names them, and what they are in a launch.

use std::fmt;
use std::ops::Range;

use crate::debug::focus::Extents;
use crate::launch::{Case, PlannedLaunch};
use crate::machine::LANES;
use crate::program::{FuncId, Pc, Program, shown_name};

/// A block or a thread: its number, or its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Position {
    Number(u64),
    Index([u32; 3]),
}

impl Position {
    fn parse(text: &str) -> Option<Self> {
        let numbers: Option<Vec<u32>> = text.split(',').map(|part| part.trim().parse().ok()).collect();
        match *numbers? {
            [number] => Some(Self::Number(number.into())),
            [x, y] => Some(Self::Index([x, y, 0])),
            [x, y, z] => Some(Self::Index([x, y, z])),
            _ => None,
        }
    }

    /// The number in these extents; none if it is outside.
    fn number_in(self, [x, y, z]: [u32; 3]) -> Option<u64> {
        let [width, height, depth] = [x, y, z].map(u64::from);
        match self {
            Self::Number(number) => (number < width * height * depth).then_some(number),
            Self::Index([i, j, k]) => (i < x && j < y && k < z).then(|| u64::from(i) + width * (u64::from(j) + height * u64::from(k))),
        }
    }
}

/// A thread of a launch, `BLOCK:THREAD`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadName {
    text: String,
    block: Position,
    thread: Position,
}

impl ThreadName {
    /// Reads `1:32`, or `1,0,0:32,0,0`.
    ///
    /// # Errors
    /// It is none, in a sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        let parts = text.split_once(':').and_then(|(block, thread)| Some((Position::parse(block)?, Position::parse(thread)?)));
        let (block, thread) =
            parts.ok_or_else(|| format!("'{text}' is no thread: give its block and its number there, 1:32, or 1,0,0:32,0,0"))?;
        Ok(Self { text: text.to_string(), block, thread })
    }
}

/// Lines of a text, from 1, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineRange {
    /// The first.
    pub first: u32,
    /// The last.
    pub last: u32,
}

impl LineRange {
    /// Reads `12-20`, or `12` for one line.
    ///
    /// # Errors
    /// It is none, in a sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let range = first.trim().parse().ok().zip(last.trim().parse().ok()).map(|(first, last)| Self { first, last });
        range
            .filter(|range| range.first > 0 && range.first <= range.last)
            .ok_or_else(|| format!("'{text}' are no lines: give the first and the last one, such as 12-20"))
    }
}

impl fmt::Display for LineRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last { write!(f, "{}", self.first) } else { write!(f, "{}-{}", self.first, self.last) }
    }
}

/// What becomes a test.
#[derive(Clone, Debug)]
pub struct ExcerptRequest {
    /// The threads, P0 first.
    pub threads: Vec<ThreadName>,
    /// Lines of the PTX text: one range for all threads, or one for each.
    pub lines: Vec<LineRange>,
}

/// A thread of the launch with its lines.
#[derive(Clone, Debug)]
pub(super) struct Chosen {
    /// Its block.
    pub block: [u32; 3],
    /// The number of its block.
    pub block_number: u64,
    /// Its number in the block.
    pub number: u64,
    /// Its warp.
    pub warp: u32,
    /// Its lane.
    pub lane: usize,
    /// Its lines.
    pub lines: LineRange,
    /// The instructions on them.
    pub code: Range<u32>,
}

impl Chosen {
    pub fn has(&self, pc: Pc) -> bool {
        self.code.contains(&pc.0)
    }
}

/// The kernel that the lines are of, and the threads.
pub(super) fn chosen_of(program: &Program, case: &Case, request: &ExcerptRequest) -> Result<(FuncId, Vec<Chosen>), String> {
    let count = request.lines.len();
    if count != 1 && count != request.threads.len() {
        return Err(format!(
            "{count} ranges of lines for {} threads: give one for all, or one for each thread in order",
            request.threads.len()
        ));
    }
    let launch = launch_of(program, case, request.lines[0])?;
    let lines = request.lines.iter().cycle();
    let threads: Result<Vec<Chosen>, String> =
        request.threads.iter().zip(lines).map(|(name, lines)| chosen(program, launch, name, *lines)).collect();
    let threads = threads?;
    for (number, thread) in threads.iter().enumerate() {
        if threads[..number].iter().any(|other| (other.block_number, other.number) == (thread.block_number, thread.number)) {
            return Err(format!("thread {} is given twice", request.threads[number].text));
        }
    }
    Ok((launch.kernel, threads))
}

/// The first launch of a kernel that has instructions on these lines.
fn launch_of<'a>(program: &Program, case: &'a Case, lines: LineRange) -> Result<&'a PlannedLaunch, String> {
    let first = case.launches.first().ok_or_else(|| "the launch file describes no launch".to_string())?;
    let found = case.launches.iter().find(|launch| code_on(program, launch.kernel, lines).is_ok());
    found.map_or_else(|| code_on(program, first.kernel, lines).map(|_| first), Ok)
}

/// The instructions of the kernel on these lines, which follow each other.
fn code_on(program: &Program, kernel: FuncId, lines: LineRange) -> Result<Range<u32>, String> {
    let function = &program.functions[kernel.index()];
    let is_on = |pc: &u32| (lines.first..=lines.last).contains(&program.line(Pc(*pc)));
    let mut on = function.code.clone().filter(is_on);
    let Some(first) = on.next() else {
        let of = |pc: u32| program.line(Pc(pc));
        let (from, to) = (of(function.code.start), of(function.code.end.saturating_sub(1)));
        return Err(format!(
            "no instruction of kernel '{}' is on lines {lines} of the PTX text: its code is on lines {from}-{to}",
            shown_name(&function.name)
        ));
    };
    Ok(first..on.next_back().unwrap_or(first) + 1)
}

fn chosen(program: &Program, launch: &PlannedLaunch, name: &ThreadName, lines: LineRange) -> Result<Chosen, String> {
    let extents = Extents { grid: launch.grid, block: launch.block, cluster: launch.cluster };
    let outside = |what: &str, [x, y, z]: [u32; 3]| format!("there is no thread {}: {what} {x},{y},{z}", name.text);
    let block_number = name.block.number_in(launch.grid).ok_or_else(|| outside("the grid is", launch.grid))?;
    let number = name.thread.number_in(launch.block).ok_or_else(|| outside("a block has", launch.block))?;
    let block = extents.block_at(block_number).ok_or_else(|| outside("the grid is", launch.grid))?;
    let lanes = LANES as u64;
    let (warp, lane) = ((number / lanes) as u32, (number % lanes) as usize);
    Ok(Chosen { block, block_number, number, warp, lane, lines, code: code_on(program, launch.kernel, lines)? })
}
