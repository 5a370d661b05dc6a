//! What is wrong with a kernel, in the words of its author.
//!
//! A checker reports a mistake in terms of the machine ([`crate::check::Finding`]); a launch that does not reach its end is a
//! [`Fault`](super::fault::Fault). Both become a [`FindingText`]: which mistake, both sides of it with their instructions, the bytes by
//! name, why it is wrong and what would fix it. Names and values are those of the moment, so [`describe`] has the run stand at each
//! side again.
//!
//! [`Suppressions`] say which findings are hidden.

mod describe;
mod hang;
mod known;
mod session;
mod suppress;
mod text;
mod tried;

use describe::Descriptions;
pub(super) use describe::describe_case;
pub(super) use known::Known;
pub use suppress::Suppressions;
pub use text::{FindingText, LinkText, MemoryText, SideText};
pub use tried::{FailedFix, FixOutcome, Outputs};

pub use crate::base::Severity;
pub use crate::check::{CheckerId, Checks, FindingId, SideAction, findings};
