//! tmp
use crate::debug::scene::Scene;
#[derive(Clone, Debug)]
pub struct Condition { pub text: String }
impl Condition { pub fn holds(&self, _scene: &Scene<'_>) -> Result<bool, String> { Ok(true) } }
#[derive(Clone, Debug)]
pub struct LogMessage { pub source: String }
impl LogMessage { pub fn text(&self, _scene: &Scene<'_>) -> String { self.source.clone() } }
