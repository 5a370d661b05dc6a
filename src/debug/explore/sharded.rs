//! Explorations that are split over machines. Each shard runs the session's order and some of the others, and says of each of these what
//! decides its place in the report of all: how it ended, and of memory and findings a key that is the same where they are.
//!
//! The whole exploration is made from these by the rules of one that runs every order. The few orders that it shows are run again: the
//! first that has a key, and those whose finding is worded.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::outcome::{End, JudgedOrder};
use super::stale::WeakOrder;
use crate::base::Shard;
use crate::check::{Finding, cause_key};
use crate::debug::fault::Fault;
use crate::debug::run::RunError;
use crate::machine::Digest;
use crate::program::Program;

/// The result of an order.
pub(super) struct OrderResult {
    pub judged: JudgedOrder,
    pub fault: Option<Fault>,
    pub findings: Vec<Finding>,
    pub weak: Option<WeakOrder>,
}

/// The orders of explorations that a session runs.
#[derive(Clone, Debug, Default)]
pub enum Split {
    /// All of them.
    #[default]
    Whole,
    /// Those of one shard.
    Shard(Shard),
    /// None but what is shown: the others are those of these explorations, in the order of the commands.
    Merged(VecDeque<RecordedOrders>),
}

/// What a shard reports of an exploration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShardReport {
    /// Its number, from 1.
    pub shard: u64,
    /// The number of shards.
    pub shards: u64,
    /// Digits that are those of the whole exploration.
    pub run: String,
    /// True if the user interrupted it.
    pub interrupted: bool,
    /// Its orders.
    pub orders: Vec<OrderRecord>,
}

/// The orders of all shards of an exploration.
#[derive(Clone, Debug)]
pub struct RecordedOrders {
    /// Digits that are those of the whole exploration.
    pub run: String,
    /// The orders by number.
    pub orders: BTreeMap<u64, OrderRecord>,
}

/// What a shard reports of an order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OrderRecord {
    /// Its number, from 1.
    pub order: u64,
    judged: JudgedRecord,
    /// The key of the fault that stopped it.
    fault: Option<String>,
    /// Those of the findings of its checkers.
    findings: Vec<String>,
    weak: Option<WeakRecord>,
}

/// The end of an order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct JudgedRecord {
    end: End,
    at_limit: bool,
    /// The digest of the buffers, in hexadecimal.
    memory: String,
    /// How they differ from those of the session's order.
    difference: Option<String>,
}

/// What an order on weak memory leaves otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct WeakRecord {
    /// True if a load returned an older write than the newest.
    is_stale: bool,
    /// The end if none does.
    consistent: JudgedRecord,
}

impl Split {
    /// True if an order is run, or its record read.
    pub(super) fn has(&self, order: u64) -> bool {
        match self {
            Split::Shard(shard) => order == 0 || shard.has(order),
            Split::Whole | Split::Merged(_) => true,
        }
    }

    /// The recorded orders of the next exploration; none unless it is made of those.
    ///
    /// # Errors
    /// There are none, or those of another exploration than the one with these digits.
    pub(super) fn next_recorded(&mut self, run: &str) -> Result<Option<RecordedOrders>, RunError> {
        let Split::Merged(recorded) = self else { return Ok(None) };
        let Some(recorded) = recorded.pop_front() else {
            return Err(RunError::Shards("the shards have fewer explorations: their commands were others".to_string()));
        };
        if recorded.run != run {
            let what = "the shards are of another exploration: of other files, data, options, commands or another version of ptxdbg";
            return Err(RunError::Shards(what.to_string()));
        }
        Ok(Some(recorded))
    }
}

impl JudgedRecord {
    fn of(judged: &JudgedOrder) -> Self {
        let (end, memory) = (judged.end.clone(), format!("{:016x}", judged.memory));
        Self { end, at_limit: judged.at_limit, memory, difference: judged.difference.clone() }
    }

    /// The judged order; none if the record was changed by hand.
    fn judged(&self) -> Option<JudgedOrder> {
        let memory = u64::from_str_radix(&self.memory, 16).ok()?;
        let (end, difference) = (self.end.clone(), self.difference.clone());
        Some(JudgedOrder { end, memory, contents: Vec::new(), difference, at_limit: self.at_limit })
    }
}

impl OrderRecord {
    /// The record of order number `order`.
    pub(super) fn of(program: &Program, order: u64, result: &OrderResult) -> Self {
        let weak = result.weak.as_ref().map(|weak| WeakRecord {
            is_stale: weak.weak.is_some(),
            consistent: JudgedRecord { difference: None, ..JudgedRecord::of(&weak.consistent) },
        });
        Self {
            order,
            judged: JudgedRecord::of(&result.judged),
            fault: result.fault.as_ref().map(fault_key),
            findings: result.findings.iter().map(|finding| key(&cause_key(program, finding))).collect(),
            weak,
        }
    }
}

fn key(text: &str) -> String {
    let mut digest = Digest::default();
    digest.bytes(text.as_bytes());
    format!("{:016x}", digest.value())
}

/// What says whether two faults are the same.
fn fault_key(fault: &Fault) -> String {
    let site = fault.site.as_ref().map(|site| site.pc);
    let waiting: Vec<_> = fault.waiting.iter().map(|waiting| waiting.pc).collect();
    key(&format!("{} {} {site:?} {waiting:?}", fault.id.word(), fault.launch))
}

/// The orders of a whole exploration, and what is known of their findings.
pub(super) struct KnownOrders {
    orders: Arc<BTreeMap<u64, OrderRecord>>,
    findings: BTreeMap<String, Finding>,
    faults: BTreeMap<String, Fault>,
}

impl KnownOrders {
    pub fn new(recorded: RecordedOrders) -> Self {
        Self { orders: Arc::new(recorded.orders), findings: BTreeMap::new(), faults: BTreeMap::new() }
    }

    /// The records.
    pub fn orders(&self) -> Arc<BTreeMap<u64, OrderRecord>> {
        Arc::clone(&self.orders)
    }

    /// The result of an order, with findings of other orders that are the same; none if one of them is new.
    pub fn result(&self, record: &OrderRecord) -> Option<OrderResult> {
        let findings = record.findings.iter().map(|key| self.findings.get(key).cloned()).collect::<Option<Vec<_>>>()?;
        let fault = match &record.fault {
            Some(key) => Some(self.faults.get(key)?.clone()),
            None => None,
        };
        let judged = record.judged.judged()?;
        let weak = match &record.weak {
            Some(WeakRecord { is_stale, consistent }) => {
                let weak = is_stale.then(|| (judged.clone(), None));
                Some(WeakOrder { weak, consistent: consistent.judged()? })
            }
            None => None,
        };
        Some(OrderResult { judged, fault, findings, weak })
    }

    /// Takes what an order found, which was run again.
    ///
    /// # Errors
    /// It is not what its shard has recorded.
    pub fn learn(&mut self, program: &Program, record: &OrderRecord, result: &OrderResult) -> Result<(), RunError> {
        let again = OrderRecord::of(program, record.order, result);
        if again != *record {
            let what = format!("order {} gives something else here than in its shard: the file was changed", record.order);
            return Err(RunError::Shards(what));
        }
        self.findings.extend(record.findings.iter().cloned().zip(result.findings.iter().cloned()));
        self.faults.extend(record.fault.iter().cloned().zip(result.fault.iter().cloned()));
        Ok(())
    }
}
