//! One debugging session: a recorded run, the position of the user in it, and its breakpoints and displays.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::arrays::{self, ArrayType};
use super::branches::{Branches, KeptRun};
use super::breakpoints::{Breakpoints, Event};
use super::display_list::Display;
use super::edit::{Edit, EditError};
use super::eval_context::{Buffer, EvalContext};
use super::explore::{Exploration, Split};
use super::expression::{CONVENIENCES, Expression};
use super::fault::Fault;
use super::findings::FindingLog;
use super::focus::Focus;
use super::kept_values::{self, Kept, KeptValues};
use super::marks::Marks;
use super::names::inferred::InferredTypes;
use super::names::scope;
use super::open::{Opened, OpenedLaunch};
use super::resume::{Spin, Visits, WarpKey, WatchedValues, flag_reads};
use super::roles::Roles;
use super::run::{RunError, RunOptions};
use super::saved::{Applies, Saved, SavedState, Typed};
use super::settings::{SETTINGS, Settings};
use super::skip::Skips;
use super::source_texts::SourceTexts;
use super::stop::Stop;
use super::tensors::LazyTensors;
use super::timeline::{End, Input, StartError, Timeline};
use super::value::Value;
use super::view::{self, Examined};
use crate::dwarf::LazyDebugInfo;
use crate::isa::ScalarType;
use crate::launch::{Case, Reason};
use crate::machine::{Machine, NullObserver, Step, Tick};
use crate::program::{Program, VarId};

/// A debugging session.
pub struct Session {
    program: Arc<Program>,
    pub(super) timeline: Timeline,
    /// The other runs that the user's changes have left.
    pub(super) branches: Branches,
    /// The focused thread.
    pub focus: Focus,
    /// The settings.
    pub settings: Settings,
    /// Breakpoints, watchpoints and catchpoints.
    pub breakpoints: Breakpoints,
    /// Named times.
    pub marks: Marks,
    /// The displays, shown at every stop.
    pub displays: Vec<Display>,
    /// The roles of warps.
    pub roles: Roles,
    /// The values under names with a `$`.
    pub kept: KeptValues,
    /// The files and functions that stepping passes over.
    pub skips: Skips,
    /// The launch file of the launches; none for an `asm` statement.
    pub(super) opened_launch: Option<OpenedLaunch>,
    /// The number of the case that runs.
    pub(super) case_number: usize,
    /// Types of the buffers that the launches make.
    buffers: Vec<Buffer>,
    /// The inferred types of registers.
    inferred: InferredTypes,
    /// The debug data of the program.
    pub(super) debug_data: Arc<LazyDebugInfo>,
    /// The texts of the source.
    source_texts: Arc<SourceTexts>,
    /// The tensors of Triton's code.
    tensors: LazyTensors,
    /// The findings.
    pub(super) finding_log: FindingLog,
    pub(super) navigation: NavigationHistory,
    /// The machine at the previous stop.
    pub(super) earlier: Option<Machine>,
    /// That the focus has left a thread that exited.
    pub(super) left_thread: Option<LeftThread>,
    /// The event that the focused warp runs to (`run-to`).
    pub(super) run_to_event: Option<Event>,
    /// For each instruction, true if it reads a flag.
    pub(super) flag_reads: Arc<Vec<bool>>,
    /// The flag that the stepped warp read last.
    pub(super) spin: Spin,
    /// The values of watched variables when the last run stopped.
    pub(super) watched_values: Vec<WatchedValues>,
    /// The warp that ran last because the stepped one waited for a flag.
    pub(super) yielded_to: Option<WarpKey>,
    /// The systematic exploration that `explore systematic continue` continues.
    pub(super) exploration: Option<Box<Exploration>>,
    /// The orders of explorations that are run here.
    pub split: Split,
    /// The number of orders tried, while an exploration runs.
    pub(super) orders_tried: Option<u64>,
    /// The visits to the lines of breakpoints, by number.
    pub(super) visits: BTreeMap<u32, Visits>,
    /// The output of logpoints since the run began.
    pub(super) log: Vec<String>,
}

/// The progress of a long run.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// The current time.
    pub time: Tick,
    /// Blocks that have begun to execute.
    pub blocks_started: u64,
    /// Blocks of the grid.
    pub blocks: u64,
    /// The number of orders tried, in an exploration.
    pub orders: Option<u64>,
}

/// Asked every few milliseconds of a long run whether it continues.
pub trait InterruptCheck {
    /// False stops the run at once. The session can be read; its focus is that of the user only when the run is over.
    fn should_continue(&mut self, session: &Session) -> bool;
}

