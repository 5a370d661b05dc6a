//! Parser of thread coordinates.
//!
//! `block X[,Y[,Z]]`, `cluster X[,Y[,Z]]`, `warp N`, `lane LIST`, `thread X[,Y[,Z]]` in any order, numbers with or without parentheses,
//! as cuda-gdb takes them. A role stands for its warps. A thread may also be named by warp and lane, but not both ways. A cluster
//! means its first block.

use super::{Extents, Focus, FocusChange, ThreadFilter};
use crate::base::Dim3;
use crate::debug::roles::{NO_ROLES, Roles};
use crate::machine::{LANES, LaneMask};

/// The known words, for errors.
const WORDS: &str = "block X,Y,Z, cluster X,Y,Z, warp N, lane N or thread X,Y,Z";

/// Why a text names no threads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FocusError {
    /// Byte of the error in the text, from 0.
    pub column: usize,
    /// The error, and what is expected.
    pub message: String,
}

/// The named coordinates.
#[derive(Default)]
struct Named {
    block: Option<[u32; 3]>,
    warp: Option<u32>,
    lanes: Option<(LaneMask, usize)>,
    thread: Option<u32>,
    /// The warps of a role.
    role: Option<LaneMask>,
}

pub(super) fn filter(text: &str, extents: &Extents, roles: &Roles) -> Result<ThreadFilter, FocusError> {
    let named = Reader { text, at: 0, extents, roles }.read()?;
    let thread = named.thread.map(|number| (number / LANES as u32, LaneMask::of(number as usize % LANES)));
    let warp = thread.map(|(warp, _)| warp).or(named.warp);
    let lanes = thread.map(|(_, lane)| lane).or(named.lanes.map(|(lanes, _)| lanes));
    Ok(ThreadFilter { block: named.block, warp, warps: named.role, lanes })
}

pub(super) fn change(text: &str, extents: &Extents, focus: &Focus) -> Result<FocusChange, FocusError> {
    let named = Reader { text, at: 0, extents, roles: &NO_ROLES }.read()?;
    let wrong = |column, message| Err(FocusError { column, message });
    if let Some(number) = named.thread {
        return Ok(FocusChange { block: named.block, warp: Some(number / LANES as u32), lane: Some(number % LANES as u32) });
    }
    let (block, warp) = (named.block, named.warp);
    let Some((lanes, column)) = named.lanes else { return Ok(FocusChange { block, warp, lane: None }) };
    if lanes.count() != 1 {
        return wrong(column, "the focus is on one lane: give one number, 0 to 31".to_string());
    }
    let lane = lanes.first() as u32;
    let number = warp.unwrap_or(focus.warp).saturating_mul(LANES as u32).saturating_add(lane);
    if number >= extents.threads() {
        let last = (extents.threads() - 1) % LANES as u32;
        return wrong(column, format!("warp {} has lanes 0 to {last}, not {lane}", warp.unwrap_or(focus.warp)));
    }
    Ok(FocusChange { block, warp, lane: Some(lane) })
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    extents: &'t Extents,
    roles: &'t Roles,
}

