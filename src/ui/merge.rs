//! `--merge`: what the shards of a run printed with `--format json`, as the whole run prints it.
//!
//! A shard of `--verify` ends with a line of kind `shard`: which run it is a part of, and to which case each line before belongs. The lines
//! of all shards, in the order of the cases, are those of the whole run, but for the totals and the bound on findings, which are made here.
//! Shards of `explore` answer with their orders, which a session takes instead of running them.

use std::collections::{BTreeMap, VecDeque};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::output::Standard;
use super::refusal::{Failure, Status};
use super::text::{self, Style};
use super::visible::visible_json;
use crate::base::Shard;
use crate::base::save::cause;
use crate::debug::FindingBudget;
use crate::debug::explore::{RecordedOrders, ShardReport};
use crate::debug::fidelity::Fidelity;
use crate::debug::findings::FindingId;

/// The last line of a shard of `--verify`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct VerifiedShard {
    /// Always `shard`.
    kind: String,
    /// Its number, from 1, and how many there are.
    shard: u64,
    shards: u64,
    /// Digits that are those of the run of all cases.
    run: String,
    /// The cases of all shards.
    cases: u64,
    max_findings: usize,
    /// The cases that printed something, with the number of lines of each.
    lines: Vec<(u64, usize)>,
    /// The first case that executed each opcode of the fidelity, in its order, and that had each of its influences.
    opcodes: Vec<u64>,
    influences: Vec<u64>,
    interrupted: bool,
    #[serde(skip)]
    first_of_opcode: BTreeMap<String, u64>,
    #[serde(skip)]
    first_of_influence: BTreeMap<&'static str, u64>,
}

impl VerifiedShard {
    /// The shard of a run before its first case.
    pub fn new(shard: Shard, run: String, cases: u64, max_findings: usize) -> Self {
        Self {
            kind: "shard".to_string(),
            shard: shard.number(),
            shards: shard.count(),
            run,
            cases,
            max_findings,
            lines: Vec::new(),
            opcodes: Vec::new(),
            influences: Vec::new(),
            interrupted: false,
            first_of_opcode: BTreeMap::new(),
            first_of_influence: BTreeMap::new(),
        }
    }

    /// Adds what a case executed.
    pub fn executed(&mut self, case: u64, fidelity: &Fidelity) {
        for row in &fidelity.opcodes {
            self.first_of_opcode.entry(row.opcode.clone()).or_insert(case);
        }
        for (influence, _) in &fidelity.influences {
            self.first_of_influence.entry(influence.words()).or_insert(case);
        }
    }

    /// Adds the number of lines that a case printed.
    pub fn printed(&mut self, case: u64, lines: usize) {
        self.lines.extend(Some((case, lines)).filter(|_| lines > 0));
    }

    /// The line, after the fidelity of all its cases was printed.
    pub fn line(mut self, fidelity: &Fidelity, interrupted: bool) -> String {
        self.interrupted = interrupted;
        self.opcodes = fidelity.opcodes.iter().filter_map(|row| self.first_of_opcode.get(&row.opcode).copied()).collect();
        let influences = fidelity.influences.iter();
        self.influences = influences.filter_map(|(influence, _)| self.first_of_influence.get(influence.words()).copied()).collect();
        format!("{}\n", json!(self))
    }
}

/// What one shard of `--verify` printed.
struct ShardFile {
    shard: VerifiedShard,
    /// The lines of modules with errors.
    modules: Vec<String>,
    /// The lines of each case.
    cases: Vec<(u64, Vec<String>)>,
    totals: Vec<Value>,
}

/// The text of a file of JSON lines.
///
/// # Errors
/// It cannot be read.
fn lines_of(path: &Path) -> Result<Vec<String>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {}", path.display(), cause(&error)))?;
    Ok(text.lines().map(str::to_string).collect())
}

impl ShardFile {
    fn read(path: &Path) -> Result<Self, String> {
        let mut lines = lines_of(path)?;
        let last = lines.pop().unwrap_or_default();
        let shard = serde_json::from_str::<VerifiedShard>(&last).ok().filter(|shard| shard.kind == "shard");
        let other = || format!("{}: it is not what --verify --shard I/N --format json printed: its last line is no shard", path.display());
        let shard = shard.ok_or_else(other)?;
        if shard.interrupted {
            return Err(format!("{}: shard {} was interrupted", path.display(), shard.shard));
        }
        let cut = || format!("{}: lines are missing", path.display());
        let is_total = |line: &String| ["findings_omitted", "fidelity", "verdict"].iter().any(|kind| has_kind(line, kind));
        let totals_at = lines.iter().position(is_total).ok_or_else(cut)?;
        let totals = lines.split_off(totals_at).iter().map(|line| serde_json::from_str(line)).collect::<Result<Vec<Value>, _>>();
        let of_cases: usize = shard.lines.iter().map(|(_, count)| count).sum();
        let mut rest = lines.split_off(lines.len().checked_sub(of_cases).ok_or_else(cut)?).into_iter();
        let cases = shard.lines.iter().map(|(case, count)| (*case, rest.by_ref().take(*count).collect())).collect();
        Ok(Self { modules: lines, cases, totals: totals.map_err(|_| cut())?, shard })
    }