/// Never interrupts a run.
pub struct NeverInterrupt;

impl InterruptCheck for NeverInterrupt {
    fn should_continue(&mut self, _: &Session) -> bool {
        true
    }
}

/// That the focus has moved from a thread that has exited to another one: a step back is one of the thread that has.
pub(super) struct LeftThread {
    /// When it moved.
    pub at: Tick,
    /// The thread that has exited.
    pub from: Focus,
    /// The other one.
    pub to: Focus,
}

/// The times that the user visited, for `back` and `forward`.
#[derive(Default)]
pub(super) struct NavigationHistory {
    times: Vec<Tick>,
    at: usize,
}

impl Session {
    /// A session of case number `case` of `opened`, before the first instruction.
    ///
    /// # Errors
    /// There is no such case, the device refuses its first launch, or its buffers cannot be filled.
    pub fn new(mut opened: Opened, case: usize, options: RunOptions) -> Result<Self, StartError> {
        if case >= opened.plan.cases.len() {
            return Err(RunError::NoLaunch.into());
        }
        let (opened_launch, case_number) = (opened.launch.take(), case);
        let tensors = LazyTensors::beside(opened_launch.as_ref().map(|launch| launch.module.clone()));
        let case = Arc::new(opened.plan.cases.swap_remove(case));
        let buffers = Buffer::of_case(&case);
        let mut inferred = InferredTypes::new(&opened.program);
        for (variable, ty) in launch_types(&opened.program, &case) {
            inferred.arrays.choose(variable, Some(ty));
        }
        let folders = opened_launch.as_ref().map_or(Vec::new(), |launch| launch.folders.clone());
        let source_texts = Arc::new(SourceTexts::new(&opened.program, folders));
        let flag_reads = Arc::new(flag_reads(&opened.program));
        let timeline = Timeline::new(Arc::clone(&opened.program), case, options, Vec::new())?;
        let focus = Focus::first(timeline.machine());
        let mut navigation = NavigationHistory::default();
        navigation.push(timeline.time());
        Ok(Self {
            program: opened.program,
            timeline,
            branches: Branches::default(),
            focus,
            settings: Settings::default(),
            breakpoints: Breakpoints::default(),
            marks: Marks::default(),
            displays: Vec::new(),
            roles: Roles::default(),
            kept: KeptValues::default(),
            opened_launch,
            case_number,
            buffers,
            inferred,
            debug_data: Arc::new(LazyDebugInfo::with_source(Arc::<SourceTexts>::clone(&source_texts))),
            source_texts,
            skips: Skips::default(),
            tensors,
            finding_log: FindingLog::default(),
            navigation,
            earlier: None,
            left_thread: None,
            run_to_event: None,
            flag_reads,
            spin: Spin::default(),
            watched_values: Vec::new(),
            yielded_to: None,
            exploration: None,
            split: Split::default(),
            orders_tried: None,
            visits: BTreeMap::new(),
            log: Vec::new(),
        })
    }

    /// The program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// The case that runs.
    pub fn case(&self) -> &Case {
        self.timeline.case()
    }

    /// The machine as it is now.
    pub fn machine(&self) -> &Machine {
        self.timeline.machine()
    }

    /// The debug data of the program.
    pub fn debug_data(&self) -> &LazyDebugInfo {
        &self.debug_data
    }

    /// The texts of the source.
    pub fn source_texts(&self) -> &SourceTexts {
        &self.source_texts
    }

    /// Bytes that `printf` has written since the first launch, and the number of bytes lost because the buffer is full.
    pub fn printed(&self) -> (usize, u64) {
        let printed = self.machine().device().printed();
        (printed.bytes().len(), printed.lost())
    }

    /// The output of `printf` since it `had` written that much, as complete lines, and a note if some was lost; empty if it has written
    /// less.
    pub fn printed_since(&self, had: (usize, u64)) -> Vec<u8> {
        let printed = self.machine().device().printed();
        let new = printed.bytes().get(had.0..).unwrap_or_default();
        view::printed(new.to_vec(), printed.lost().saturating_sub(had.1))
    }

