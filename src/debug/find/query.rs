//! A query, and its text: `writes of C by warp 1 between 100 900 where %r1 > 3 by line`.

use std::ops::Range;

use crate::debug::argument::ArgumentError;
use crate::debug::eval_context::EvalContext;
use crate::debug::expression::Expression;
use crate::debug::focus::ThreadFilter;
use crate::debug::marks::{Marks, TimeArgument};
use crate::debug::nearest;
use crate::debug::target::{MemoryTarget, Target};
use crate::debug::view::{is_known_anywhere, nearest_name, past_end};
use crate::isa::Space;
use crate::machine::Tick;

/// What may have happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening {
    /// Memory was written, by a store, an atomic or the end of a copy.
    Writes,
    /// Memory was read, by a load, an atomic or a copy.
    Reads,
    /// Memory was read and written indivisibly.
    Atomics,
    /// Threads executed a branch, taken or not.
    Branches,
    /// Threads arrived at a barrier of the block or the cluster.
    Barriers,
    /// The checkers found something: the answer is of the findings, not of a run.
    Findings,
}

/// What times are counted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// The instruction.
    Line,
    /// The lane, in all warps.
    Lane,
    /// The value that was written, or whether the branch was taken.
    Value,
}

/// What the answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// All events.
    All,
    /// Their number.
    Count,
    /// The first one.
    First,
    /// The last one.
    Last,
    /// Their numbers by something.
    By(Grouping),
}

/// A query.
#[derive(Clone, Debug)]
pub struct Query {
    /// What happened.
    pub happening: Happening,
    /// The memory it happened to; any, if none.
    pub place: Option<MemoryTarget>,
    /// The threads that did it.
    pub threads: ThreadFilter,
    /// The first time.
    pub from: Tick,
    /// The time after the last.
    pub until: Tick,
    /// What must be true for the thread before it does it.
    pub condition: Option<Expression>,
    /// What the answer is.
    pub wanted: Wanted,
}

/// The words for what may have happened.
pub const HAPPENINGS: [(&str, Happening); 6] = [
    ("writes", Happening::Writes),
    ("reads", Happening::Reads),
    ("atomics", Happening::Atomics),
    ("branches", Happening::Branches),
    ("barriers", Happening::Barriers),
    ("findings", Happening::Findings),
];

/// Other words for the same.
const SYNONYMS: [(&str, Happening); 14] = [
    ("write", Happening::Writes),
    ("stores", Happening::Writes),
    ("store", Happening::Writes),
    ("read", Happening::Reads),
    ("loads", Happening::Reads),
    ("load", Happening::Reads),
    ("atomic", Happening::Atomics),
    ("atoms", Happening::Atomics),
    ("atom", Happening::Atomics),
    ("branch", Happening::Branches),
    ("barrier", Happening::Barriers),
    ("syncs", Happening::Barriers),
    ("finding", Happening::Findings),
    ("races", Happening::Findings),
];

/// The words that begin a part of a query.
const PARTS: [&str; 7] = ["of", "by", "between", "where", "count", "first", "last"];

/// The usage, for messages.
pub const USAGE: &str = "usage: find writes|reads|atomics|branches|barriers|findings [of PLACE] [by THREADS] [between T1 T2] [where \
                         EXPRESSION] [count|first|last|by line|by lane|by value]";

impl Query {
    /// True if the answer has values.
    pub fn needs_values(&self) -> bool {
        match self.wanted {
            Wanted::All | Wanted::First | Wanted::Last | Wanted::By(Grouping::Value) => true,
            Wanted::Count | Wanted::By(Grouping::Line | Grouping::Lane) => false,
        }
    }

    /// Parses the text after `find`; `now` is the time that others may be relative to.
    ///
    /// # Errors
    /// A part of it is wrong, with its place.
    pub fn parse(text: &str, context: &EvalContext<'_>, marks: &Marks, now: Tick) -> Result<Self, ArgumentError> {
        let parts = parts(text);
        let (first, rest) = parts.split_first().ok_or_else(|| ArgumentError::new("what is to be found?").with_help(USAGE))?;
        let word = text[first.clone()].trim();
        let happening = happening(word).map_err(|error| error.at(first.clone()))?;
        let (threads, wanted) = (ThreadFilter::default(), Wanted::All);
        let mut query = Self { happening, place: None, threads, from: Tick::START, until: Tick::MAX, condition: None, wanted };
        for part in rest {
            query.part(text, part, context, (marks, now)).map_err(|error| match error.span {
                Some(_) => error.shifted(part.start),
                None => error.at(part.clone()),
            })?;
        }
        query.check(word)?;
        query.choose_block(context);
        Ok(query)
    }

    /// Checks that what the query asks for is known of what it asks about, which is called `word`.
    fn check(&self, word: &str) -> Result<(), ArgumentError> {
        let (has_memory, has_values, has_registers) = match self.happening {
            Happening::Writes => (true, true, true),
            Happening::Reads | Happening::Atomics => (true, false, true),
            Happening::Branches => (false, true, true),
            Happening::Barriers => (false, false, true),
            Happening::Findings => (true, false, false),
        };
        let problem = match () {
            () if self.place.is_some() && !has_memory => format!("{word} are of no memory: leave 'of' out"),
            () if self.wanted == Wanted::By(Grouping::Value) && !has_values => "values are known of writes and of branches".to_string(),
            () if self.condition.is_some() && !has_registers => {
                format!("{word} have two sides, at two times: 'where' has no thread to ask. 'of', 'by' and 'between' choose some")
            }
            () => return Ok(()),
        };
        Err(ArgumentError::new(problem).with_help(USAGE))
    }

