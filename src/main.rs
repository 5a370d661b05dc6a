//! The command line: parses the arguments, runs a front end, and exits with its status.
//!
//! Results go to standard output, as do the diagnostics of `--check`; errors of a request go to standard error.
//!
//! A launch file holds *cases*: launches in order on the same memory, with the results that are expected. Without a launch file, the launch
//! is *made up*: generated from the kernel itself. A *certificate* states that the findings of a case are the same in every order of its
//! warps; *fidelity* is how far the results are those of the hardware, by opcode.

mod files;
mod subcommands;
mod verify;

use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ptxdbg::api::Run;
use ptxdbg::args::{self, Args, Color, Format, ScriptSource};
#[cfg(feature = "tui")]
use ptxdbg::base::save::cause;
use ptxdbg::debug::asm::{OpenedAsm, open_asm};
use ptxdbg::debug::explore::Split;
use ptxdbg::debug::fidelity::Fidelity;
use ptxdbg::debug::open::open;
#[cfg(feature = "tui")]
use ptxdbg::debug::ron_text::read_text;
use ptxdbg::debug::saved::Saved;
use ptxdbg::debug::session::Session;
use ptxdbg::debug::settings::ThemeName;
use ptxdbg::debug::{FindingBudget, LaunchChoice, Opened, Request, RunOptions};
use ptxdbg::ui::batch::{self, Ended};
use ptxdbg::ui::console::Console;
use ptxdbg::ui::fixing::Fixer;
use ptxdbg::ui::host_memory;
use ptxdbg::ui::merge::{merge_explorations, merge_verified};
use ptxdbg::ui::output::{Output, Standard, print_error, stdout_is};
use ptxdbg::ui::refusal::{self, Failure, Status, help_of_commands, report_failure};
#[cfg(feature = "tui")]
use ptxdbg::ui::repl;
use ptxdbg::ui::save_on_panic::save_on_panic;
use ptxdbg::ui::script::Script;
use ptxdbg::ui::terminal_kind::supports_cursor_movement;
use ptxdbg::ui::text::junit::Suite;
use ptxdbg::ui::text::sarif::Log;
use ptxdbg::ui::text::{self, Style};
#[cfg(feature = "tui")]
use ptxdbg::ui::tty::restorer;
#[cfg(feature = "tui")]
use ptxdbg::ui::tui::{self, keymap::KeyMap, layout::file::LayoutError, layout::layouts::LayoutStore, screen::Screen};
use ptxdbg::ui::{files as own_files, interrupt, tour};

fn main() -> ExitCode {
    ExitCode::from(command_line(&std::env::args_os().collect::<Vec<_>>()))
}

/// Executes the arguments of a process, the first of which is its name; returns the exit status. The Python package includes this file
/// to provide the same command.
pub fn command_line(raw_args: &[OsString]) -> u8 {
    #[cfg(feature = "tui")]
    if restorer::is_requested(raw_args) {
        return u8::from(restorer::run().is_err());
    }
    if let Some(status) = subcommands::run(raw_args) {
        return status;
    }
    let mut args = match args::parse(raw_args) {
        Ok(args) => args,
        Err(message) if message.is_error => {
            let style = format_style(message.format, Style::Human { color: false });
            return refusal::refuse(message.text.trim_end(), &message.text, style) as u8;
        }
        Err(message) => return refusal::answer(&message.text) as u8,
    };
    if let Some(status) = print_only(&args) {
        return status.unwrap_or_else(|failure| report_failure(&failure, Style::Human { color: false })) as u8;
    }
    // The files of a tour live as long as the program.
    let tour_folder = match begin_tour(&mut args) {
        Ok(folder) => folder,
        Err(failure) => return report_failure(&failure, Style::Human { color: false }) as u8,
    };
    if !args.check
        && !args.list
        && let Some(note) = host_memory::note(args.memory_limit)
    {
        print_error(&format!("ptxdbg: {note}"));
    }
    let status = check_arguments(&args).and_then(|help| match (help, args.list, args.check, args.verify) {
        (Some(help), ..) => Ok(refusal::answer(&help)),
        (None, true, ..) => files::list(&args),
        (None, _, true, _) => files::check(&args),
        (None, _, _, true) => verify::verify(&args),
        (None, false, false, false) if merges_verified(&args) => merge_verified(&args.merge),
        (None, false, false, false) => start(&args),
    });
    let status = status.unwrap_or_else(|failure| report_failure(&failure, style(&args, std::io::stderr().is_terminal()))) as u8;
    drop(tour_folder);
    status
}

