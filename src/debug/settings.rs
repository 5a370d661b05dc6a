//! The settings (`set NAME VALUE`, `show NAME`), as one table.
//!
//! The engine reads the fields of [`Settings`]; everything that names a setting in words (parsing, completion, help) reads [`SETTINGS`].

use std::num::NonZeroUsize;
use std::path::PathBuf;

use super::stop::{DivergentStep, StepUnit};
use crate::base::cores;

/// The current values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The threads that `stepi` steps.
    pub step_unit: StepUnit,
    /// What a step does if the focused lane has diverged from the lanes that run.
    pub divergent_step: DivergentStep,
    /// The kind of lines that `step` and `next` step.
    pub step_by: StepBy,
    /// Maximum bytes of snapshots for going back.
    pub snapshot_memory: u64,
    /// Lines that `list` shows.
    pub list_size: u32,
    /// True to ask before recorded history is dropped.
    pub confirm: bool,
    /// The findings that stop a run.
    pub stop_on: StopOn,
    /// The colours of the screen.
    pub theme: ThemeName,
    /// True to show a long answer from its beginning instead of the panes of the screen.
    pub pagination: bool,
    /// The file that all that is typed and answered is written to.
    pub transcript: Option<PathBuf>,
    /// Maximum number of runs in parallel; none for the number of cores.
    pub jobs: Option<NonZeroUsize>,
}

impl Settings {
    /// The number of runs in parallel.
    pub fn jobs(&self) -> usize {
        self.jobs.map_or_else(cores, NonZeroUsize::get)
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            step_unit: StepUnit::default(),
            divergent_step: DivergentStep::default(),
            step_by: StepBy::default(),
            snapshot_memory: 512 << 20,
            list_size: 10,
            confirm: true,
            stop_on: StopOn::default(),
            theme: ThemeName::default(),
            pagination: true,
            transcript: None,
            jobs: None,
        }
    }
}

/// The kind of lines that `step` and `next` step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum StepBy {
    /// Lines of the source language where `.loc` names them, lines of PTX where it does not.
    #[default]
    Source,
    /// Lines of PTX.
    Ptx,
}

/// The findings that stop a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum StopOn {
    /// All.
    Finding,
    /// Errors.
    #[default]
    Error,
    /// None: they are listed when the run has stopped for another reason.
    None,
}

/// The colours of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ThemeName {
    /// For light text on a dark background.
    #[default]
    Dark,
    /// For dark text on a light background.
    Light,
    /// No colours.
    None,
}

/// One row of [`SETTINGS`].
pub struct Setting {
    /// Its name, which follows `set`.
    pub name: &'static str,
    /// The kind of its values.
    pub kind: SettingKind,
    /// The help, in one line.
    pub help: &'static str,
    /// The current value, as it would be typed.
    pub get: fn(&Settings) -> String,
    /// Sets the value, which is of the setting's kind.
    set: fn(&mut Settings, Value),
}

/// The kind of a setting's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingKind {
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A number from 1 to this one.
    Number(u64),
    /// A number from 1 to this one, or `auto`.
    NumberOrAuto(u64),
    /// A number of bytes, as in `64M`.
    Bytes,
    /// The path of a file, or `off`.
    File,
}

