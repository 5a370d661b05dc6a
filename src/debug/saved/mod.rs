//! Session files, which `save` writes and `load` reads, in RON.
//!
//! A file has the state of a session apart from the module and its launch: the time, the user's changes to the run, and the user's
//! settings. The run itself is not saved, because it is reproducible: the same module, launch, seed and inputs give the same run. For the
//! same reason a file is refused for another module or launch ([`Saved::check`]), and other inputs of the launches must be the same
//! ([`Saved::differences`]).

mod data;
mod identity;
mod threads;
mod types;

pub use data::SavedInput;
pub use identity::identity;
pub use types::{SavedType, Typed};

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::base::{Diagnostic, Dim3, SourceFile, SourceId, Sources, Span, counted};
use crate::debug::breakpoints::{Breakpoint, Breakpoints, Condition, LogMessage, Trigger};
use crate::debug::findings::Suppressions;
use crate::debug::focus::{Focus, ThreadFilter};
use crate::debug::marks::Marks;
use crate::debug::roles::Roles;
use crate::debug::run::RunOptions;
use crate::debug::target::Target;
use crate::debug::timeline::Input;
use crate::launch::Case;
use crate::launch::ron_text::{self, RonKind};
use crate::machine::{CompletionPolicyKind, Digest, DivergencePolicy, Machine, MemoryModel, Schedule, Tick};
use crate::program::{Bank, Program, shown_name};

/// The version of the format that is written, and the only one that is read.
pub const VERSION: u32 = 1;

/// A session file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename = "Session")]
pub struct Saved {
    /// Version of the format: [`VERSION`].
    pub version: u32,
    /// The module it is about.
    pub module: SavedModule,
    /// The options of the run.
    pub run: SavedRun,
    /// The inputs of the launches: parameters and buffers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub given: Vec<SavedInput>,
    /// The time of the session.
    pub time: Tick,
    /// The digest of the state at that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<SavedState>,
    /// The thread the user looked at.
    pub focus: Focus,
    /// Breakpoints, watchpoints and catchpoints, in order of their numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub breakpoints: Vec<SavedBreakpoint>,
    /// The greatest breakpoint number that was used.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub last_number: u32,
    /// Marked times.
    #[serde(default, skip_serializing_if = "Marks::is_empty")]
    pub marks: Marks,
    /// The arguments of `display`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub displays: Vec<String>,
    /// The roles of warps.
    #[serde(default, skip_serializing_if = "Roles::is_empty")]
    pub roles: Roles,
    /// The types that the user gave variables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<SavedType>,
    /// Settings by name, as they would be typed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
    /// Suppressed findings.
    #[serde(default, skip_serializing_if = "Suppressions::is_empty")]
    pub suppressed: Suppressions,
    /// The changes that the user made to the run, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<(Tick, Input)>,
}

/// The module a session is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename = "Module")]
pub struct SavedModule {
    /// Name of its file, without folders.
    pub name: String,
    /// Digest of its text, in hexadecimal.
    pub digest: String,
}

/// The digest of the machine's state at the time of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename = "State")]
pub struct SavedState {
    /// The version of ptxdbg that wrote it: other versions may represent the same state differently.
    pub version: String,
    /// Its digest, in hexadecimal.
    pub digest: String,
}

impl SavedState {
    /// The digest of the state of `machine`.
    pub fn of(machine: &Machine) -> Self {
        Self { version: env!("CARGO_PKG_VERSION").to_string(), digest: format!("{:016x}", machine.digest()) }
    }

    /// A warning if the state of `machine` differs; none if another version wrote the digest.
    pub fn difference(&self, machine: &Machine) -> Option<String> {
        let now = Self::of(machine);
        let is_other = self.version == now.version && self.digest != now.digest;
        is_other.then(|| format!("warning: the state here has digest {}, and had {} when the session was saved", now.digest, self.digest))
    }
}

