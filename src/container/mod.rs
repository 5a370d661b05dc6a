//! Files that hold other files.

pub mod bundle;