    /// The last total of this kind.
    fn total(&self, kind: &str) -> Option<&Value> {
        self.totals.iter().find(|total| total["kind"] == kind)
    }
}

/// True if a line of JSON is of this kind.
fn has_kind(line: &str, kind: &str) -> bool {
    serde_json::from_str::<Value>(line).is_ok_and(|line| line["kind"] == kind)
}

/// Checks that files hold each shard of one run once. A file has its number, the number of shards and the digits of its run.
///
/// # Errors
/// They do not: a message of one line.
pub fn check_shards(files: &[(&Path, u64, u64, &str)]) -> Result<(), String> {
    let Some((first, _, shards, run)) = files.first() else { return Ok(()) };
    let mut seen = BTreeMap::new();
    for (path, number, count, of) in files {
        let (path, first) = (path.display(), first.display());
        if of != run {
            return Err(format!("{path} is of another run than {first}: other files, data, options or version of ptxdbg"));
        }
        if count != shards {
            return Err(format!("{path} is shard {number}/{count}, and {first} is one of {shards}"));
        }
        if let Some(other) = seen.insert(number, path.to_string()) {
            return Err(format!("{other} and {path} are both shard {number}/{count}"));
        }
    }
    match (1..=*shards).find(|number| !seen.contains_key(number)) {
        Some(missing) => Err(format!("shard {missing}/{shards} is missing: {} of {shards} are given", seen.len())),
        None => Ok(()),
    }
}

/// The orders of each exploration of a session, from what its shards printed.
///
/// # Errors
/// The files are not the shards of one run: a message of one line.
pub fn merge_explorations(paths: &[PathBuf]) -> Result<VecDeque<RecordedOrders>, String> {
    let files = paths.iter().map(|path| explorations(path)).collect::<Result<Vec<_>, _>>()?;
    let count = files.iter().map(Vec::len).max().unwrap_or(0);
    let merged = (0..count).map(|place| {
        let reports = paths.iter().zip(&files).map(|(path, reports)| match reports.get(place) {
            Some(report) => Ok((&**path, report)),
            None => Err(format!("{} has fewer explorations than others: {} of {count}", path.display(), reports.len())),
        });
        let reports = reports.collect::<Result<Vec<_>, _>>()?;
        let numbers: Vec<_> = reports.iter().map(|(path, report)| (*path, report.shard, report.shards, report.run.as_str())).collect();
        check_shards(&numbers)?;
        let orders = reports.iter().flat_map(|(_, report)| &report.orders).map(|record| (record.order, record.clone()));
        let run = reports.first().map_or(String::new(), |(_, report)| report.run.clone());
        Ok(RecordedOrders { run, orders: orders.collect() })
    });
    merged.collect()
}

/// The explorations of a shard, in the order of its commands.
fn explorations(path: &Path) -> Result<Vec<ShardReport>, String> {
    let mut found = Vec::new();
    for line in lines_of(path)? {
        let line: Value = serde_json::from_str(&line).map_err(|_| format!("{}: it is no file of JSON lines", path.display()))?;
        for answer in line["answers"].as_array().into_iter().flatten().filter(|answer| answer["answer"] == "exploration") {
            let report = serde_json::from_value::<ShardReport>(answer["data"].clone());
            let report = report.map_err(|error| format!("{}: an exploration is damaged: {error}", path.display()))?;
            if report.interrupted {
                return Err(format!("{}: shard {} was interrupted", path.display(), report.shard));
            }
            found.push(report);
        }
    }
    let none = || format!("{}: it has no exploration that --shard I/N with --batch and --format json printed", path.display());
    if found.is_empty() { Err(none()) } else { Ok(found) }
}

/// Prints what the run of all shards of `--verify` prints with `--format json`.
///
/// # Errors
/// The files are not the shards of one run, or standard output cannot be written.
pub fn merge_verified(paths: &[PathBuf]) -> Result<Status, Failure> {
    let files = paths.iter().map(|path| ShardFile::read(path)).collect::<Result<Vec<_>, _>>().map_err(Failure::Message)?;
    let numbers: Vec<_> = paths.iter().zip(&files).map(|(path, ShardFile { shard, .. })| (&**path, shard)).collect();
    let numbers: Vec<_> = numbers.iter().map(|(path, shard)| (*path, shard.shard, shard.shards, shard.run.as_str())).collect();
    check_shards(&numbers).map_err(Failure::Message)?;
    let (text, failed) = merged(&files).map_err(|what| Failure::Message(format!("the files cannot be merged: {what}")))?;
    let mut out = Standard::output();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(if failed == 0 { Status::Well } else { Status::Wrong })
}