/// The options that determine a run, in addition to the module and the data of its buffers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename = "Run")]
pub struct SavedRun {
    /// The launches, in order.
    pub launches: Vec<SavedLaunch>,
    /// The order of warps.
    pub schedule: Schedule,
    /// Seed of everything that is random.
    pub seed: u64,
    /// The memory model.
    #[serde(default, skip_serializing_if = "is_default")]
    pub memory: MemoryModel,
    /// When asynchronous copies complete.
    #[serde(default, skip_serializing_if = "is_default")]
    pub copies: CompletionPolicyKind,
    /// The divergence policy.
    #[serde(default, skip_serializing_if = "is_default")]
    pub divergence: DivergencePolicy,
    /// Most blocks resident at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resident: Option<u32>,
}

/// One launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename = "Launch")]
pub struct SavedLaunch {
    /// The kernel.
    pub kernel: String,
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dynamic_shared: u32,
    /// The blocks that run, if not all do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<[u32; 3]>,
}

/// One entry of the list of breakpoints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename = "Breakpoint")]
pub struct SavedBreakpoint {
    /// Its number.
    pub number: u32,
    /// Its trigger.
    pub trigger: Trigger,
    /// The text that the user typed.
    pub text: String,
    /// The threads it is for.
    #[serde(default, skip_serializing_if = "is_default")]
    pub filter: ThreadFilter,
    /// Its condition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// True if it is enabled.
    pub enabled: bool,
    /// True if it is deleted when it stops.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub temporary: bool,
    /// Number of hits that are still ignored.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ignore: u64,
    /// Number of hits.
    #[serde(default, skip_serializing_if = "is_default")]
    pub hits: u64,
    /// The message that it prints instead of stopping.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The commands that are executed when it stops.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
}

/// The error for a session file that cannot be used.
#[derive(Debug)]
pub enum SavedError {
    /// It cannot be read as text, in one line.
    Unreadable(String),
    /// A syntax or type error, with the source text.
    Wrong(Box<(Sources, Diagnostic)>),
}

impl std::fmt::Display for SavedError {
    /// In one line; an error in the text begins with its position.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SavedError::Unreadable(message) => f.write_str(message),
            SavedError::Wrong(wrong) => {
                let (sources, diagnostic) = &**wrong;
                let (file, at) = (sources.file(diagnostic.span.source), sources.position(diagnostic.span));
                write!(f, "{}:{}:{}: {}", file.name(), at.line, at.column, diagnostic.message)?;
                diagnostic.help.as_ref().map_or(Ok(()), |help| write!(f, "; {help}"))
            }
        }
    }
}

impl std::error::Error for SavedError {}

/// How much of a saved session applies to a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Applies {
    /// All of it: the run is the same.
    Whole,
    /// What depends on no time, for the run is another one; with a line about what is left out, if anything is.
    WithoutTimes(Option<String>),
    /// What depends on neither a time nor an instruction, for the module has changed; with a line about that.
    WithoutPlaces(String),
}

/// The version field, which is read before the others.
#[derive(Deserialize)]
#[serde(rename = "Session")]
struct Head {
    version: u32,
}

const KIND: RonKind = RonKind {
    code: "session",
    whole: "a session file is one Session(version: .., module: .., run: .., ..)",
    empty: "'save session FILE' writes a session file",
    numbers: "times, numbers and indices are whole numbers that are not negative",
};

impl Saved {
    /// The file of a session that has just begun.
    pub fn new(program: &Program, case: &Case, options: &RunOptions) -> Self {
        Self {
            version: VERSION,
            module: SavedModule::of(program),
            run: SavedRun::of(program, case, options),
            given: data::inputs_of(program, case),
            time: Tick::START,
            state: None,
            focus: Focus::default(),
            breakpoints: Vec::new(),
            last_number: 0,
            marks: Marks::default(),
            displays: Vec::new(),
            roles: Roles::default(),
            types: Vec::new(),
            settings: BTreeMap::new(),
            suppressed: Suppressions::default(),
            inputs: Vec::new(),
        }
    }

    /// Reads the session file at `path`.
    ///
    /// # Errors
    /// The file cannot be read as text, or the text is not that of a session file.
    pub fn read(path: &Path) -> Result<Self, SavedError> {
        let text = ron_text::read_text(path).map_err(SavedError::Unreadable)?;
        Self::parse(&path.display().to_string(), text).map_err(SavedError::Wrong)
    }

