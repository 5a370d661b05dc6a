//! Extents and indices in three dimensions.

use std::fmt;

/// An extent or an index in x, y and z, displayed as `(4,1,1)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dim3(pub [u32; 3]);

impl fmt::Display for Dim3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.0;
        write!(f, "({x},{y},{z})")
    }
}

#[cfg(test)]
mod tests {
    use super::Dim3;

    #[test]
    fn three_numbers_stand_in_parentheses() {
        assert_eq!(format!("block {} of {}", Dim3([1, 0, 2]), Dim3([4, 1, 3])), "block (1,0,2) of (4,1,3)");
    }
}
