//! Findings with names and values, as data for front ends.
//!
//! A checker reports a mistake in terms of the machine ([`crate::check::Finding`]); a launch that does not reach its end is a
//! [`Fault`](super::fault::Fault). Both become a [`FindingText`]: the mistake, its two sides with their instructions, the bytes by
//! name, the reason and the fix. Names and values are those at the time of each side, so [`describe`] executes the run again up to each
//! side.
//!
//! [`Suppressions`] hide findings.

mod describe;
mod finding_log;
mod hang;
mod session;
mod suppress;
mod text;
mod tried;

use describe::Descriptions;
pub(super) use describe::describe_case;
pub(super) use finding_log::FindingLog;
pub use suppress::Suppressions;
pub use text::{FindingText, LinkText, MemoryText, SideText};
pub use tried::{FailedFix, FixOutcome, Outputs, Remainder};

pub use crate::base::Severity;
pub use crate::check::{CheckerId, Checks, FindingId, SideAction, findings};
