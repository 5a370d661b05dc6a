//! Formatting of lane lists.

use crate::machine::LaneMask;

/// `lane 3 exits`, or `lanes 0-7 exit`.
pub(super) fn lanes_do(mask: LaneMask, verb: &str) -> String {
    let ending = match verb {
        _ if mask.count() != 1 => "",
        _ if verb.ends_with(['s', 'o']) => "es",
        _ => "s",
    };
    format!("{} {verb}{ending}", mask.describe())
}

#[cfg(test)]
mod tests {
    use super::{LaneMask, lanes_do};

    #[test]
    fn one_lane_exits_and_two_exit() {
        assert_eq!(lanes_do(LaneMask::of(3), "exit"), "lane 3 exits");
        assert_eq!(lanes_do(LaneMask::of(3), "go"), "lane 3 goes");
        assert_eq!(lanes_do(LaneMask::of(3), "access"), "lane 3 accesses");
        assert_eq!(lanes_do(LaneMask::lowest(8), "exit"), "lanes 0-7 exit");
    }
}