    /// The evaluation context of the focused thread.
    pub fn eval_context(&self) -> EvalContext<'_> {
        let names = self.case().launches.get(self.launch()).map(|launch| &launch.names);
        let context = EvalContext::at(self.machine(), self.focus).with_param_names(names);
        context
            .with_buffers(&self.buffers)
            .with_inferred_types(&self.inferred)
            .with_roles(&self.roles)
            .with_kept_values(&self.kept)
            .with_debug_data(&self.debug_data)
            .with_tensors(&self.tensors)
            .with_source_texts(&self.source_texts)
    }

    /// Gives the session the text of Triton's intermediate code (`.ttgir`).
    pub fn describe_tensors(&mut self, text: String) {
        self.tensors = LazyTensors::described(text);
    }

    /// That text, given or beside the module, if the kernel of the launch has one.
    pub fn tensor_text(&self) -> Option<String> {
        self.tensors.text(&self.program().functions[self.machine().config().kernel.index()].name)
    }

    /// The variable that `name` means in the scope of the focused thread.
    pub fn variable_called(&self, name: &str) -> Option<VarId> {
        scope::variable_called(&self.eval_context(), name).and_then(|variable| arrays::id_of(&self.program, variable))
    }

    /// The variable, without its `$`, that `set` gives a value where it is called `text`; none if it is something else, such as a register.
    pub fn variable_to_set<'t>(&self, text: &'t str) -> Option<&'t str> {
        let name = kept_values::variable_name(text)?;
        let context = self.eval_context();
        let is_taken =
            CONVENIENCES.iter().any(|row| row.0 == text) || scope::look_up(&context, context.frame().ok().as_ref(), text).is_some();
        (!is_taken).then_some(name)
    }

    /// True if `text` is a name with a `$` that nothing has given a value.
    pub fn is_void(&self, text: &str) -> bool {
        self.kept.get(text) == Some(Kept::Void) && (self.variable_to_set(text).is_some() || text.trim_start_matches('$').is_empty())
    }

    /// Keeps the last address that was examined as `$_`, and what lies there as `$__`.
    pub fn keep_examined(&mut self, examined: &Examined) {
        let Some(last) = examined.last() else { return };
        self.kept.set("_", Value::Scalar(last));
        let contents = Expression::parse("*$_").ok().and_then(|contents| contents.evaluate(&self.eval_context()).ok());
        if let Some(contents) = contents {
            self.kept.set("__", contents);
        }
    }

    /// Sets the array type of a variable; without one, the type is inferred from accesses or declared.
    pub fn choose_type(&mut self, variable: VarId, ty: Option<ArrayType>) {
        self.inferred.arrays.choose(variable, ty);
    }

    /// Sets the type of a buffer; without one, it is the launch's.
    pub fn choose_buffer_type(&mut self, name: &str, ty: Option<ArrayType>) {
        self.inferred.arrays.choose_buffer(name, ty);
        self.take_buffers(Buffer::of_case(self.case()));
    }

    /// Takes the buffers of the launch, with the types that the user has set where they fit.
    fn take_buffers(&mut self, mut buffers: Vec<Buffer>) {
        for (name, ty) in self.inferred.arrays.chosen_buffers() {
            let chosen = Buffer { name: name.clone(), ty: ty.ty, shape: ty.shape.clone() };
            if let Some(buffer) = buffers.iter_mut().find(|buffer| buffer.name == *name && buffer.bytes() == chosen.bytes()) {
                *buffer = chosen;
            }
        }
        self.buffers = buffers;
    }

    /// The times that the user visited, which `back` and `forward` reach.
    pub fn navigation(&self) -> &[Tick] {
        &self.navigation.times
    }

    /// The context at the previous stop, by time or by navigation; none before the first run.
    pub fn earlier(&self) -> Option<EvalContext<'_>> {
        let context = |machine| EvalContext { machine, ..self.eval_context() };
        self.earlier.as_ref().map(context)
    }

    /// The current time of the session.
    pub fn time(&self) -> Tick {
        self.timeline.time()
    }

    /// The latest time that was executed.
    pub fn recorded(&self) -> Tick {
        self.timeline.recorded()
    }

    /// The end of the run, at [`Self::recorded`], if it has been reached.
    pub fn ended(&self) -> Option<&End> {
        self.timeline.end()
    }

    /// True if the session is at the end of the run.
    pub fn is_at_end(&self) -> bool {
        self.time() == self.recorded() && self.ended().is_some()
    }

    /// True if continuing from here executes instructions for the first time.
    pub fn is_at_front(&self) -> bool {
        self.time() == self.recorded() && self.ended().is_none()
    }

    /// Number of the launch that runs, from 0.
    pub fn launch(&self) -> usize {
        self.timeline.launch()
    }

    /// The reasons for the values of the current launch, if it is made up; otherwise empty.
    pub fn reasons(&self) -> &[Reason] {
        self.case().launches.get(self.launch()).map_or(&[], |launch| &launch.reasons)
    }

    /// The variables of the module that the launch initializes.
    pub fn initialized_variables(&self) -> BTreeSet<VarId> {
        let given = self.case().launches.get(self.launch()).map_or(&[][..], |launch| &launch.variables);
        given.iter().map(|given| given.variable).collect()
    }

    /// The number of launches.
    pub fn launches(&self) -> usize {
        self.case().launches.len()
    }

    /// Name of the kernel that runs.
    pub fn kernel_name(&self) -> &str {
        self.program.functions.get(self.machine().config().kernel.index()).map_or("", |kernel| &kernel.name)
    }

    /// Addresses of the buffers allocated so far, in the order of the case.
    pub fn addresses(&self) -> &[u64] {
        self.timeline.addresses()
    }

    /// The changes that the user made to the run, with their times.
    pub fn inputs(&self) -> &[(Tick, Input)] {
        self.timeline.inputs()
    }

    /// The fault that the next instruction of the focused warp is; none if it is none.
    pub fn next_fault(&self) -> Option<Fault> {
        let mut machine = self.machine().clone();
        machine.schedule_warp(self.focus.block, self.focus.warp);
        match machine.run(1, &mut NullObserver) {
            Step::Trapped(trap) => self.timeline.fault_of(&trap, &machine),
            Step::Budget | Step::Paused | Step::Done | Step::Deadlock(_) | Step::Livelocked(_) | Step::OverLimit(_) => None,
        }
    }

    /// Applies the settings that the engine uses.
    pub fn apply_settings(&mut self) {
        self.timeline.set_snapshot_memory(self.settings.snapshot_memory);
    }

    /// Applies `edits` at the current time; `change` is what the user typed. The recording after it is kept as a branch: the result.
    ///
    /// # Errors
    /// One of the changes cannot be made; nothing has changed then.
    pub fn edit(&mut self, edits: Vec<Edit>, change: &str) -> Result<Option<KeptRun>, EditError> {
        let mut copy = self.machine().clone();
        edits.iter().try_for_each(|edit| edit.apply(&mut copy))?;
        let kept = self.keep_future(change);
        self.finding_log.forget_from(self.time());
        self.timeline.input(Input::Edits(edits));
        Ok(kept)
    }

    /// Completes an asynchronous copy at the current time. The recording after it is kept as a branch: the result.
    ///
    /// # Errors
    /// There is no such copy in flight, or its mbarrier cannot take its bytes.
    pub fn complete(&mut self, copy: u64) -> Result<Option<KeptRun>, String> {
        match self.machine().clone().complete(copy, &mut NullObserver) {
            Ok(true) => {}
            Ok(false) => return Err(format!("no copy #{copy} is in flight")),
            Err(trap) => return Err(trap.message),
        }
        // The end that a copy in flight keeps from coming, such as a hang, is no run to be kept.
        let kept = if self.recorded() > self.time() { self.keep_future(&format!("complete {copy}")) } else { None };
        self.finding_log.forget_from(self.time());
        self.timeline.input(Input::Complete(copy));
        Ok(kept)
    }

    /// The session as a file.
    pub fn saved(&self) -> Saved {
        let mut saved = Saved::new(&self.program, self.case(), self.timeline.options());
        saved.set_breakpoints(&self.breakpoints);
        // The theme and the number of jobs belong to the user's computer, not to the session.
        let settings = SETTINGS.iter().filter(|setting| !["theme", "jobs"].contains(&setting.name));
        saved.settings = settings.map(|setting| (setting.name.to_string(), (setting.get)(&self.settings))).collect();
        (saved.time, saved.focus, saved.state) = (self.time(), self.focus, Some(SavedState::of(self.machine())));
        (saved.marks, saved.roles) = (self.marks.clone(), self.roles.clone());
        saved.displays = self.displays.iter().map(|display| display.what.clone()).collect();
        saved.set_types(&self.program, &self.inferred.arrays);
        saved.suppressed = self.finding_log.suppressions.clone();
        saved.inputs = self.inputs().to_vec();
        saved
    }

    /// Restores a saved session: the run starts again and goes to the saved time, or begins if its options are others than those of the
    /// session. If buffers or parameters differ from the saved ones, or something is left out, the log of the stop begins with warnings.
    ///
    /// # Errors
    /// It is of another module or launch, or inconsistent; nothing has changed then.
    pub fn restore(&mut self, mut saved: Saved, interrupt: &mut dyn InterruptCheck) -> Result<Stop, String> {
        let left_out = match saved.check(&self.program, self.case(), self.timeline.options())? {
            Applies::Whole => None,
            Applies::WithoutTimes(left_out) => {
                saved.remove_times();
                left_out
            }
            Applies::WithoutPlaces(left_out) => {
                saved.remove_places();
                Some(left_out)
            }
        };
        let differences = saved.differences(&self.program, self.case());
        let breakpoints = saved.breakpoints()?;
        let types = saved.types(&self.program, self.case())?;
        let mut settings = Settings { theme: self.settings.theme, jobs: self.settings.jobs, ..Settings::default() };
        for (name, value) in &saved.settings {
            let setting = SETTINGS.iter().find(|setting| setting.name == name).ok_or_else(|| format!("there is no setting '{name}'"))?;
            setting.put(&mut settings, value)?;
        }
        let (case, options) = (Arc::clone(self.timeline.case()), self.timeline.options().clone());
        let timeline = Timeline::new(Arc::clone(&self.program), case, options, saved.inputs).map_err(|error| error.to_string())?;
        (self.timeline, self.settings, self.breakpoints) = (timeline, settings, breakpoints);
        (self.marks, self.roles, self.focus) = (saved.marks, saved.roles, saved.focus);
        self.displays = saved.displays.into_iter().map(|what| Display { what, scope: None }).collect();
        (self.navigation, self.earlier) = (NavigationHistory::default(), None);
        self.visits.clear();
        self.branches = Branches::default();
        self.inferred.arrays.clear();
        for (named, ty) in types {
            match named {
                Typed::Variable(variable) => self.choose_type(variable, Some(ty)),
                Typed::Buffer(name) => self.choose_buffer_type(&name, Some(ty)),
            }
        }
        self.finding_log = FindingLog::default();
        self.finding_log.suppressions = saved.suppressed;
        self.apply_settings();
        let mut stop = self.seek_with_focus(saved.time, interrupt);
        self.catch_up(interrupt);
        self.describe_findings();
        // The state at the start is that of the buffers and parameters, which were compared.
        let has_run = differences.is_empty() && saved.time != Tick::START;
        let state = saved.state.as_ref().filter(|_| has_run).and_then(|state| state.difference(self.machine()));
        stop.log.splice(0..0, left_out.into_iter().chain(differences).chain(state));
        Ok(stop)
    }

    /// Resets the state of the discarded run; the next one has these buffers.
    pub(super) fn forget_run(&mut self, buffers: Vec<Buffer>) {
        self.take_buffers(buffers);
        (self.marks, self.navigation, self.earlier) = (Marks::default(), NavigationHistory::default(), None);
        (self.run_to_event, self.spin, self.yielded_to) = (None, Spin::default(), None);
        self.log.clear();
        self.visits.clear();
        self.branches = Branches::default();
        self.exploration = None;
    }

    /// The progress of the run.
    pub fn progress(&self) -> Progress {
        let machine = self.machine();
        Progress {
            time: machine.tick(),
            blocks_started: machine.blocks_started(),
            blocks: machine.block_count(),
            orders: self.orders_tried,
        }
    }
}