/// A value that is of a setting's kind.
enum Value {
    Word(&'static str),
    Number(u64),
    Path(Option<PathBuf>),
}

/// Maximum of `jobs`.
pub const JOBS_MAX: u64 = 1024;

/// The value of `jobs` for the number of cores.
const AUTO: &str = "auto";

/// The value of `transcript` for no file.
const OFF: &str = "off";

const SWITCH: &[&str] = &["off", "on"];
const STEP_UNITS: [(&str, StepUnit); 4] =
    [("lane", StepUnit::Lane), ("warp", StepUnit::Warp), ("block", StepUnit::Block), ("grid", StepUnit::Grid)];
const DIVERGENT_STEPS: [(&str, DivergentStep); 2] = [("follow", DivergentStep::Follow), ("wait", DivergentStep::Wait)];
const STEP_BYS: [(&str, StepBy); 2] = [("source", StepBy::Source), ("ptx", StepBy::Ptx)];
const STOP_ONS: [(&str, StopOn); 3] = [("finding", StopOn::Finding), ("error", StopOn::Error), ("none", StopOn::None)];
const THEMES: [(&str, ThemeName); 3] = [("dark", ThemeName::Dark), ("light", ThemeName::Light), ("none", ThemeName::None)];

/// All settings, by name.
pub const SETTINGS: &[Setting] = &[
    Setting {
        name: "confirm",
        kind: SettingKind::Choice(SWITCH),
        help: "Whether to ask before recorded history is dropped.",
        get: |settings| SWITCH[usize::from(settings.confirm)].to_string(),
        set: |settings, value| settings.confirm = value.word() == "on",
    },
    Setting {
        name: "divergent-step",
        kind: SettingKind::Choice(&["follow", "wait"]),
        help: "What a step does when other lanes of the warp run before the focused one: follow them, or wait until it runs.",
        get: |settings| word_of(&DIVERGENT_STEPS, settings.divergent_step),
        set: |settings, value| settings.divergent_step = value_of(&DIVERGENT_STEPS, value.word()),
    },
    Setting {
        name: "jobs",
        kind: SettingKind::NumberOrAuto(JOBS_MAX),
        help: "How many orders explore runs at the same time; auto is as many as the machine has cores. What it says is the same.",
        get: |settings| settings.jobs.map_or_else(|| AUTO.to_string(), |jobs| jobs.to_string()),
        set: |settings, value| settings.jobs = usize::try_from(value.number()).ok().and_then(NonZeroUsize::new),
    },
    Setting {
        name: "listsize",
        kind: SettingKind::Number(10_000),
        help: "How many lines list shows.",
        get: |settings| settings.list_size.to_string(),
        set: |settings, value| settings.list_size = value.number() as u32,
    },
    Setting {
        name: "pagination",
        kind: SettingKind::Choice(SWITCH),
        help: "Whether an answer that is longer than its room is shown from its beginning, in place of the panes.",
        get: |settings| SWITCH[usize::from(settings.pagination)].to_string(),
        set: |settings, value| settings.pagination = value.word() == "on",
    },
    Setting {
        name: "snapshot-memory",
        kind: SettingKind::Bytes,
        help: "How many bytes of snapshots are kept for going back; with fewer, going back replays more.",
        get: |settings| bytes_as_typed(settings.snapshot_memory),
        set: |settings, value| settings.snapshot_memory = value.number(),
    },
    Setting {
        name: "step-by",
        kind: SettingKind::Choice(&["source", "ptx"]),
        help: "What a line is to step and next: a line of the source where .loc names one, or a line of PTX.",
        get: |settings| word_of(&STEP_BYS, settings.step_by),
        set: |settings, value| settings.step_by = value_of(&STEP_BYS, value.word()),
    },
    Setting {
        name: "step-unit",
        kind: SettingKind::Choice(&["lane", "warp", "block", "grid"]),
        help: "Whose next instruction a step executes: the focused lane's, its warp's, any of its block's, or any of the grid's.",
        get: |settings| word_of(&STEP_UNITS, settings.step_unit),
        set: |settings, value| settings.step_unit = value_of(&STEP_UNITS, value.word()),
    },
    Setting {
        name: "stop-on",
        kind: SettingKind::Choice(&["finding", "error", "none"]),
        help: "Which findings of the checkers stop a run: all, errors, or none. Faults always do.",
        get: |settings| word_of(&STOP_ONS, settings.stop_on),
        set: |settings, value| settings.stop_on = value_of(&STOP_ONS, value.word()),
    },
    Setting {
        name: "theme",
        kind: SettingKind::Choice(&["dark", "light", "none"]),
        help: "The colours of the screen: for a dark ground, for a light one, or none at all.",
        get: |settings| settings.theme.word(),
        set: |settings, value| settings.theme = value_of(&THEMES, value.word()),
    },
    Setting {
        name: "transcript",
        kind: SettingKind::File,
        help: "The file that gets all that was said and will be said on the screen; off ends it.",
        get: |settings| settings.transcript.as_ref().map_or_else(|| OFF.to_string(), |path| path.display().to_string()),
        set: |settings, value| settings.transcript = value.path(),
    },
];

impl Setting {
    /// Sets it to the value `text`.
    ///
    /// # Errors
    /// The possible values, if `text` is not one of them.
    pub fn put(&self, settings: &mut Settings, text: &str) -> Result<(), String> {
        let text = text.trim();
        let value = match self.kind {
            SettingKind::Choice(words) => words.iter().find(|word| **word == text).map(|word| Value::Word(word)),
            SettingKind::NumberOrAuto(_) if text == AUTO => Some(Value::Number(0)),
            SettingKind::Number(max) | SettingKind::NumberOrAuto(max) => {
                text.parse().ok().filter(|number| (1..=max).contains(number)).map(Value::Number)
            }
            SettingKind::Bytes => bytes(text).map(Value::Number),
            SettingKind::File if text == OFF => Some(Value::Path(None)),
            SettingKind::File => (!text.is_empty()).then(|| Value::Path(Some(PathBuf::from(text)))),
        };
        let value = value.ok_or_else(|| format!("{} takes {}, not '{text}'", self.name, self.kind.describe()))?;
        (self.set)(settings, value);
        Ok(())
    }
}

impl ThemeName {
    /// The word that the user types.
    pub fn word(self) -> String {
        word_of(&THEMES, self)
    }
}

impl SettingKind {
    /// The possible values: `lane, warp, block or grid`.
    pub fn describe(self) -> String {
        match self {
            Self::Choice([first @ .., last]) => format!("{} or {last}", first.join(", ")),
            Self::Choice([]) => String::new(),
            Self::Number(max) => format!("a number from 1 to {max}"),
            Self::NumberOrAuto(max) => format!("{AUTO} or a number from 1 to {max}"),
            Self::Bytes => "a number of bytes such as 512M".to_string(),
            Self::File => format!("the path of a file or {OFF}"),
        }
    }
}

impl Value {
    fn word(&self) -> &'static str {
        match self {
            Self::Word(word) => word,
            Self::Number(_) | Self::Path(_) => "",
        }
    }

