//! One of the parts into which work is split over machines.

use std::fmt;

/// Part `number` of `count`: every `count`th piece of the work, so that neighbours, which often cost the same, are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// From 1 to `count`.
    number: u64,
    count: u64,
}

/// Most parts.
const COUNT_MAX: u64 = 65_536;

impl Shard {
    /// Parses `2/8`.
    ///
    /// # Errors
    /// It is something else: a message of one line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(number, count)| Some((number.parse().ok()?, count.parse().ok()?)));
        let shard = numbers.and_then(|(number, count)| Self::new(number, count));
        shard.ok_or_else(|| format!("'{text}' is not one part of several, such as 1/4 for the first of four (of {COUNT_MAX} at most)"))
    }

    /// Part `number` of `count`; none unless both are from 1 and `number` is at most `count`.
    pub fn new(number: u64, count: u64) -> Option<Self> {
        ((1..=COUNT_MAX).contains(&count) && (1..=count).contains(&number)).then_some(Self { number, count })
    }

    /// Its number, from 1.
    pub fn number(self) -> u64 {
        self.number
    }

    /// The number of parts.
    pub fn count(self) -> u64 {
        self.count
    }

    /// True if the piece with this number, from 0, is in it.
    pub fn has(self, piece: u64) -> bool {
        piece % self.count == self.number - 1
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_piece_is_in_one_part() {
        for count in 1..=9 {
            let shards: Vec<Shard> = (1..=count).filter_map(|number| Shard::new(number, count)).collect();
            for piece in 0..30 {
                assert_eq!(shards.iter().filter(|shard| shard.has(piece)).count(), 1, "{piece} of {count}");
            }
        }
    }

    #[test]
    fn only_parts_are_read() {
        for right in ["1/1", "3/8", "65536/65536"] {
            assert_eq!(Shard::parse(right).map(|shard| shard.to_string()), Ok(right.to_string()));
        }
        for wrong in ["", "1", "0/2", "3/2", "1/0", "1/65537", "-1/2", "1/2/3", "a/b"] {
            assert!(Shard::parse(wrong).is_err(), "{wrong}");
        }
    }
}