    /// Reads the text of the session file called `name`.
    ///
    /// # Errors
    /// The first syntax or type error, with the source text.
    pub fn parse(name: &str, text: String) -> Result<Self, Box<(Sources, Diagnostic)>> {
        let mut sources = Sources::default();
        let source = sources.add(SourceFile::new(name, text));
        let parsed = match ron_text::parse::<Head>(&sources, source, &KIND) {
            Ok(Head { version }) if version != VERSION => {
                let message = format!("this session file is of version {version}, and version {VERSION} is read");
                let help = "load it with the ptxdbg that wrote it, or start afresh";
                Err(Diagnostic::error(KIND.code, version_span(&sources, source), message).with_help(help))
            }
            Ok(_) | Err(_) => ron_text::parse::<Self>(&sources, source, &KIND),
        };
        parsed.map_err(|diagnostic| Box::new((sources, diagnostic)))
    }

    /// The text of the file.
    pub fn to_text(&self) -> String {
        ron_text::to_text(self) + "\n"
    }

    /// Checks that the file is for this program, and how much of it is for a run with these options.
    ///
    /// # Errors
    /// It is for another program, or inconsistent, in one line.
    pub fn check(&self, program: &Program, case: &Case, options: &RunOptions) -> Result<Applies, String> {
        let (module, run) = (SavedModule::of(program), SavedRun::of(program, case, options));
        if self.module.name != module.name {
            let name = &self.module.name;
            return Err(format!("this session is of {name}, and another module is loaded: its times and places do not apply"));
        }
        if self.module.digest != module.digest {
            let what = format!("the text of {} has changed since the session was saved", module.name);
            return Ok(Applies::WithoutPlaces(format!("{what}: its times, breakpoints and marks are left out")));
        }
        self.marks.check().map_err(|error| error.message)?;
        self.roles.check().map_err(|error| error.message)?;
        self.check_threads()?;
        if !self.inputs.is_sorted_by_key(|(time, _)| *time) {
            return Err("the inputs of this session are not in order of time".to_string());
        }
        self.check_breakpoints(program)?;
        Ok(if self.run == run { Applies::Whole } else { Applies::WithoutTimes(self.without_times(&run)) })
    }

    /// What of the session is left out in a run that is another one, in a line; none if it has nothing that depends on times.
    fn without_times(&self, run: &SavedRun) -> Option<String> {
        let time = (self.time != Tick::START).then(|| format!("its time t={}", self.time));
        let marks = (!self.marks.is_empty()).then(|| "its marks".to_string());
        let inputs = (!self.inputs.is_empty()).then(|| format!("{} of the run", counted(self.inputs.len() as u64, "change")));
        let left_out: Vec<String> = time.into_iter().chain(marks).chain(inputs).collect();
        let (was, is) = (self.run.describe(), run.describe());
        let left_out = Some(left_out.join(", ")).filter(|left_out| !left_out.is_empty())?;
        Some(format!("this session was run as {was}, and now it is {is}: left out are {left_out}"))
    }

    /// The session for a run with other options: without what depends on times.
    pub fn remove_times(&mut self) {
        (self.time, self.state, self.focus) = (Tick::START, None, Focus::default());
        (self.marks, self.inputs) = (Marks::default(), Vec::new());
    }

    /// The session for a module that has changed: without what depends on times or instructions.
    pub fn remove_places(&mut self) {
        self.remove_times();
        self.breakpoints.clear();
    }

    /// A warning for each input of the launches of `case` that differs from when the session was saved; empty for a file that an earlier
    /// version wrote, without inputs.
    pub fn differences(&self, program: &Program, case: &Case) -> Vec<String> {
        if self.given.is_empty() { Vec::new() } else { data::differences(&self.given, &data::inputs_of(program, case)) }
    }