    fn number(&self) -> u64 {
        match self {
            Self::Word(_) | Self::Path(_) => 0,
            Self::Number(number) => *number,
        }
    }

    fn path(self) -> Option<PathBuf> {
        match self {
            Self::Word(_) | Self::Number(_) => None,
            Self::Path(path) => path,
        }
    }
}

fn value_of<T: Copy + Default>(words: &[(&str, T)], wanted: &str) -> T {
    words.iter().find(|(word, _)| *word == wanted).map_or_else(T::default, |(_, value)| *value)
}

fn word_of<T: PartialEq + Copy>(words: &[(&str, T)], wanted: T) -> String {
    words.iter().find(|(_, value)| *value == wanted).map_or("", |(word, _)| word).to_string()
}

/// The units of [`bytes`], greatest first.
const UNITS: [(&str, u32); 4] = [("T", 40), ("G", 30), ("M", 20), ("K", 10)];

/// `64M` is 67,108,864.
pub fn bytes(text: &str) -> Option<u64> {
    let upper = text.to_ascii_uppercase();
    let unit = UNITS.iter().find_map(|(unit, shift)| Some((upper.strip_suffix(unit)?, *shift)));
    let (digits, shift) = unit.unwrap_or((&upper, 0));
    digits.trim_end().parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// The shortest text that [`bytes`] reads as this number of bytes.
fn bytes_as_typed(bytes: u64) -> String {
    let unit = UNITS.iter().find(|(_, shift)| bytes > 0 && bytes.is_multiple_of(1 << shift));
    unit.map_or(bytes.to_string(), |(unit, shift)| format!("{}{unit}", bytes >> shift))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn setting_texts_can_be_read_again() {
        for setting in SETTINGS {
            let mut settings = Settings::default();
            let values: Vec<String> = match setting.kind {
                SettingKind::Choice(words) => words.iter().map(ToString::to_string).collect(),
                SettingKind::Number(max) => vec!["1".to_string(), max.to_string()],
                SettingKind::NumberOrAuto(max) => vec![AUTO.to_string(), "1".to_string(), max.to_string()],
                SettingKind::File => ["off", "a b.txt"].map(str::to_string).to_vec(),
                SettingKind::Bytes => ["1", "1000", "3K", "64M", "5G"].map(str::to_string).to_vec(),
            };
            for value in values {
                assert_eq!(setting.put(&mut settings, &value), Ok(()), "{}", setting.name);
                assert_eq!((setting.get)(&settings), value, "{}", setting.name);
            }
        }
    }

    #[test]
    fn an_invalid_value_is_refused_with_the_possible_values() {
        let mut settings = Settings::default();
        let unit = SETTINGS.iter().find(|setting| setting.name == "step-unit").map(|setting| setting.put(&mut settings, "thread"));
        assert_eq!(unit, Some(Err("step-unit takes lane, warp, block or grid, not 'thread'".to_string())));
        let memory =
            SETTINGS.iter().find(|setting| setting.name == "snapshot-memory").map(|setting| setting.put(&mut settings, "99999999T"));
        assert_eq!(memory, Some(Err("snapshot-memory takes a number of bytes such as 512M, not '99999999T'".to_string())));
        assert_eq!(settings, Settings::default());
    }

    #[test]
    fn settings_are_in_order() {
        assert!(SETTINGS.is_sorted_by_key(|setting| setting.name));
    }
}