    /// Shared memory is that of the block whose threads are asked for, if no other block can access it.
    pub(super) fn choose_block(&mut self, context: &EvalContext<'_>) {
        let block = self.threads.block.filter(|_| context.machine.config().blocks_of_cluster() <= 1);
        if let (Some(place), Some(block)) = (self.place.as_mut().filter(|place| place.space == Space::Shared), block) {
            place.owner.block = block;
        }
    }

    /// Takes a part of the text, which begins with its word.
    fn part(&mut self, text: &str, part: &Range<usize>, context: &EvalContext<'_>, times: (&Marks, Tick)) -> Result<(), ArgumentError> {
        let text = text[part.clone()].trim_end();
        let (word, after) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let argument = after.trim_start();
        let at = text.len() - argument.len();
        let shifted = |error: ArgumentError| error.shifted(at);
        let grouping = match argument {
            "line" => Some(Grouping::Line),
            "lane" => Some(Grouping::Lane),
            "value" => Some(Grouping::Value),
            _ => None,
        };
        match (word, grouping, argument.is_empty()) {
            ("by", Some(grouping), _) => self.wanted = Wanted::By(grouping),
            ("count", _, true) => self.wanted = Wanted::Count,
            ("first", _, true) => self.wanted = Wanted::First,
            ("last", _, true) => self.wanted = Wanted::Last,
            ("count" | "first" | "last", ..) => return Err(ArgumentError::new(format!("'{argument}' is not expected after {word}"))),
            (_, _, true) => return Err(ArgumentError::new(format!("something is expected after '{word}'")).with_help(USAGE)),
            ("by", ..) => {
                let filter = ThreadFilter::parse(argument, &context.extents(), context.roles);
                self.threads = filter.map_err(|error| shifted(ArgumentError::new(error.message)))?;
            }
            ("between", ..) => {
                let (first, last) =
                    argument.split_once(char::is_whitespace).ok_or_else(|| ArgumentError::new("two times are expected after 'between'"))?;
                self.from = time(times, first).map_err(shifted)?;
                self.until = time(times, last).map_err(shifted)?;
                if self.from > self.until {
                    let (last, first) = (last.trim(), first.trim());
                    let error = ArgumentError::new(format!("no time lies between {first} and {last}: the second is the earlier one"));
                    return Err(shifted(error.at(0..argument.len()).with_help(format!("between {last} {first}"))));
                }
            }
            ("where", ..) => {
                let parsed = Expression::parse(argument);
                let parsed = parsed.map_err(|error| ArgumentError::new(format!("{}; expected {}", error.message, error.expected)))?;
                if let Some(name) = parsed.names().into_iter().find(|name| !is_known_anywhere(context, name)) {
                    let start = at + argument.find(name).unwrap_or(0);
                    let error = ArgumentError::new(format!("nothing in this module is called '{name}'")).at(start..start + name.len());
                    return Err(error.with_nearest(name, nearest_name(context, name).as_deref()));
                }
                self.condition = Some(parsed);
            }
            _ => {
                let parsed = Expression::parse(argument).map_err(|error| ArgumentError::new(error.message.clone()))?;
                let target = parsed.target(context).map_err(|error| {
                    let note = past_end(context, argument);
                    note.into_iter().fold(ArgumentError::new(error.to_string()), ArgumentError::with_help)
                })?;
                match target {
                    Target::Memory(target) => self.place = Some(target),
                    Target::Register(_) | Target::Variable(_) => {
                        let error = ArgumentError::new(format!("'{argument}' is a register, and memory is asked for"));
                        return Err(error.with_help("'history' lists the writes to a register"));
                    }
                }
            }
        }
        Ok(())
    }
}

/// What `word` means.
fn happening(word: &str) -> Result<Happening, ArgumentError> {
    let words = || HAPPENINGS.iter().chain(&SYNONYMS);
    let found = words().find(|(name, _)| *name == word).map(|(_, happening)| *happening);
    found.ok_or_else(|| {
        let error = ArgumentError::new(format!("'{word}' is nothing that can be found"));
        match nearest(word, words().map(|(name, _)| *name)) {
            Some(near) => error.with_help(format!("did you mean '{near}'?")),
            None => error.with_help(USAGE),
        }
    })
}

/// A time, as `goto` takes it; `end` is after all that was executed.
fn time((marks, now): (&Marks, Tick), text: &str) -> Result<Tick, ArgumentError> {
    Ok(match marks.parse_time(text, now)? {
        TimeArgument::Start => Tick::START,
        TimeArgument::End => Tick::MAX,
        TimeArgument::Tick(tick) => tick,
        TimeArgument::Mark(mark) => mark.time,
    })
}

/// The parts of a query: the first, and those that begin with a word of [`PARTS`] outside of brackets.
fn parts(text: &str) -> Vec<Range<usize>> {
    let (mut depth, mut starts) = (0_i32, vec![0]);
    let mut at = 0;
    for word in text.split_inclusive(char::is_whitespace) {
        if depth <= 0 && at > 0 && PARTS.contains(&word.trim()) {
            starts.push(at);
        }
        depth += word.matches(['(', '[', '{']).count() as i32 - word.matches([')', ']', '}']).count() as i32;
        at += word.len();
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().copied().zip(ends).map(|(start, end)| start..end).filter(|range| !text[range.clone()].trim().is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn a_query_is_split_at_its_words() {
        let text = "writes of C[3] by warp 1 where (%r1 of) > 3 by line";
        let split: Vec<&str> = parts(text).into_iter().map(|range| text[range].trim()).collect();
        assert_eq!(split, ["writes", "of C[3]", "by warp 1", "where (%r1 of) > 3", "by line"]);
    }
}
