//! Placeholder.
use super::reporter::Reporter;
use crate::machine::{AccessEvent, CopyEvent, Machine, MbarrierEvent, OrderEvent};
use crate::program::Program;
#[derive(Clone)]
pub(super) struct Sync;
impl Sync {
    pub fn new(_: &Program) -> Self { Self }
    pub fn begin(&mut self, _: &Machine) {}
    pub fn end(&mut self, _: &Machine, _: &mut Reporter<'_>) {}
    pub fn access(&mut self, _: &AccessEvent<'_>, _: &mut Reporter<'_>) -> bool { false }
    pub fn order(&mut self, _: &OrderEvent<'_>, _: &mut Reporter<'_>) -> bool { false }
    pub fn copy(&mut self, _: &CopyEvent<'_>, _: &mut Reporter<'_>) -> bool { false }
    pub fn mbarrier(&mut self, _: &MbarrierEvent, _: &mut Reporter<'_>) -> bool { false }
}
