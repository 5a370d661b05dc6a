//! Typed indices, and vectors that are indexed by them: a `FuncId` cannot be used as a `Pc`.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Index, IndexMut};

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

        impl $crate::base::Id for $name {
            #[inline(always)]
            fn position(self) -> usize {
                self.index()
            }

            fn at(position: usize) -> Self {
                Self::new(position)
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

/// An index type made by [`define_id`].
pub trait Id: Copy {
    /// The position in the vector that the id is made for.
    fn position(self) -> usize;
    /// The id of the element at `position`.
    fn at(position: usize) -> Self;
}

/// A vector that is indexed by the ids of its elements. An id that was made for it always finds its element; another one is a bug, and
/// indexing with it panics.
#[derive(Clone, PartialEq, Eq)]
pub struct IdVec<I, T> {
    items: Vec<T>,
    ids: PhantomData<fn(I) -> I>,
}

impl<I: Id, T> IdVec<I, T> {
    /// A vector without elements.
    pub const fn new() -> Self {
        Self { items: Vec::new(), ids: PhantomData }
    }

    /// Adds an element, and returns its id.
    pub fn push(&mut self, item: T) -> I {
        let id = I::at(self.items.len());
        self.items.push(item);
        id
    }

    /// The ids of all elements, in order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + Clone + use<I, T> {
        (0..self.items.len()).map(I::at)
    }

    /// All elements with their ids, in order.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = (I, &T)> + ExactSizeIterator {
        self.items.iter().enumerate().map(|(position, item)| (I::at(position), item))
    }
}

impl<I, T> Default for IdVec<I, T> {
    fn default() -> Self {
        Self { items: Vec::new(), ids: PhantomData }
    }
}

impl<I, T: std::fmt::Debug> std::fmt::Debug for IdVec<I, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.items.fmt(f)
    }
}

impl<I, T> From<Vec<T>> for IdVec<I, T> {
    fn from(items: Vec<T>) -> Self {
        Self { items, ids: PhantomData }
    }
}

impl<I, T> FromIterator<T> for IdVec<I, T> {
    fn from_iter<S: IntoIterator<Item = T>>(items: S) -> Self {
        Vec::from_iter(items).into()
    }
}

impl<I: Id, T> Index<I> for IdVec<I, T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, id: I) -> &T {
        &self.items[id.position()]
    }
}

impl<I: Id, T> IndexMut<I> for IdVec<I, T> {
    #[inline(always)]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.items[id.position()]
    }
}

/// The elements in order, as a slice, for methods that need no id.
impl<I, T> Deref for IdVec<I, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.items
    }
}

impl<I, T> DerefMut for IdVec<I, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.items
    }
}

impl<'a, I, T> IntoIterator for &'a IdVec<I, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

impl<'a, I, T> IntoIterator for &'a mut IdVec<I, T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    define_id!(
        /// An id of these tests.
        Number, "number"
    );

    #[test]
    fn elements_are_found_by_the_ids_that_were_given() {
        let mut names: IdVec<Number, &str> = IdVec::new();
        let (one, two) = (names.push("one"), names.push("two"));
        assert_eq!((names[one], names[two], names.len()), ("one", "two", 2));
        names[one] = "uno";
        assert_eq!(names.entries().collect::<Vec<_>>(), [(one, &"uno"), (two, &"two")]);
        assert_eq!(names.ids().rev().collect::<Vec<_>>(), [two, one]);
        assert_eq!(format!("{names:?} {two:?}"), r#"["uno", "two"] number1"#);
    }
}