/// Writes the files of a tour, if one is asked for, and lets the arguments name them.
fn begin_tour(args: &mut Args) -> Result<Option<tempfile::TempDir>, Failure> {
    let Some(story) = args.tour else { return Ok(None) };
    if !args.kernels.is_empty() || !args.launch.is_empty() {
        return Err(Failure::Message("a tour has a kernel of its own: leave the files out".to_string()));
    }
    let unwritable = |error: std::io::Error| Failure::Message(format!("the files of the tour cannot be written: {error}"));
    let folder = tempfile::TempDir::new().map_err(unwritable)?;
    args.launch = vec![story.write(folder.path()).map_err(unwritable)?];
    args.kernel = story.kernel.map(str::to_string);
    args.yes = true;
    Ok(Some(folder))
}

/// What needs no kernel: completions of a shell, and manual pages.
fn print_only(args: &Args) -> Option<Result<Status, Failure>> {
    let text = match (&args.completions, &args.install_man) {
        (Some(shell), _) => Ok(shell.completions(subcommands::described())),
        (None, Some(folder)) => {
            let paths = args::shell::install_pages(folder).map_err(Failure::Message);
            paths.map(|paths| paths.iter().map(|path| format!("{}\n", path.display())).collect::<String>().into_bytes())
        }
        (None, None) => return None,
    };
    Some(text.and_then(|text| {
        let mut out = Standard::output();
        out.write_all(&text)?;
        out.flush()?;
        Ok(Status::Well)
    }))
}

/// Writes the document of all findings or test cases, if such a format is selected.
fn write_log(log: &Log, suite: &Suite, style: Style, out: &mut Standard) -> Result<(), Failure> {
    match style {
        Style::Sarif => out.write_all(log.to_text().as_bytes())?,
        Style::Junit => out.write_all(suite.to_text().as_bytes())?,
        Style::Human { .. } | Style::Json => {}
    }
    Ok(())
}

/// Without `--list`, `--check` and `--verify`: the debugger if there is a terminal or a script of commands, else a run.
fn start(args: &Args) -> Result<Status, Failure> {
    let launch = match args.launch.as_slice() {
        [] => LaunchChoice::Sibling,
        [file] => LaunchChoice::File(file.clone()),
        _ => return Err(Failure::Message("one launch file at a time; several are for --verify".to_string())),
    };
    let prompt = cfg!(feature = "tui") && !args.batch && std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    if args.layout.is_some() && !(prompt && can_show_screen(args)) {
        let needs = "--layout needs the screen: a terminal for input and output, in a build that has it";
        return Err(Failure::Message(needs.to_string()));
    }
    let mut scripts = scripts(args)?;
    if !args.expect.is_empty() && (prompt || !scripts.is_empty()) {
        let message = "--expect compares a run without commands: say --batch without -e and -x; for both, --save-launch FILE.ron with \
                       --expect, then -l FILE.ron with -e";
        return Err(Failure::Message(message.to_string()));
    }
    if args.fix && (prompt || !scripts.is_empty()) {
        let message = "--fix is for --verify, and for --batch without -e and -x; among commands, 'fix N' tries what finding N advises";
        return Err(Failure::Message(message.to_string()));
    }
    let mut begin = None;
    let opened = if args.asm.is_empty() {
        open(&args.request(args.kernels.clone(), launch))?
    } else {
        let statement = statement(args)?;
        begin = statement.first.map(|first| Script::new("--asm", &format!("advance {first}")).silently());
        statement.opened
    };
    // The launches of a Sequence before the chosen one run first: they make its memory.
    if let Some(case) = opened.plan.cases.first().filter(|case| case.begin > 0) {
        begin = Some(Script::new("--kernel", &format!("goto launch {}", case.begin + 1)).silently());
    }
    if let Some(file) = &args.save_launch {
        return save_launch(&opened, file, args.format);
    }
    if let Some(file) = opened.empty_sibling.as_ref().filter(|file| !stdout_is(file)) {
        print_error(&text::empty_sibling(file));
    }
    if !args.batch && !std::io::stdin().is_terminal() {
        scripts.extend(Script::standard_input());
    }
    if !prompt && scripts.is_empty() {
        return run(args, &opened);
    }
    debug(args, opened, begin.into_iter().chain(scripts).collect(), prompt)
}

