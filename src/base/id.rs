//! Typed indices: a `FuncId` cannot be used where a `Pc` is wanted.

/// Declares a dense index type over `u32` with conversions from and to `usize`.
///
/// An id is only meaningful for the vector it was made for; indexing another one is a bug of ours.
macro_rules! define_id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The position in the vector this id was made for.
            #[inline(always)]
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// The id of the element at `index`.
            ///
            /// # Panics
            /// If `index` does not fit 32 bits; no file that is accepted has that many items.
            #[inline]
            pub fn new(index: usize) -> Self {
                Self(u32::try_from(index).expect("fewer than 2^32 items"))
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

pub(crate) use define_id;
