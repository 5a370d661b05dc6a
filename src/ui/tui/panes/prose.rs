//! Panes of text: what was said, the keys, and how the run ends.

use super::{Look, Sight, more};
use crate::debug::timeline::End;
use crate::ui::text;
use crate::ui::tui::canvas::{Canvas, fitted, width, wrapped};
use crate::ui::tui::keymap::Action;
use crate::ui::tui::theme::Role;

/// Columns that a column of keys has at least.
const KEYS_COLUMN: usize = 40;

/// What was said so far; the end of it, unless the user scrolled up.
pub fn console(look: &Look<'_>, sight: &mut Sight, canvas: &mut Canvas<'_>) -> String {
    let (columns, height) = (canvas.width().saturating_sub(2), canvas.height());
    // Only as many lines are broken as can be in sight.
    let back = usize::try_from(-sight.down).unwrap_or(0);
    let kept = look.transcript.len().min(height + back);
    let lines: Vec<String> = look.transcript[look.transcript.len() - kept..].iter().flat_map(|line| broken(line, columns)).collect();
    sight.page = height as i64;
    sight.down = sight.down.clamp(-(lines.len().saturating_sub(height) as i64), 0);
    let end = lines.len() - usize::try_from(-sight.down).unwrap_or(0);
    let start = end.saturating_sub(height);
    for (y, line) in lines[start..end].iter().enumerate() {
        let role = if line.starts_with("(ptxdbg)") { Role::Title } else { Role::Text };
        canvas.text(1, y, line, role);
    }
    if lines.is_empty() {
        canvas.say("nothing was said yet");
    }
    if sight.down < 0 { format!("console · {} lines back", -sight.down) } else { "console".to_string() }
}

/// A line of the transcript; an empty one stays a line.
fn broken(line: &str, columns: usize) -> Vec<String> {
    let lines = wrapped(line, columns);
    if lines.is_empty() { vec![String::new()] } else { lines }
}

/// The keys and what they do.
pub fn help(look: &Look<'_>, sight: &mut Sight, canvas: &mut Canvas<'_>) -> String {
    let keys: Vec<(String, String)> = look.keys.by_action().into_iter().map(|(action, keys)| (keys.join(", "), told(action))).collect();
    let columns = (canvas.width() / KEYS_COLUMN).clamp(1, 3);
    let lines = keys.len().div_ceil(columns);
    let window = sight.window(lines, canvas.height());
    let wide = canvas.width() / columns;
    for column in 0..columns {
        let own = keys.iter().skip(column * lines).take(lines);
        let names = own.map(|(key, _)| width(key)).max().unwrap_or(0).min(wide / 2);
        for (y, line) in window.clone().enumerate() {
            let Some((key, told)) = keys.get(column * lines + line).filter(|_| line < lines) else { continue };
            let mut part = canvas.part(column * wide, y, wide, 1);
            let x = part.text(1, 0, &fitted(key, names), Role::Title);
            part.text(x + 2, 0, told, Role::Text);
        }
    }
    format!("keys{}", if window.len() < lines { more(&window, lines) } else { String::new() })
}

fn told(action: &Action) -> String {
    match action {
        Action::Command(line) => line.clone(),
        Action::Move(movement) => movement.about().to_string(),
    }
}

/// How the run ends: the fault with everybody it is about.
pub fn findings(look: &Look<'_>, sight: &mut Sight, canvas: &mut Canvas<'_>) -> String {
    let (title, told) = match look.session.ended() {
        None => ("findings", "nothing was found up to here; the run is not at its end".to_string()),
        Some(End::Done) => ("findings", "nothing was found: the run finished".to_string()),
        Some(End::Fault(fault)) => ("findings 1", text::fault(fault)),
        Some(End::Broken(message)) => ("findings 1", format!("the run cannot go on: {message}")),
    };
    let lines = wrapped(&told, canvas.width().saturating_sub(2));
    let window = sight.window(lines.len(), canvas.height());
    for (y, index) in window.clone().enumerate() {
        let is_head = index == 0 && title != "findings";
        canvas.text(1, y, &lines[index], if is_head { Role::Bad } else { Role::Text });
    }
    format!("{title}{}", more(&window, lines.len()))
}
