//! How lanes are told.

use crate::machine::{LaneMask, lanes_in_words};

/// `lane 3 exits`, or `lanes 0-7 exit`.
pub(super) fn lanes_do(mask: LaneMask, verb: &str) -> String {
    let ending = match verb {
        _ if mask.count_ones() != 1 => "",
        _ if verb.ends_with(['s', 'o']) => "es",
        _ => "s",
    };
    format!("{} {verb}{ending}", lanes_in_words(mask))
}

#[cfg(test)]
mod tests {
    use super::lanes_do;

    #[test]
    fn one_lane_exits_and_two_exit() {
        assert_eq!(lanes_do(0b1000, "exit"), "lane 3 exits");
        assert_eq!(lanes_do(0b1000, "go"), "lane 3 goes");
        assert_eq!(lanes_do(0b1000, "access"), "lane 3 accesses");
        assert_eq!(lanes_do(0xff, "exit"), "lanes 0-7 exit");
    }
}
