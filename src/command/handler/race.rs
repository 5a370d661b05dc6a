//! Findings, and the checkers that report them.

use std::path::Path;

use crate::base::counted;
use crate::command::call::Call;
use crate::command::context::Context;
use crate::command::error::CommandError;
use crate::command::outcome::{CheckRow, Outcome, View};
use crate::debug::Site;
use crate::debug::findings::{CheckerId, FindingText, Suppressions};
use crate::debug::names::scope;

/// The result of a handler.
type Answer = Result<Outcome, CommandError>;

pub fn findings(context: &mut Context<'_>, _: &Call) -> Answer {
    let session = &mut context.session;
    let certificate = session.certificate();
    let (all, findings) = (session.all_findings().len(), session.findings());
    let suppressed = all - findings.len();
    Ok(Outcome::View(View::Findings { findings, suppressed, recorded: session.recorded(), certificate }))
}

pub fn finding(context: &mut Context<'_>, call: &Call) -> Answer {
    Ok(Outcome::View(View::Finding(Box::new(numbered(context, call)?))))
}

pub fn explain_finding(context: &mut Context<'_>, call: &Call) -> Answer {
    let mut finding = numbered(context, call)?;
    let path = context.session.synchronization_path(finding.number);
    let at = finding.chain.len().min(1);
    finding.chain.splice(at..at, path);
    context.session.explain_hang(&mut finding);
    context.session.explain_awaited(&mut finding, context.interrupt);
    let blocks = finding.waiting.iter().map(|waiting| waiting.site.block).collect();
    let warps = if finding.waiting.is_empty() { Vec::new() } else { context.session.warps_at_end(&blocks) };
    Ok(Outcome::View(View::SynchronizationPath(Box::new(finding), warps)))
}

pub fn fix(context: &mut Context<'_>, call: &Call) -> Answer {
    let number = call.argument("N").map(|_| numbered(context, call)).transpose()?.map(|finding| finding.number);
    let fixed = context.session.fix(number, context.interrupt).map_err(CommandError::new)?;
    let fixed = fixed.ok_or_else(|| CommandError::new("the run from the beginning does not have this finding"))?;
    let written = match call.argument("FILE") {
        Some(file) => fixed.save(Path::new(&file.text)).map_err(|message| file.error(message))?,
        None => String::new(),
    };
    Ok(Outcome::Fixed(fixed, written))
}

pub fn goto_finding(context: &mut Context<'_>, call: &Call) -> Answer {
    let finding = numbered(context, call)?;
    let site: Option<&Site> = match call.text("") {
        Some("first") => finding.first.as_ref().map(|side| &side.site),
        _ => finding.site(),
    };
    let Some(site) = site else {
        let message = format!("finding {} has no such side", finding.number);
        return Err(CommandError::new(message).with_help("what is about one place only has a second side"));
    };
    let (time, focus) = (site.time, site.focus());
    Ok(Outcome::Stop(Box::new(context.session.seek_thread(time, focus, context.interrupt))))
}

/// The finding that the argument N names.
fn numbered(context: &Context<'_>, call: &Call) -> Result<FindingText, CommandError> {
    let argument = call.required("N")?;
    let all = context.session.all_findings();
    let number = call.number("N").and_then(|number| usize::try_from(number).ok());
    let found = number.and_then(|number| all.iter().find(|finding| finding.number == number)).cloned();
    let error = || match all.len() {
        0 => argument.error(format!("there is no finding {}: nothing was found so far", argument.text)),
        1 => argument.error(format!("there is no finding {}: there is 1", argument.text)),
        count => argument.error(format!("there is no finding {}: there are 1 to {count}", argument.text)),
    };
    found.ok_or_else(|| error().with_help("what explore lists is found in other orders: the options after 'replay' run one"))
}

pub fn suppress(context: &mut Context<'_>, call: &Call) -> Answer {
    let Some(argument) = call.argument("ID | FILE:LINE | SYMBOL") else {
        let suppressed: Vec<String> = context.session.suppressions().iter().map(|what| format!("{what}\n")).collect();
        let text = if suppressed.is_empty() { "nothing is suppressed\n".to_string() } else { suppressed.concat() };
        return Ok(Outcome::Text(text));
    };
    let symbols = scope::names(&context.session.eval_context());
    let shown = context.session.findings();
    let known = shown.iter().filter_map(|finding| finding.memory.as_ref()?.symbol.clone());
    let symbols: Vec<String> = symbols.into_iter().chain(known).collect();
    Suppressions::check(&argument.text, &symbols).map_err(|message| argument.error(message))?;
    context.session.suppressions().add(&argument.text);
    Ok(how_many_are_shown(context))
}

pub fn unsuppress(context: &mut Context<'_>, call: &Call) -> Answer {
    let suppressions = context.session.suppressions();
    match call.argument("ID | FILE:LINE | SYMBOL") {
        None => suppressions.clear(),
        Some(argument) if !suppressions.remove(&argument.text) => {
            return Err(argument.error(format!("'{}' is not suppressed", argument.text)).with_help("suppress lists what is"));
        }
        Some(_) => {}
    }
    Ok(how_many_are_shown(context))
}

pub fn switch(context: &mut Context<'_>, call: &Call, on: bool) -> Answer {
    let argument = call.required("CHECKERS")?;
    let checkers = CheckerId::named(&argument.text).map_err(|message| argument.error(message))?;
    if !on && matches!(checkers[..], [only] if only.is_always_on()) {
        return Err(argument.error("wrong addresses are always found: a run cannot continue after one"));
    }
    let done = context.session.switch_checkers(&checkers, on, context.interrupt);
    let interrupted = if done { "" } else { "interrupted: the rest is looked through when the run continues\n" };
    let count = context.session.findings().len();
    let findings = if count == 1 { "finding" } else { "findings" };
    Ok(Outcome::Text(format!("{interrupted}{count} {findings} up to t={}\n", context.session.recorded())))
}

pub fn checks(context: &mut Context<'_>, _: &Call) -> Answer {
    let (checks, all) = (context.session.checks(), context.session.findings());
    let row = |checker: CheckerId| {
        let row = checker.row();
        let findings = all.iter().filter(|finding| row.findings.contains(&finding.id)).count();
        CheckRow { checker: row.word, on: checks.has(checker), findings, about: row.about }
    };
    Ok(Outcome::View(View::Checks(CheckerId::all().map(row).collect())))
}

fn how_many_are_shown(context: &Context<'_>) -> Outcome {
    let (shown, all) = (context.session.findings().len(), context.session.all_findings().len());
    let verb = if shown == 1 { "is" } else { "are" };
    Outcome::Text(format!("{shown} of {} {verb} shown\n", counted(all as u64, "finding")))
}
