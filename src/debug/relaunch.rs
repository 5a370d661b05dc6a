//! The launch of a session: its launch file, and changes of it.

use std::path::Path;
use std::sync::Arc;

use super::eval_context::Buffer;
use super::findings::FindingLog;
use super::focus::Focus;
use super::open::{OpenedLaunch, contradictions, formals_of, made_up_with, name_params, variables_of};
use super::run::RunOptions;
use super::session::{InterruptCheck, Session};
use super::stop::Stop;
use super::timeline::Timeline;
use crate::base::Tick;
use crate::base::{Diagnostic, SourceFile, SourceId, Sources, Span};
use crate::launch::change::{Changed, Shape, change};
use crate::launch::file::Launch;
use crate::launch::variable_args::{Names, VariableArg};
use crate::launch::{self, Case, Content, Element, LaunchFacts, LaunchFile, Origin, Overrides, Plan};

/// The message of a session without a launch file, which is about an `asm` statement.
pub(super) const NO_LAUNCH: &str = "a statement has no launch";

impl Session {
    /// The text of this session's launch file, as it is written to `path`.
    ///
    /// # Errors
    /// The session is of an `asm` statement.
    pub fn launch_text(&self, path: &Path) -> Result<String, String> {
        let opened = self.opened_launch.as_ref().ok_or(NO_LAUNCH)?;
        Ok(opened.text_at(path))
    }

    /// Writes this session's launch file to `path`; returns a line about it.
    ///
    /// # Errors
    /// The session is of an `asm` statement, `path` is a file of another kind, or it cannot be written, in one line.
    pub fn save_launch(&self, path: &Path) -> Result<String, String> {
        self.opened_launch.as_ref().ok_or(NO_LAUNCH)?.save(path)
    }

    /// Changes the launch by these `arguments`, and starts it again. Breakpoints, displays and settings remain; the recording is
    /// discarded.
    ///
    /// # Errors
    /// The errors of the arguments, or of the launch that they would make, a line each; nothing has changed then.
    pub fn relaunch(&mut self, arguments: &[&str], interrupt: &mut dyn InterruptCheck) -> Result<Stop, String> {
        let mut opened = self.opened_launch.clone().ok_or(NO_LAUNCH)?;
        let kernel = self.case().launches[self.launch()].kernel;
        let mut sources = Sources::default();
        let source = sources.add(SourceFile::new("the launch", ""));
        let named: Vec<_> = arguments.iter().map(|argument| (sources.add(SourceFile::new("", *argument)), *argument)).collect();
        let (case, number) = (self.case_number, self.launch());
        let opened_module = opened.module.clone();
        let (folder, folders) = (opened.folder.clone(), opened.folders.clone());
        let launch = opened.launch_mut(case, number).ok_or("the launch file has no such launch")?;
        let program = Arc::clone(self.program());
        let formals = formals_of(&program, kernel, (&opened_module, &folders), launch);
        let variables = variables_of(&program);
        let names = Names { params: &formals, variables: &variables };
        let changed = change(launch, &named, names, Path::new("")).map_err(|errors| lines(&errors))?;
        for index in &changed.params {
            launch.params.get_mut(*index).into_iter().for_each(|param| launch::carry_param(param, Path::new(""), &folder));
        }
        for name in &changed.variables {
            launch.variables.get_mut(name).into_iter().for_each(|init| launch::carry_init(init, Path::new(""), &folder));
        }
        let launch = launch.clone();
        let mut reasons = Vec::new();
        if let Some(known) = &mut opened.known {
            add_changes(known, &launch, &changed);
            let conflicts = contradictions(self.program(), kernel, known, |_| Span::new(source, 0, 0));
            if !conflicts.is_empty() {
                return Err(lines(&conflicts));
            }
            let generated = made_up_with(self.program(), kernel, known);
            (opened.content, reasons) = (generated.content, generated.reasons);
            keep_expectations(&mut opened.content, &launch);
        }
        let file = LaunchFile {
            content: opened.content.clone(),
            folder: opened.folder.clone(),
            sources,
            origin: Origin::Arguments(source),
            given: Vec::new(),
            expected: Vec::new(),
        };
        let overrides = Overrides { kernel: opened.kernel.clone(), ..Overrides::default() };
        let planned = launch::plan(&file, self.program(), &opened.module.to_string_lossy(), &overrides);
        let mut plan = planned.map_err(|errors| lines(&errors))?;
        plan.cases[case].launches[number].reasons = reasons;
        name_params(&mut plan, self.program(), (&opened.module, &folders));
        self.restart(plan, case)?;
        self.opened_launch = Some(opened);
        Ok(self.seek_with_focus(Tick::START, interrupt))
    }

