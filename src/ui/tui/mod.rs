//! The screen: panes drawn from the engine's plain data, and what keys and clicks on them mean.
//!
//! Nothing in here writes to a terminal: a [`screen::Screen`] draws into a buffer of cells, and answers a key with a command line.

pub mod canvas;
pub mod frame;
pub mod keymap;
pub mod layout;
pub mod panes;
pub mod screen;
pub mod theme;
