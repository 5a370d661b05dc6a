//! A finding with names and values, as data.

use serde::Serialize;

use super::FixOutcome;
use crate::base::Severity;
use crate::check::{FindingId, SideAction};
use crate::debug::fault::{Fault, Waiting};
use crate::debug::file_line::FileLine;
use crate::debug::roles::Roles;
use crate::debug::site::Site;

/// A finding with names and values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FindingText {
    /// Its number in the list, from 1.
    pub number: usize,
    /// The id of the mistake.
    pub id: FindingId,
    /// Its severity.
    pub severity: Severity,
    /// The kernel.
    pub kernel: String,
    /// The number of the launch in the case, from 0.
    pub launch: usize,
    /// The message, in one line.
    pub message: String,
    /// The earlier of two sides.
    pub first: Option<SideText>,
    /// The side at which it was detected; none if it is about no single instruction.
    pub second: Option<SideText>,
    /// The bytes it is about.
    pub memory: Option<MemoryText>,
    /// The missing ordering, or the broken rule; empty if the message says it.
    pub why: String,
    /// The proposed insertion or change, with its line; empty if none is known.
    pub fix: String,
    /// The result of trying the fix; none if it was not tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tried: Option<FixOutcome>,
    /// Steps from the first side to the second: the synchronization present, and what is missing.
    pub chain: Vec<LinkText>,
    /// The number of occurrences at the same two instructions.
    pub count: u64,
    /// The waiting or spinning warps, and what each waits for.
    pub waiting: Vec<Waiting>,
    /// Number of further waits that `waiting` does not name.
    pub waiting_more: usize,
    /// Lines of the source language that `.loc` gives for it.
    pub source_lines: Vec<u32>,
    /// The values of a made-up launch that may have caused it; otherwise empty.
    pub made_up: String,
}

/// One of the sides of a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SideText {
    /// The instruction and the threads that executed it; of an asynchronous copy, those that issued it.
    pub site: Site,
    /// Its action; none if it was stopped before.
    pub action: Option<SideAction>,
    /// The number of the asynchronous operation, if it was one.
    pub copy: Option<u64>,
    /// The kind of that operation: a copy or a wgmma.
    #[serde(skip)]
    pub flight: &'static str,
    /// The value of the bytes after it, if it is known.
    pub value: Option<String>,
}

/// Bytes of memory by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MemoryText {
    /// `out[17]`, `tile+0x40`, or the address.
    pub name: String,
    /// The region of an array of more than one dimension, if several elements are accessed: `C[0:32, 0:32]`.
    pub region: Option<String>,
    /// The variable or buffer alone, if the bytes are in one.
    pub symbol: Option<String>,
    /// The state space.
    pub space: &'static str,
    /// Of shared and local memory, the block.
    pub block: Option<[u32; 3]>,
    /// The address in that space.
    pub address: u64,
    /// The number of bytes.
    pub bytes: u32,
}

/// A step of the explanation why two sides are not ordered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LinkText {
    /// The instruction, if the step is one.
    pub site: Option<Site>,
    /// Its effect on the order, or the synchronization that is missing.
    pub text: String,
}

impl MemoryText {
    /// `C[3][7] of C[0:32, 0:32]`
    pub fn named(&self) -> String {
        self.region.as_ref().map_or_else(|| self.name.clone(), |region| format!("{} of {region}", self.name))
    }
}

impl FindingText {
    /// The fault that stopped a launch, as number `number` of the list.
    pub fn of_fault(number: usize, fault: &Fault) -> Self {
        let side = |site: &Site| SideText { site: site.clone(), action: None, copy: None, flight: "", value: None };
        Self {
            number,
            id: fault.id,
            severity: fault.id.severity(),
            kernel: fault.kernel.clone(),
            launch: fault.launch,
            message: fault.message.clone(),
            first: None,
            second: fault.site.as_ref().map(side),
            memory: None,
            why: fault.why.clone(),
            fix: String::new(),
            tried: None,
            chain: Vec::new(),
            count: 1,
            waiting: fault.waiting.clone(),
            waiting_more: fault.waiting_more,
            source_lines: fault.source_lines.clone(),
            made_up: fault.made_up.clone(),
        }
    }

    /// The sides there are, the earlier first.
    pub fn sides(&self) -> impl Iterator<Item = &SideText> {
        self.first.iter().chain(&self.second)
    }

    /// The main site: its second side, or for a hang the first wait.
    pub fn site(&self) -> Option<&Site> {
        let waiting = || self.waiting.first().map(|waiting| &waiting.site);
        self.second.as_ref().map(|side| &side.site).or_else(waiting)
    }

    /// All lines that its sides are on.
    pub fn lines(&self) -> impl Iterator<Item = &FileLine> {
        self.sides().flat_map(|side| &side.site.lines).chain(self.waiting.iter().flat_map(|waiting| &waiting.site.lines))
    }

    /// True if one of its sides is on this line of the source language, or of the PTX if that has no source. A finding without a line
    /// is on every line.
    pub fn is_on_source_line(&self, line: u32) -> bool {
        let ptx_only = || self.sides().all(|side| side.site.lines.len() <= 1);
        let on_ptx = || self.sides().any(|side| side.site.lines.first().is_some_and(|ptx| ptx.line == line));
        match self.source_lines.as_slice() {
            [] => ptx_only() && (self.second.is_none() || on_ptx()),
            lines => lines.contains(&line),
        }
    }

    /// The finding with the role names of its warps.
    #[must_use]
    pub fn with_roles(mut self, roles: &Roles) -> Self {
        let sides = self.first.iter_mut().chain(&mut self.second).map(|side| &mut side.site);
        let links = self.chain.iter_mut().filter_map(|link| link.site.as_mut());
        for site in sides.chain(links) {
            site.warp_name = roles.warp(site.warp);
        }
        for waiting in &mut self.waiting {
            waiting.warp_names = roles.warps(&waiting.warps);
        }
        self
    }
}