/// Writes the launch that would run, and reports it, unless standard output is the launch itself or JSON.
fn save_launch(opened: &Opened, file: &Path, format: Format) -> Result<Status, Failure> {
    let launch = opened.launch.as_ref().ok_or_else(|| Failure::Message("a statement has no launch".to_string()))?;
    let line = launch.save(file).map_err(Failure::Message)?;
    if format == Format::Human && !stdout_is(file) {
        let mut out = Standard::output();
        out.write_all(line.as_bytes())?;
        out.flush()?;
    }
    Ok(Status::Well)
}

/// Opens the statement of `--asm`, and writes its warnings.
fn statement(args: &Args) -> Result<OpenedAsm, Failure> {
    let statement = open_asm(&args.asm, &args.arg)?;
    let style = style(args, std::io::stderr().is_terminal());
    print_error(&text::diagnostics(&statement.sources, &statement.warnings, style));
    Ok(statement)
}

/// Runs the launches and reports their results.
fn run(args: &Args, opened: &Opened) -> Result<Status, Failure> {
    let style = style(args, std::io::stdout().is_terminal());
    let mut status = Status::Well;
    interrupt::listen_once();
    report_differences(args, opened)?;
    let mut out = Standard::output();
    if opened.made_up.is_none() {
        out.write_all(text::notes(&opened.notes, style).as_bytes())?;
    }
    let launch = opened.plan.cases.first().and_then(|case| case.launches.first());
    let reasons = launch.map_or(&[][..], |launch| &launch.reasons);
    if let Some(made_up) = &opened.made_up {
        let known = opened.launch.as_ref().and_then(|launch| launch.known.as_ref());
        let is_whole = known.is_none_or(|known| known.params.is_empty());
        out.write_all(text::made_up(made_up, is_whole, reasons, style).as_bytes())?;
        if let (Style::Human { .. }, Some(file)) = (style, opened.empty_sibling.as_ref().filter(|file| stdout_is(file))) {
            out.flush()?;
            out = Standard::error();
            print_error(&format!("ptxdbg: the launch is written to {}, and the result here\n", file.display()));
        }
    }
    let (mut total, mut log, mut budget) = (Fidelity::default(), Log::default(), FindingBudget::new(args.max_findings));
    if let Some(made_up) = &opened.made_up {
        log.made_up(made_up, reasons);
    }
    let mut suite = Suite::default();
    let (mut certificates, fixer) = (Vec::new(), Fixer::new(args.run_options(), args.fix, args.job_count()));
    let options = RunOptions { jobs: args.job_count(), ..args.run_options() };
    for case in &opened.plan.cases {
        let reasons = case.launches.first().map_or(&[][..], |launch| &launch.reasons);
        let run = Run::of_case(&opened.program, case, &options, interrupt::pressed_in_run_of(&case.name))?;
        let (comparison, mut summary) = (run.comparison, run.summary);
        if comparison.is_wrong() || summary.findings.iter().any(|finding| finding.severity >= args.failing()) {
            status = Status::Wrong;
        }
        budget.limit_summary(&mut summary);
        fixer.run(&opened.program, case, &mut summary.findings)?;
        log.summary(&summary);
        suite.run(&case.name, &summary, &comparison, args.failing());
        log.comparison(&case.name, &comparison);
        out.printed(&text::printed(&summary, style))?;
        out.write_all(text::summary(&summary, style).as_bytes())?;
        out.write_all(text::comparison(&case.name, &comparison, reasons, style).as_bytes())?;
        total.add(run.fidelity);
        certificates.extend(run.certificate.map(|certificate| (case.name.clone(), certificate)));
        if summary.interrupted {
            status = Status::Interrupted;
            break;
        }
    }
    out.write_all(text::omitted(budget.omitted(), style).as_bytes())?;
    log.omitted(budget.omitted());
    out.write_all(text::fidelity(&total, style).as_bytes())?;
    for (name, certificate) in &certificates {
        log.certificate(name, certificate);
        out.write_all(text::certificate(name, certificate, style).as_bytes())?;
    }
    out.write_all(text::guessed_launch(launch, style).as_bytes())?;
    out.write_all(text::failed_first_launch(reasons, style).as_bytes())?;
    write_log(&log, &suite, style, &mut out)?;
    out.flush()?;
    fixer.save(args.ptx.as_deref(), args.format == Format::Human).map_err(Failure::Message)?;
    Ok(status)
}

