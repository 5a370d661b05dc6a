//! The screen: what its panes show, and what holds for all of it.

#![cfg(feature = "tui")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot run its kernel fails")]

mod cut;
mod readme;
mod rules;
mod screen;
mod shown;
