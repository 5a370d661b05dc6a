//! Values of arguments.

use std::num::NonZeroUsize;

use crate::debug::settings::{self, JOBS_MAX};
use crate::ui::tour::{STORIES, Story};

/// `sm_90a` of `sm_90a`, `compute_90a` or `90a`.
pub(super) fn arch(text: &str) -> Result<String, String> {
    let number = ["sm_", "compute_"].iter().find_map(|before| text.strip_prefix(before)).unwrap_or(text);
    let digits = number.strip_suffix(['a', 'f']).unwrap_or(number);
    let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    is_number.then(|| format!("sm_{number}")).ok_or_else(|| format!("'{text}' is no architecture, such as sm_90 or sm_90a"))
}

/// `4096`, `512K`, `64M`, `8G`.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    let bytes = settings::bytes(text).filter(|bytes| *bytes > 0);
    bytes.ok_or_else(|| format!("'{text}' is not a number of bytes above 0, such as 4096, 512K, 64M or 8G"))
}

/// `4`
pub(super) fn jobs(text: &str) -> Result<NonZeroUsize, String> {
    let jobs = text.parse().ok().filter(|jobs: &NonZeroUsize| jobs.get() as u64 <= JOBS_MAX);
    jobs.ok_or_else(|| format!("'{text}' is not a number from 1 to {JOBS_MAX}"))
}

/// A number that is not negative.
pub(super) fn bound(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| format!("'{text}' is not a number of 0 or more, such as 1e-5"))
}

/// A tour by its name.
pub(super) fn story(text: &str) -> Result<&'static Story, String> {
    let names = STORIES.each_ref().map(|story| story.name);
    Story::called(text).ok_or_else(|| format!("there is no tour '{text}': there are {}", names.join(", ")))
}
