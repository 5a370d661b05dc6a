//! The handlers of the commands, a file for each topic of the table.

pub mod assigning;
pub mod branches;
pub mod changing;
pub mod descriptor;
pub mod export;
pub mod finding_events;
pub mod focus;
pub mod fragment;
pub mod help;
pub mod looking;
pub mod race;
pub mod reversing;
pub mod running;
pub mod scripting;
pub mod session;
pub mod skipping;
pub mod stopping;
pub mod views;