/// The lines of the whole run, and how many cases failed.
fn merged(files: &[ShardFile]) -> Result<(String, u64), String> {
    let mut text: String = files.iter().flat_map(|file| &file.modules).map(|line| format!("{line}\n")).collect();
    let mut budget = FindingBudget::new(files.first().map_or(0, |file| file.shard.max_findings));
    let mut cases: Vec<&(u64, Vec<String>)> = files.iter().flat_map(|file| &file.cases).collect();
    cases.sort_by_key(|(case, _)| *case);
    for line in cases.into_iter().flat_map(|(_, lines)| lines) {
        text += &limited(line, &mut budget)?;
    }
    for file in files {
        for (id, count) in file.total("findings_omitted").and_then(|total| total["by_id"].as_object()).into_iter().flatten() {
            budget.omit(finding_id(&json!(id))?, count.as_u64().unwrap_or(0));
        }
    }
    text += &text::omitted(budget.omitted(), Style::Json);
    text += &format!("{}\n", fidelity(files)?);
    let count = |what: &str| files.iter().filter_map(|file| file.total("verdict")?[what].as_u64()).sum::<u64>();
    let (passed, failed) = (count("passed"), count("failed"));
    text += &text::verdict(passed as usize, failed as usize, Style::Json);
    Ok((text, failed))
}

/// The finding with an id.
fn finding_id(id: &Value) -> Result<FindingId, String> {
    id.as_str().and_then(FindingId::of_word).ok_or_else(|| format!("there is no finding {id}"))
}

/// A line of a case with the findings that may still be printed; empty if nothing of it is left to say.
fn limited(line: &str, budget: &mut FindingBudget) -> Result<String, String> {
    let unchanged = format!("{line}\n");
    let mut case: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
    if case["kind"] != "case" {
        return Ok(unchanged);
    }
    let mut lists = [(); 2].map(|()| Vec::new());
    for (list, name) in lists.iter_mut().zip(["failures", "findings"]) {
        for entry in case[name].as_array().into_iter().flatten() {
            let finding = if name == "findings" { Some(entry) } else { entry.get("finding") };
            list.push((finding.map(|finding| finding_id(&finding["id"])).transpose()?, entry.clone()));
        }
    }
    let counts = lists.each_ref().map(Vec::len);
    let [failures, findings] = &mut lists;
    // Each failure is a finding as well, and those are counted.
    FindingBudget::new(budget.remaining()).limit(failures, |(id, _)| *id);
    budget.limit(findings, |(id, _)| *id);
    let has_nothing = case["passed"] == true && findings.is_empty() && case.get("part").is_none();
    if has_nothing && counts[1] > 0 {
        return Ok(String::new());
    }
    if lists.each_ref().map(Vec::len) == counts {
        return Ok(unchanged);
    }
    for (list, name) in lists.into_iter().zip(["failures", "findings"]) {
        case[name] = list.into_iter().map(|(_, entry)| entry).collect();
    }
    Ok(visible_json(&format!("{case}\n")))
}

/// The fidelity of all shards: the first case that executed an opcode says where.
fn fidelity(files: &[ShardFile]) -> Result<String, String> {
    let (mut opcodes, mut influences) = (BTreeMap::new(), BTreeMap::new());
    for file in files {
        let total = file.total("fidelity").ok_or("a fidelity is missing")?;
        let rows = |name: &str| total[name].as_array().cloned().unwrap_or_default();
        for (row, case) in rows("opcodes").into_iter().zip(&file.shard.opcodes) {
            let key = (rank(&row), row["opcode"].as_str().unwrap_or_default().to_string());
            let first = opcodes.entry(key).or_insert((*case, row.clone()));
            if *case < first.0 {
                *first = (*case, row);
            }
        }
        for ((place, row), case) in rows("approximate_may_have_decided").into_iter().enumerate().zip(&file.shard.influences) {
            let first = influences.entry(row["what"].to_string()).or_insert((*case, place, row.clone()));
            if *case < first.0 {
                *first = (*case, place, row);
            }
        }
    }
    let opcodes: Vec<Value> = opcodes.into_values().map(|(_, row)| row).collect();
    let mut influences: Vec<_> = influences.into_values().collect();
    influences.sort_by_key(|(case, place, _)| (*case, *place));
    let influences: Vec<Value> = influences.into_iter().map(|(_, _, row)| row).collect();
    let line = json!({ "kind": "fidelity", "opcodes": opcodes, "approximate_may_have_decided": influences });
    Ok(visible_json(&line.to_string()))
}

/// Rows that are known to be exact come first, and what approximates last.
fn rank(row: &Value) -> usize {
    let trusts = ["bit_exact", "manual", "approximate"];
    trusts.iter().position(|trust| row["trust"] == *trust).unwrap_or(trusts.len())
}
