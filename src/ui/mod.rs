//! Front ends: they draw what the engine answers and never touch the machine.

pub mod text;
