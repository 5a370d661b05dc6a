//! Roles: names for warps by their work, such as `producer`.
//!
//! A role belongs to a warp number, in every block: kernels divide work by warp number. The user sets roles, or [`guess`] finds the branch
//! at which the warps diverge and names them by the direction they took.

mod guess;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::argument::ArgumentError;
use crate::base::ranges;

pub use guess::{GuessedRole, RoleGuess};

/// Names that are subcommands of `role`.
const RESERVED: [&str; 2] = ["auto", "clear"];

/// The roles of a session, by warp.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Roles(BTreeMap<u32, String>);

/// No roles.
pub static NO_ROLES: Roles = Roles(BTreeMap::new());

impl Roles {
    /// Sets the role of warps, replacing the one they had.
    ///
    /// # Errors
    /// The name is not a valid role.
    pub fn set(&mut self, name: &str, warps: &[u32]) -> Result<(), ArgumentError> {
        check_name(name)?;
        self.0.extend(warps.iter().map(|warp| (*warp, name.to_string())));
        Ok(())
    }

    /// Removes all roles.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The role of a warp.
    pub fn of(&self, warp: u32) -> Option<&str> {
        self.0.get(&warp).map(String::as_str)
    }

    /// `producer warp 0`, `warp 4`
    pub fn warp(&self, warp: u32) -> String {
        self.warps(&[warp])
    }

    /// `consumer warps 1-3`, `producer warp 0, warps 4-7`; the warps must ascend.
    pub fn warps(&self, warps: &[u32]) -> String {
        self.named(warps).describe()
    }

    /// The ranges without the word "warps", for a column: `1-3 consumer`, `0 producer, 4-7`.
    pub fn ranges(&self, warps: &[u32]) -> String {
        self.named(warps).ranges()
    }

    /// Warps with their roles; they must ascend.
    pub fn named(&self, warps: &[u32]) -> NamedWarps {
        let named = |(role, warps): (Option<&str>, Vec<u32>)| NamedRole { role: role.map(str::to_string), warps };
        NamedWarps(self.by_role(warps).into_iter().map(named).collect())
    }

    /// All roles and their warps, in order of the lowest warp.
    pub fn all(&self) -> Vec<(&str, Vec<u32>)> {
        let warps: Vec<u32> = self.0.keys().copied().collect();
        self.by_role(&warps).into_iter().filter_map(|(role, warps)| Some((role?, warps))).collect()
    }

    /// Checks that every name is valid for [`Self::set`]: a file may contain any names.
    pub(super) fn check(&self) -> Result<(), ArgumentError> {
        self.0.values().try_for_each(|name| check_name(name))
    }

    /// The warps grouped by role, in order of the lowest warp.
    fn by_role(&self, warps: &[u32]) -> Vec<(Option<&str>, Vec<u32>)> {
        let mut roles: Vec<(Option<&str>, Vec<u32>)> = Vec::new();
        for warp in warps {
            let role = self.of(*warp);
            match roles.iter_mut().find(|(other, _)| *other == role) {
                Some((_, warps)) => warps.push(*warp),
                None => roles.push((role, vec![*warp])),
            }
        }
        roles
    }
}

/// Warps of a block and their roles, in order of the lowest warp of each role.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NamedWarps(pub Vec<NamedRole>);

/// Warps of one role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NamedRole {
    /// The role, if they have one.
    pub role: Option<String>,
    /// The warps, ascending.
    pub warps: Vec<u32>,
}

impl NamedWarps {
    /// `consumer warps 1-3`, `producer warp 0, warps 4-7`
    pub fn describe(&self) -> String {
        let named = |NamedRole { role, warps }: &NamedRole| {
            let word = if warps.len() == 1 { "warp" } else { "warps" };
            format!("{}{word} {}", role.as_ref().map_or(String::new(), |role| format!("{role} ")), ranges(warps))
        };
        self.0.iter().map(named).collect::<Vec<_>>().join(", ")
    }

    /// The ranges without the word "warps", for a column: `1-3 consumer`, `0 producer, 4-7`.
    pub fn ranges(&self) -> String {
        let named = |NamedRole { role, warps }: &NamedRole| {
            format!("{}{}", ranges(warps), role.as_ref().map_or(String::new(), |role| format!(" {role}")))
        };
        self.0.iter().map(named).collect::<Vec<_>>().join(", ")
    }
}

fn check_name(name: &str) -> Result<(), ArgumentError> {
    let first_is_letter = name.starts_with(|first: char| first.is_alphabetic() || first == '_');
    let is_word = name.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | '?'));
    if !first_is_letter || !is_word || RESERVED.contains(&name) {
        return Err(ArgumentError::new(format!("'{name}' cannot be a role")).with_help("a letter, then letters, digits, '_', '-' or '.'"));
    }
    Ok(())
}

/// Parses `warp 0`, `warps 1-3,5` or `1-3`.
///
/// # Errors
/// The text is not a list of warps of a block of `count` warps.
pub fn parse_warps(text: &str, count: u32) -> Result<Vec<u32>, ArgumentError> {
    let word = text.trim_start().trim_start_matches("warps").trim_start_matches("warp");
    let start = text.len() - word.len();
    let wrong = |message: String| ArgumentError::new(message).with_help("warps such as warp 0 or warps 1-3,5").at(start..text.len());
    let number = |text: &str| text.trim().parse::<u32>().map_err(|_| wrong(format!("'{}' is not a warp", text.trim())));
    let mut warps = Vec::new();
    for part in word.split(',') {
        let (first, last) = part.split_once('-').map_or((part, part), |ends| ends);
        let (first, last) = (number(first)?, number(last)?);
        if first > last || last >= count {
            return Err(wrong(format!("there are no warps {}: they are 0 to {}", part.trim(), count.saturating_sub(1))));
        }
        warps.extend(first..=last);
    }
    warps.sort_unstable();
    warps.dedup();
    Ok(warps)
}

#[cfg(test)]
mod tests {
    use super::{Roles, parse_warps};

    #[test]
    fn warps_are_called_by_their_roles() {
        let mut roles = Roles::default();
        roles.set("producer", &[0]).unwrap_or_default();
        roles.set("consumer", &[1, 2, 3]).unwrap_or_default();
        assert_eq!(roles.warps(&[1, 2, 3]), "consumer warps 1-3");
        assert_eq!(roles.warps(&[0, 1, 4]), "producer warp 0, consumer warp 1, warp 4");
        assert_eq!(roles.ranges(&[0, 4, 5]), "0 producer, 4-5");
        assert!(roles.set("auto", &[0]).is_err() && roles.set("1st", &[0]).is_err());
    }

    #[test]
    fn lists_of_warps_are_read() {
        assert_eq!(parse_warps("warp 0", 4), Ok(vec![0]));
        assert_eq!(parse_warps("warps 2, 0-1", 4), Ok(vec![0, 1, 2]));
        assert!(parse_warps("warp 4", 4).is_err() && parse_warps("warp", 4).is_err() && parse_warps("3-1", 4).is_err());
    }
}