    /// The warnings of [`Self::differences`] for the session file at `path`, without loading it into a session: its run begins at the
    /// start, whatever the options are.
    ///
    /// # Errors
    /// It cannot be loaded, in one line.
    pub fn compare(path: &Path, program: &Program, case: &Case, options: &RunOptions) -> Result<Vec<String>, String> {
        let saved = Self::read(path).map_err(|error| error.to_string())?;
        let applies = saved.check(program, case, options).map_err(|why| format!("{}: {why}", path.display()))?;
        if let Applies::WithoutPlaces(left_out) = applies {
            return Ok(vec![left_out]);
        }
        saved.breakpoints()?;
        saved.types(program, case)?;
        Ok(saved.differences(program, case))
    }

    /// Checks that the triggers of the breakpoints are valid: the file may have been edited.
    fn check_breakpoints(&self, program: &Program) -> Result<(), String> {
        let count = program.code.len();
        self.breakpoints.iter().try_for_each(|breakpoint| match &breakpoint.trigger {
            Trigger::Code(pcs) | Trigger::Line(pcs) => match pcs.iter().find(|pc| pc.index() >= count) {
                Some(pc) => Err(format!("breakpoint {} is at instruction {}, and the module has {count}", breakpoint.number, pc.0)),
                None => Ok(()),
            },
            Trigger::Watch(target, _) if !can_be_watched(target) => Err(format!(
                "breakpoint {} watches '{}', which is neither a register nor a range of memory",
                breakpoint.number,
                target.name()
            )),
            Trigger::Watch(..) | Trigger::Event(_) => Ok(()),
        })
    }

    /// Puts a list of breakpoints into the file.
    pub fn set_breakpoints(&mut self, breakpoints: &Breakpoints) {
        self.breakpoints = breakpoints.iter().map(SavedBreakpoint::of).collect();
        self.last_number = breakpoints.last_number().unwrap_or(0);
    }

    /// Removes the commands of breakpoints; returns the number of breakpoints that had some.
    pub fn remove_commands(&mut self) -> u64 {
        let with_commands = self.breakpoints.iter_mut().filter(|breakpoint| !breakpoint.commands.is_empty());
        with_commands.map(|breakpoint| breakpoint.commands.clear()).count() as u64
    }

    /// The list of breakpoints in the file.
    ///
    /// # Errors
    /// A condition or message that cannot be read, or a number that occurs twice or is 0, in one line.
    pub fn breakpoints(&self) -> Result<Breakpoints, String> {
        let entries = self.breakpoints.iter().map(SavedBreakpoint::restore).collect::<Result<Vec<_>, _>>()?;
        Breakpoints::numbered(entries, self.last_number).map_err(|error| error.message)
    }
}

impl SavedModule {
    /// The module that `program` was made from.
    fn of(program: &Program) -> Self {
        let source = program.functions.first().map(|function| program.sources_text.file(function.span.source));
        let mut digest = Digest::default();
        let sources: BTreeSet<SourceId> = program.functions.iter().map(|function| function.span.source).collect();
        sources.into_iter().for_each(|source| digest.bytes(program.sources_text.file(source).text().as_bytes()));
        Self { name: source.map_or("", |source| source.short_name()).to_string(), digest: format!("{:016x}", digest.value()) }
    }
}

impl SavedRun {
    fn of(program: &Program, case: &Case, options: &RunOptions) -> Self {
        let launches = case.launches.iter().map(|launch| SavedLaunch {
            kernel: program.functions[launch.kernel.index()].name.to_string(),
            grid: launch.grid,
            block: launch.block,
            dynamic_shared: launch.dynamic_shared,
            blocks: launch.blocks.clone(),
        });
        Self {
            launches: launches.collect(),
            schedule: options.schedule.clone(),
            seed: options.seed,
            memory: options.memory,
            copies: options.copies,
            divergence: options.divergence_of(program),
            resident: options.resident,
        }
    }

