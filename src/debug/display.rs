//! What is shown at every stop: the session's list of what was typed after `display`. Numbers count from 1 and are never used again.

use super::expression::Expression;
use super::scene::Scene;
use super::value::{Format, Shown, ValueText};

/// All displays as they are in a scene.
pub fn shown(displays: &[String], scene: &Scene<'_>) -> Vec<Shown> {
    numbered(displays).map(|(number, what)| Shown { number, what: what.to_string(), value: value(what, scene) }).collect()
}

/// All displays with their numbers.
pub fn numbered(displays: &[String]) -> impl Iterator<Item = (usize, &str)> {
    displays.iter().enumerate().map(|(index, what)| (index + 1, what.as_str())).filter(|(_, what)| !what.is_empty())
}

/// Takes display number `number` back; false if there is none.
pub fn remove(displays: &mut [String], number: u64) -> bool {
    let index = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    let entry = index.and_then(|index| displays.get_mut(index)).filter(|what| !what.is_empty());
    entry.map(std::mem::take).is_some()
}

/// The value of `/x %r1`.
fn value(what: &str, scene: &Scene<'_>) -> Result<ValueText, String> {
    let (format, text) = match what.strip_prefix('/').and_then(|rest| rest.split_once(' ')) {
        Some((letters, text)) => (letters.chars().next().and_then(Format::from_letter), text),
        None => (None, what),
    };
    let expression = Expression::parse(text).map_err(|error| error.to_string())?;
    let value = expression.evaluate(scene).map_err(|error| error.to_string())?;
    Ok(value.text(scene, format))
}