    /// Starts the run again with other options: another seed, order of warps or policy of copies. Breakpoints, displays and settings
    /// remain.
    ///
    /// # Errors
    /// The first launch cannot begin, in one line; nothing has changed then.
    pub fn rerun(&mut self, options: RunOptions) -> Result<(), String> {
        let case = Arc::clone(self.timeline.case());
        self.restart_case(case, options)
    }

    /// The options of the run.
    pub fn options(&self) -> &RunOptions {
        self.timeline.options()
    }

    /// Starts case number `number` of `plan` instead of the current one.
    fn restart(&mut self, mut plan: Plan, number: usize) -> Result<(), String> {
        let case = Arc::new(plan.cases.swap_remove(number));
        self.restart_case(case, self.timeline.options().clone())
    }

    fn restart_case(&mut self, case: Arc<Case>, options: RunOptions) -> Result<(), String> {
        let buffers = Buffer::of_case(&case);
        let checks = self.timeline.checks();
        self.timeline = Timeline::new(Arc::clone(self.program()), case, options, Vec::new()).map_err(|error| error.to_string())?;
        self.timeline.set_checks(checks);
        self.forget_run(buffers);
        self.focus = Focus::first(self.timeline.machine());
        let suppressions = std::mem::take(&mut self.finding_log.suppressions);
        self.finding_log = FindingLog::default();
        self.finding_log.suppressions = suppressions;
        self.apply_settings();
        Ok(())
    }
}

impl OpenedLaunch {
    /// Launch number `number` of case number `case`.
    fn launch_mut(&mut self, case: usize, number: usize) -> Option<&mut Launch> {
        let kernel = self.kernel.clone();
        match &mut self.content {
            Content::Launch(launch) => Some(launch),
            Content::Suite(list) => {
                let chosen = |launch: &&mut Launch| launch.is_of(kernel.as_deref());
                list.launches.iter_mut().filter(chosen).nth(case)
            }
            Content::Sequence(list) => list.launches.get_mut(number),
        }
    }
}

/// Adds the values of `launch` that `changed` names to `known`.
fn add_changes(known: &mut LaunchFacts, launch: &Launch, changed: &Changed) {
    const WHY: &str = "'launch' says so";
    let extents = |(x, y, z): (u32, u32, u32)| ([x, y, z], WHY.to_string());
    known.params.extend(changed.params.iter().filter_map(|index| Some((*index, launch.params.get(*index)?.clone()))));
    for name in &changed.variables {
        known.variables.retain(|given| given.name != *name);
        if let (Some(init), Some(element)) = (launch.variables.get(name), launch.variable_types.get(name)) {
            known.variables.push(VariableArg { name: name.clone(), element: *element, init: init.clone(), source: SourceId(0) });
        }
    }
    for shape in &changed.shapes {
        match shape {
            Shape::Grid => known.grid = Some(extents(launch.grid)),
            Shape::Block => known.block = Some(extents(launch.block)),
            Shape::Cluster => known.cluster = launch.cluster.map(extents),
            // Blocks are no part of what is made up.
            Shape::Blocks => {}
            Shape::DynamicShared => known.dynamic_shared = Some((launch.dynamic_shared, WHY.to_string())),
        }
    }
}

/// Keeps the expected contents of the buffers of `launch`, and the blocks that run.
fn keep_expectations(content: &mut Content, launch: &Launch) {
    let Content::Launch(generated) = content else { return };
    generated.blocks.clone_from(&launch.blocks);
    generated.expect_variables.clone_from(&launch.expect_variables);
    generated.variable_tolerances.clone_from(&launch.variable_tolerances);
    let is_expected = |(name, _): &(&String, &Element)| launch.expect_variables.contains_key(*name);
    let types = launch.variable_types.iter().filter(is_expected).map(|(name, element)| (name.clone(), *element));
    generated.variable_types.extend(types);
    for (generated, before) in generated.params.iter_mut().zip(&launch.params) {
        if let (Some(generated), Some(before)) = (generated.buffer_mut(), before.buffer()) {
            generated.expect.clone_from(&before.expect);
            generated.tolerance = before.tolerance;
        }
    }
}

/// Errors with their help, one per line.
fn lines(errors: &[Diagnostic]) -> String {
    let line = |error: &Diagnostic| match &error.help {
        Some(help) => format!("{} ({help})", error.message),
        None => error.message.clone(),
    };
    errors.iter().map(line).collect::<Vec<_>>().join("\n")
}