/// Rejects a bundle's session of another program, and reports other differences.
fn report_differences(args: &Args, opened: &Opened) -> Result<(), Failure> {
    let (Some(session), Some(case)) = (&args.session, opened.plan.cases.first()) else { return Ok(()) };
    let differences = Saved::compare(session, &opened.program, case, &args.run_options()).map_err(Failure::Message)?;
    differences.iter().for_each(|line| print_error(&format!("ptxdbg: {line}\n")));
    Ok(())
}

/// The scripts of `-x` and `-e`, in the order of the command line.
fn scripts(args: &Args) -> Result<Vec<Script>, Failure> {
    let script = |source: &ScriptSource| match source {
        ScriptSource::Line(line) => Ok(Script::new("--eval", line)),
        ScriptSource::File(path) => Script::read(path).map_err(Failure::Message),
    };
    args.scripts.iter().map(script).collect()
}

/// The debugger: scripts, and then the prompt if there is one.
fn debug(args: &Args, opened: Opened, scripts: Vec<Script>, prompt: bool) -> Result<Status, Failure> {
    if prompt && args.format != Format::Human || matches!(args.format, Format::Sarif | Format::Junit) {
        let message = "commands are answered as text, or with --batch and --format json as an object each".to_string();
        return Err(Failure::Message(message));
    }
    let color = matches!(style(args, std::io::stdout().is_terminal()), Style::Human { color: true });
    let sibling = args.kernels.first().map(|kernel| kernel.with_extension("ron")).filter(|file| file.is_file());
    let notes = text::notes(&opened.notes, style(args, false));
    let welcome = text::welcome(&opened, args.launch.first().or(sibling.as_ref()).map(PathBuf::as_path));
    let welcome = if prompt { welcome + &notes } else { notes };
    let mut session = Session::new(opened, 0, args.run_options()).map_err(|error| Failure::Message(error.to_string()))?;
    session.settings.theme = theme(args, color);
    session.settings.jobs = args.jobs;
    session.split = split(args)?;
    let mut console = Console::new(session, args.yes);
    let welcome = match args.tour {
        Some(story) => welcome + &console.begin_tour(story),
        None => welcome,
    };
    console.failing = args.failing();
    let start_up = if prompt { start_up(args)? } else { None };
    let scripts: Vec<Script> = start_up.into_iter().chain(scripts).collect();
    let shared = console.shared();
    save_on_panic(&shared, || converse(args, console, FrontendConfig { welcome, scripts, color, prompt }))
}

/// The initial state of a front end.
struct FrontendConfig {
    welcome: String,
    scripts: Vec<Script>,
    color: bool,
    /// True if there is a prompt after the scripts.
    prompt: bool,
}

/// Executes the scripts, and then the commands typed at the prompt if there is one.
fn converse(args: &Args, mut console: Console, config: FrontendConfig) -> Result<Status, Failure> {
    let FrontendConfig { welcome, scripts, color, prompt } = config;
    #[cfg(feature = "tui")]
    if prompt && can_show_screen(args) {
        tui::run(console, tui::ScreenConfig { screen: screen(args)?, has_layout: args.layout.is_some(), welcome, scripts, color })
            .map_err(no_terminal)?;
        return Ok(Status::Well);
    }
    Standard::output().write_all(welcome.as_bytes())?;
    if prompt {
        interrupt::listen();
    }
    let ended = match args.format {
        Format::Json => batch::run_as_json(&mut console, scripts)?,
        Format::Human | Format::Sarif | Format::Junit => batch::run(&mut console, scripts, color)?,
    };
    #[cfg(feature = "tui")]
    if prompt && ended != Ended::Quit {
        repl::run(&mut console, color).map_err(no_terminal)?;
        return Ok(Status::Well);
    }
    Ok(match ended {
        Ended::Failed => Status::Unusable,
        Ended::Interrupted => Status::Interrupted,
        Ended::Done | Ended::Quit if console.has_failed => Status::Wrong,
        Ended::Done | Ended::Quit => Status::Well,
    })
}

/// The error that the terminal failed.
#[cfg(feature = "tui")]
fn no_terminal(error: std::io::Error) -> Failure {
    Failure::Message(format!("the terminal cannot be used: {}", cause(&error)))
}

/// True if the terminal can show the screen, and `--plain` is not set.
fn can_show_screen(args: &Args) -> bool {
    cfg!(feature = "tui") && !args.plain && supports_cursor_movement()
}