    /// `collatz<<<(2,1,1), (32,1,1)>>> with seed 0`
    fn describe(&self) -> String {
        let launch = |launch: &SavedLaunch| {
            let shared = if launch.dynamic_shared > 0 { format!(", {}", launch.dynamic_shared) } else { String::new() };
            let only =
                if launch.blocks.is_empty() { String::new() } else { format!(", only {}", counted(launch.blocks.len() as u64, "block")) };
            format!("{}<<<{}, {}{shared}>>>{only}", shown_name(&launch.kernel), Dim3(launch.grid), Dim3(launch.block))
        };
        let launches: Vec<String> = self.launches.iter().map(launch).collect();
        let order = match &self.schedule {
            Schedule::InOrder => String::new(),
            Schedule::Random => " in random order".to_string(),
            Schedule::Priority { .. } | Schedule::Delayed(_) | Schedule::ContextSwitches(_) => format!(" in the order {}", self.schedule),
        };
        let resident = self.resident.map_or(String::new(), |blocks| format!(", {} at once", counted(u64::from(blocks), "block")));
        let seed = self.copies.seed().map_or(String::new(), |seed| format!(" (seed {seed})"));
        let copies = self.copies.row().note.map_or(String::new(), |note| format!(", {note}{seed}"));
        let divergence = match self.divergence {
            DivergencePolicy::Independent => "",
            DivergencePolicy::Stack => ", warps with a stack",
        };
        let memory = self.memory.seed().map_or(String::new(), |seed| format!(", on weak memory (seed {seed})"));
        format!("{}{order} with seed {}{memory}{resident}{copies}{divergence}", launches.join(", "), self.seed)
    }
}

impl SavedBreakpoint {
    fn of(breakpoint: &Breakpoint) -> Self {
        Self {
            number: breakpoint.number,
            trigger: breakpoint.trigger.clone(),
            text: breakpoint.text.clone(),
            filter: breakpoint.filter,
            condition: breakpoint.condition.as_ref().map(|condition| condition.text().to_string()),
            enabled: breakpoint.enabled,
            temporary: breakpoint.temporary,
            ignore: breakpoint.ignore,
            hits: breakpoint.hits,
            message: breakpoint.message.as_ref().map(|message| message.source().to_string()),
            commands: breakpoint.commands.clone(),
        }
    }

    fn restore(&self) -> Result<Breakpoint, String> {
        let unreadable = |what: &str, message: String| format!("the {what} of breakpoint {} cannot be read: {message}", self.number);
        let condition = self.condition.as_deref().map(Condition::parse).transpose();
        let message = self.message.as_deref().map(LogMessage::parse).transpose();
        Ok(Breakpoint {
            number: self.number,
            trigger: self.trigger.clone(),
            text: self.text.clone(),
            filter: self.filter,
            condition: condition.map_err(|error| unreadable("condition", error.message))?,
            enabled: self.enabled,
            temporary: self.temporary,
            ignore: self.ignore,
            hits: self.hits,
            message: message.map_err(|error| unreadable("message", error.message))?,
            commands: self.commands.clone(),
        })
    }
}

/// Most bytes of memory that a watchpoint of a file may watch.
const WATCHED_BYTES_MAX: u64 = 1 << 30;

fn can_be_watched(target: &Target) -> bool {
    match target {
        Target::Register(register) => {
            let widest = if register.bank == Bank::B64 { 2 } else { 1 };
            (1..=widest).contains(&register.width) && register.slot.0 <= u32::MAX / 2 && !register.lanes.is_empty()
        }
        Target::Variable(variable) => variable.is_valid(),
        Target::Memory(memory) => {
            let is_frame = memory.frame.as_ref().is_none_or(|frame| frame.depth < u32::MAX);
            is_frame && (1..=WATCHED_BYTES_MAX).contains(&memory.bytes) && memory.address.checked_add(memory.bytes).is_some()
        }
    }
}

/// The span of the field `version` in the text.
fn version_span(sources: &Sources, source: crate::base::SourceId) -> Span {
    let text = sources.file(source).text();
    let start = text.find("version").unwrap_or(0);
    let end = text.get(start..).and_then(|rest| rest.find([',', ')', '\n'])).map_or(start, |length| start + length);
    Span::new(source, start as u32, end as u32)
}

fn is_zero(value: &u32) -> bool {
    *value == 0
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