impl Reader<'_> {
    fn read(mut self) -> Result<Named, FocusError> {
        let mut named = Named::default();
        self.skip();
        while self.at < self.text.len() {
            self.word(&mut named)?;
            self.skip();
        }
        Ok(named)
    }

    fn word(&mut self, named: &mut Named) -> Result<(), FocusError> {
        let start = self.at;
        let word = self.take(|c| c.is_ascii_alphabetic());
        match word.as_str() {
            "block" => once(&mut named.block, self.index("block", self.extents.grid)?, start, "block"),
            "cluster" => {
                let extents: [u32; 3] = std::array::from_fn(|axis| self.extents.grid[axis] / self.extents.cluster[axis].max(1));
                let cluster = self.index("cluster", extents)?;
                let first = std::array::from_fn(|axis| cluster[axis] * self.extents.cluster[axis]);
                once(&mut named.block, first, start, "block")
            }
            "warp" => {
                let warp = self.below("warp", self.extents.warps())?;
                once(&mut named.warp, warp, start, "warp")?;
                named.thread.map_or(Ok(()), |_| Err(twice(start, "warp")))
            }
            "lane" | "lanes" => {
                self.skip();
                let column = self.at;
                let lanes = self.lanes()?;
                once(&mut named.lanes, (lanes, column), start, "lane")?;
                named.thread.map_or(Ok(()), |_| Err(twice(start, "lane")))
            }
            "thread" => {
                let [x, y, z] = self.index("thread", self.extents.block)?;
                let [columns, rows, _] = self.extents.block;
                once(&mut named.thread, x + columns * (y + rows * z), start, "thread")?;
                if named.warp.is_some() || named.lanes.is_some() { Err(twice(start, "thread")) } else { Ok(()) }
            }
            _ => {
                self.at = start;
                let role = self.take(|c| !c.is_whitespace());
                let warps = self.roles.all().into_iter().find(|(name, _)| *name == role).map(|(_, warps)| warps);
                let warps = warps.ok_or_else(|| self.error(start, format!("expected {WORDS}, or a role")))?;
                once(&mut named.role, warps.into_iter().map(|warp| warp as usize % LANES).collect(), start, "role")
            }
        }
    }

    /// `1,0,0`, `(1,0,0)` or `1`: absent coordinates are 0.
    fn index(&mut self, what: &str, extents: [u32; 3]) -> Result<[u32; 3], FocusError> {
        self.skip();
        let start = self.at;
        let parenthesis = self.consume('(');
        let mut index = [0; 3];
        for axis in 0..3 {
            self.skip();
            index[axis] = self.number()?;
            self.skip();
            if axis == 2 || !self.consume(',') {
                break;
            }
        }
        if parenthesis && !self.consume(')') {
            return Err(self.error(self.at, "expected ')'".to_string()));
        }
        if (0..3).any(|axis| index[axis] >= extents[axis]) {
            let last = Dim3(extents.map(|extent| extent.saturating_sub(1)));
            return Err(self.error(start, format!("there is no {what} {}: they are (0,0,0) to {last}", Dim3(index))));
        }
        Ok(index)
    }

    fn below(&mut self, what: &str, end: u32) -> Result<u32, FocusError> {
        self.skip();
        let start = self.at;
        let number = self.number()?;
        if number < end {
            return Ok(number);
        }
        Err(self.error(start, format!("there is no {what} {number}: they are 0 to {}", end.saturating_sub(1))))
    }

    /// `3`, `0-7`, `0-3,8,12-15`.
    fn lanes(&mut self) -> Result<LaneMask, FocusError> {
        let mut lanes = LaneMask::NONE;
        loop {
            self.skip();
            let start = self.at;
            let first = self.below("lane", LANES as u32)?;
            self.skip();
            let last = if self.consume('-') { self.below("lane", LANES as u32)? } else { first };
            if last < first {
                return Err(self.error(start, format!("lanes {first}-{last} run backwards: write {last}-{first}")));
            }
            lanes |= (first..=last).map(|lane| lane as usize).collect();
            self.skip();
            if !self.consume(',') {
                return Ok(lanes);
            }
        }
    }

    fn number(&mut self) -> Result<u32, FocusError> {
        let start = self.at;
        let digits = self.take(|c| c.is_ascii_digit());
        if digits.is_empty() {
            return Err(self.error(start, "expected a number".to_string()));
        }
        digits.parse().map_err(|_| self.error(start, format!("{digits} is too large")))
    }

    fn take(&mut self, wanted: impl Fn(char) -> bool) -> String {
        let word: String = self.text[self.at..].chars().take_while(|c| wanted(*c)).collect();
        self.at += word.len();
        word
    }

    fn consume(&mut self, c: char) -> bool {
        let is_consumed = self.text[self.at..].starts_with(c);
        self.at += if is_consumed { c.len_utf8() } else { 0 };
        is_consumed
    }

    fn skip(&mut self) {
        self.take(char::is_whitespace);
    }

    fn error(&self, column: usize, message: String) -> FocusError {
        FocusError { column, message }
    }
}

fn once<T>(field: &mut Option<T>, value: T, column: usize, what: &str) -> Result<(), FocusError> {
    match field.replace(value) {
        None => Ok(()),
        Some(_) => Err(twice(column, what)),
    }
}

fn twice(column: usize, what: &str) -> FocusError {
    FocusError { column, message: format!("the {what} is named twice") }
}
