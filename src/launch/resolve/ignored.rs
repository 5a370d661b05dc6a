//! Byte ranges of buffers without expected contents (`expect_ignoring`).

use super::param::count;
use super::{Resolver, Scope};
use crate::launch::expect::join_ranges;
use crate::launch::file::Launch;
use crate::launch::value_path::ValuePath;

impl Resolver<'_> {
    /// Adds the ranges of the launch to the buffers of the case.
    pub(super) fn ignored(&mut self, place: &ValuePath, launch: &Launch, scope: &mut Scope) {
        let list = place.field("expect_ignoring");
        for (name, ranges) in &launch.expect_ignoring {
            let place = list.key(name);
            let Some(&buffer) = scope.by_name.get(name) else {
                let known: Vec<&str> = scope.by_name.keys().map(String::as_str).collect();
                let help = if known.is_empty() { "there is none".to_string() } else { format!("buffers: {}", known.join(", ")) };
                self.error_with_help(&place, format!("there is no buffer '{name}'"), help);
                continue;
            };
            let all = scope.buffers[buffer].bytes;
            for (index, (first, bytes)) in ranges.iter().enumerate() {
                match first.checked_add(*bytes) {
                    Some(end) if end <= all && *bytes > 0 => scope.buffers[buffer].ignored.push(*first..end),
                    _ => {
                        let (given, all) = (count(*bytes), count(all));
                        self.error(&place.item(index), format!("{given} from byte {first} on are not in buffer '{name}', which has {all}"));
                    }
                }
            }
            join_ranges(&mut scope.buffers[buffer].ignored);
        }
    }
}