impl NavigationHistory {
    /// Adds a visited time; those after the current one are removed.
    pub fn push(&mut self, time: Tick) {
        if self.times.get(self.at) == Some(&time) {
            return;
        }
        self.times.truncate(self.at + 1);
        self.times.push(time);
        self.at = self.times.len() - 1;
    }

    /// Goes to the visited time before the current one.
    pub fn back(&mut self) -> Option<Tick> {
        self.at = self.at.checked_sub(1)?;
        self.times.get(self.at).copied()
    }

    /// Goes to the visited time after the current one.
    pub fn forward(&mut self) -> Option<Tick> {
        let time = self.times.get(self.at + 1).copied()?;
        self.at += 1;
        Some(time)
    }
}

/// The types by which a launch says that arrays of bytes are shown, where the code shows another type or none.
fn launch_types(program: &Program, case: &Case) -> Vec<(VarId, ArrayType)> {
    let said = case.launches.iter().flat_map(|launch| &launch.variable_types);
    let typed = said.filter_map(|(id, element)| {
        let variable = program.variables.get(id.index()).filter(|variable| arrays::is_byte_array(variable))?;
        let ty = ScalarType::from_word(element.name()).filter(|_| variable.bytes.is_multiple_of(u64::from(element.bytes())))?;
        Some((*id, ArrayType { ty, shape: vec![variable.bytes / u64::from(element.bytes())] }))
    });
    let known = arrays::infer(program);
    let is_other = |(id, ty): &(VarId, ArrayType)| match known.get(id) {
        Some(arrays::Inference::Typed(inferred)) => inferred.ty.ty != ty.ty,
        Some(arrays::Inference::Bytes(_)) | None => true,
    };
    typed.filter(is_other).collect()
}