/// The theme of the arguments, if colors are used.
fn theme(args: &Args, color: bool) -> ThemeName {
    if color { args.theme } else { ThemeName::None }
}

/// The layout and the key map of the arguments.
#[cfg(feature = "tui")]
fn screen(args: &Args) -> Result<Screen, Failure> {
    let mut layouts = LayoutStore::new(own_files::layouts());
    let layout = layouts.take(args.layout.as_deref().unwrap_or("default")).map_err(|error| Failure::Message(error.to_string()))?;
    Ok(Screen::new(layout, tui::theme::Theme::default(), keys(args)?).with_layouts(layouts))
}

/// The shipped key map, with the user's if there is one and `--no-init` is not set.
#[cfg(feature = "tui")]
fn keys(args: &Args) -> Result<KeyMap, Failure> {
    let shipped = KeyMap::shipped();
    let Some(path) = own_files::keys().filter(|path| !args.no_init && path.is_file()) else { return Ok(shipped) };
    let text = read_text(&path).map_err(Failure::Message)?;
    match KeyMap::parse(&path.display().to_string(), text) {
        Ok(user) => Ok(shipped.with(user)),
        Err(LayoutError::Unreadable(message)) => Err(Failure::Message(message)),
        Err(LayoutError::Wrong(wrong)) => Err(Failure::File(wrong)),
    }
}

/// The start-up file, if there is one and `--no-init` is not set.
fn start_up(args: &Args) -> Result<Option<Script>, Failure> {
    let Some(path) = own_files::start_up().filter(|path| !args.no_init && path.is_file()) else { return Ok(None) };
    Script::read(&path).map(|script| Some(script.silently())).map_err(Failure::Message)
}

/// A request for each launch file.
fn launch_requests(args: &Args) -> Vec<Request> {
    args.launch.iter().map(|file| args.request(args.kernels.clone(), LaunchChoice::File(file.clone()))).collect()
}

/// True if `--merge` stands alone: then the files are shards of `--verify`.
fn merges_verified(args: &Args) -> bool {
    !args.merge.is_empty() && args.kernels.is_empty() && args.launch.is_empty()
}

/// The orders of explorations that are run here.
fn split(args: &Args) -> Result<Split, Failure> {
    match args.shard {
        Some(shard) => Ok(Split::Shard(shard)),
        None if args.merge.is_empty() => Ok(Split::Whole),
        None => merge_explorations(&args.merge).map(Split::Merged).map_err(Failure::Message),
    }
}

/// Rejects arguments that the argument parser accepts; returns the text for `ptxdbg help COMMAND`.
fn check_arguments(args: &Args) -> Result<Option<String>, Failure> {
    let has_commands = args.batch && !args.scripts.is_empty();
    if args.shard.is_some() && !args.verify && !has_commands {
        return Err(Failure::Message("--shard splits --verify, and 'explore' among the commands of --batch".to_string()));
    }
    if merges_verified(args) {
        return Ok(None);
    }
    if !args.merge.is_empty() && !has_commands {
        let message = "--merge stands alone for shards of --verify; with a kernel it needs --batch and the commands of the shards";
        return Err(Failure::Message(message.to_string()));
    }
    if args.kernels.is_empty() && args.launch.is_empty() && args.asm.is_empty() {
        let message = "no file is given; try ptxdbg kernel.ptx, ptxdbg --help, or a tour that needs no file:".to_string();
        return Err(Failure::Message(format!("{message}\n{}", tour::listing().trim_end())));
    }
    if let Some((_, words)) = args.kernels.split_first().filter(|(first, _)| first.as_os_str() == "help" && !first.exists()) {
        let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
        return help_of_commands(&words.join(" ")).map(Some);
    }
    match args.kernels.iter().find(|path| path.extension().is_some_and(|extension| extension == "ron")) {
        Some(path) => Err(Failure::Message(format!("{} is a launch file: say --launch {0}", path.display()))),
        None => Ok(None),
    }
}

fn style(args: &Args, is_terminal: bool) -> Style {
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let color = match args.color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => is_terminal && !no_color && supports_cursor_movement(),
    };
    format_style(args.format, Style::Human { color })
}

/// The style of a format; `human` for the human format.
fn format_style(format: Format, human: Style) -> Style {
    match format {
        Format::Human => human,
        Format::Json => Style::Json,
        Format::Sarif => Style::Sarif,
        Format::Junit => Style::Junit,
    }
}
