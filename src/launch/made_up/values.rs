//! Values of the parameters of a made-up launch.

use super::uses::{NumberUse, PartUse, PointerUse};
use super::{BOX_BYTES, Basis, Guess, Integers, ONE_OF_SEVERAL, Reason, Study};
use crate::isa::{OutsideFill, ScalarType, Swizzle, TensorElement, TypeKind};
use crate::launch::element::{Element, Kind, Number};
use crate::launch::file::{Buffer, Compare, Init, Param};
use crate::launch::image::BufferRef;
use crate::launch::tensor_map::TensorMap;
use crate::program::{self, TENSOR_MAP_BYTES};

/// The value of a number that the code only adds to an index.
const OFFSET: u64 = 1;

/// Minimum and maximum of a buffer's elements before a dry run has measured it.
const ELEMENTS: (u64, u64) = (1024, 1 << 14);
/// Elements of a buffer that the code does not use.
const ELEMENTS_UNUSED: u64 = 32;
/// The bits of 0.9375, the largest e4m3 number below 1, and of 0.875, the largest e5m2 number below 1.
const BELOW_ONE: [(ScalarType, i128); 2] = [(ScalarType::E4M3, 0x37), (ScalarType::E5M2, 0x3b)];
/// Bytes of a row of a swizzled tile.
const ROW_BYTES: u32 = 128;
/// Maximum of a box's elements in each dimension.
const BOX_MAX: u32 = 256;

impl Study<'_> {
    /// The value of parameter `index`, and the reason.
    pub(super) fn param(&self, index: usize, formal: &program::Param, guess: &Guess) -> (Param, Option<Reason>) {
        match self.known.params.get(&index) {
            Some(Param::Buffer(buffer)) if self.is_map(formal) => {
                return (Param::TensorMap(self.map_over(index, buffer.clone(), guess).0), None);
            }
            Some(Param::Buffer(buffer)) if buffer.lacks_length() => return self.measured(index, formal, buffer, guess),
            Some(param) => return (param.clone(), None),
            None => {}
        }
        let name = self.name(index, formal);
        if self.is_map(formal) {
            let (map, why) = self.map(index, &name, guess);
            return (Param::TensorMap(map), Some(Reason::new(&name, why)));
        }
        if let Some(bytes) = self.known.scratch.get(&index) {
            return self.scratch(&name, *bytes, guess);
        }
        if let Some((number, why)) = self.known.numbers.get(&index)
            && let Some(element) = element_of(formal, None)
        {
            let reason = Reason::new(&format!("{name} = {number}"), why.clone()).based(basis(why));
            return (Param::from_scalar(element, *number), Some(reason));
        }
        if let Some((number, why)) = self.map_part(index, guess)
            && let Some(element) = element_of(formal, None)
        {
            let param = Param::from_scalar(element, Number::Integer(number.into()));
            return (param, Some(Reason::new(&format!("{name} = {number}"), why).based(Basis::Derived)));
        }
        if let Some((number, why)) = self.descriptor_stride(index, guess)
            && let Some(element) = element_of(formal, None)
        {
            let param = Param::from_scalar(element, Number::Integer(number.into()));
            return (param, Some(Reason::new(&format!("{name} = {number}"), why).based(Basis::Derived)));
        }
        let whole = self.uses.whole(index, formal.bytes);
        if let Some(pointer) = whole.and_then(|used| used.pointer) {
            let (buffer, why) = self.buffer(index, &name, &pointer, guess);
            return (Param::Buffer(buffer), Some(Reason::new(&name, why)));
        }
        match element_of(formal, whole) {
            Some(element) if let Some((extent, why)) = guess.extents.get(&index) => {
                let number = Number::Integer((*extent).into());
                (Param::from_scalar(element, number), Some(Reason::new(&format!("{name} = {number}"), why.to_string()).based(basis(why))))
            }
            Some(element) => {
                let (number, why) = self.number(element, whole.map(|used| used.number).unwrap_or_default(), whole.is_some(), guess);
                (Param::from_scalar(element, number), Some(Reason::new(&format!("{name} = {number}"), why)))
            }
            None => self.bytes(index, formal, &name, guess),
        }
    }

    pub(super) fn name(&self, index: usize, formal: &program::Param) -> String {
        self.known.names.get(&index).cloned().unwrap_or_else(|| formal.name.to_string())
    }

    /// True if a parameter is a tensor map by value.
    pub(super) fn is_map(&self, formal: &program::Param) -> bool {
        let opaque = formal.is_array && formal.bytes as usize == TENSOR_MAP_BYTES && formal.align >= 64;
        opaque && self.uses.tensor_rank > 0
    }

    fn buffer(&self, index: usize, name: &str, used: &PointerUse, guess: &Guess) -> (Buffer, String) {
        let format = self.known.elements.get(&index).copied().or(used.element);
        let element = format.and_then(memory_element).unwrap_or(Element::B32);
        let packed = BELOW_ONE.iter().find(|row| Some(row.0) == format);
        let only_written = used.at.is_some() && !used.reads;
        let (init, what) = match (element.kind(), packed) {
            _ if used.at.is_none() => (Init::Zero, "zeros".to_string()),
            _ if only_written || used.atomics => (Init::Zero, "zeros".to_string()),
            (_, Some((_, high))) => {
                let (low, high) = (Number::Integer(0), Number::Integer(*high));
                (Init::Random { seed: index as u64 + 1, low, high }, "random numbers in [0, 1)".to_string())
            }
            (Kind::Float, None) => {
                let (low, high) = (Number::Integer(-1), Number::Integer(1));
                (Init::Random { seed: index as u64 + 1, low, high }, "random numbers in [-1, 1)".to_string())
            }
            _ => self.indices(index, element, used, guess).unwrap_or_else(|| integers(guess.integers)),
        };
        let threads: u64 = guess.block.iter().map(|extent| u64::from(*extent)).product();
        let unmeasured = match used.at {
            None => ELEMENTS_UNUSED,
            Some(_) => threads.saturating_mul(threads).clamp(ELEMENTS.0, ELEMENTS.1).max(self.elements_of_rows(guess)),
        };
        let len = guess.lens.get(&index).copied().unwrap_or(unmeasured).max(1);
        let verb = match (used.reads, used.writes, used.atomics) {
            (_, _, true) => "changed by atomics",
            (true, true, false) => "read and written",
            (true, false, false) => "read",
            (false, true, false) => "written",
            (false, false, false) => "declared a pointer and not used",
        };
        let ty = match packed {
            Some((ty, _)) => ty.word(),
            None => element.name(),
        };
        let at = used.at.map_or(String::new(), |at| format!(" at {}", self.place(at)));
        let why = format!("{len} {ty}, {what}: {verb}{at}");
        let buffer = Buffer {
            name: name.to_string(),
            elem: element,
            len: Some(len),
            shape: None,
            init,
            expect: None,
            tolerance: None,
            compare: Compare::default(),
        };
        (buffer, why)
    }

    /// A buffer of the user without a length.
    fn measured(&self, index: usize, formal: &program::Param, given: &Buffer, guess: &Guess) -> (Param, Option<Reason>) {
        let used = self.uses.whole(index, formal.bytes).and_then(|used| used.pointer).unwrap_or_default();
        let (made, _) = self.buffer(index, &given.name, &used, guess);
        let why = format!("{} {}: as many as the kernel reaches", made.len.unwrap_or(1), given.elem.name());
        let reason = Reason::new(&given.name, why).based(Basis::Derived);
        (Param::Buffer(Buffer { len: made.len, ..given.clone() }), Some(reason))
    }

    /// Scratch memory of each block, undefined at the start.
    fn scratch(&self, name: &str, bytes: u64, guess: &Guess) -> (Param, Option<Reason>) {
        if bytes == 0 {
            return (
                Param::U64(Number::Integer(0)),
                Some(Reason::new(&format!("{name} = 0"), "the kernel has no such scratch memory".to_string()).based(Basis::Given)),
            );
        }
        let blocks: u64 = guess.grid.iter().map(|extent| u64::from(*extent)).product();
        let (elem, len) = (Element::B8, Some(bytes.saturating_mul(blocks)));
        let buffer = Buffer {
            name: name.to_string(),
            elem,
            len,
            shape: None,
            init: Init::Uninit,
            expect: None,
            tolerance: None,
            compare: Compare::default(),
        };
        (Param::Buffer(buffer), Some(Reason::new(name, format!("scratch memory, {bytes} bytes for each block")).based(Basis::Given)))
    }

    fn number(&self, element: Element, used: NumberUse, is_loaded: bool, guess: &Guess) -> (Number, String) {
        if element.kind() == Kind::Float {
            return (
                Number::Float(1.0),
                if is_loaded { "a float: nothing in the code suggests another number" } else { "the code does not read it" }.to_string(),
            );
        }
        let value = match element.bytes() {
            _ if used.handle.is_some() => 0,
            1 => 1,
            _ if used.offset().is_some() => OFFSET,
            2 => guess.size.min(0x7fff),
            _ if matches!(used, NumberUse { ends_loop: Some(_), compared: None, addressed: None, .. }) => self.iterations(guess),
            _ => guess.size,
        };
        if let (Some((row, array)), NumberUse { ends_loop: None, compared: None, addressed: Some(_), .. }, true) =
            (&self.known.row, used, element.bytes() >= 4)
        {
            return (Number::Integer((*row).into()), format!("the rows of {array} have as many elements"));
        }
        if let (Some((length, array)), NumberUse { compared: Some(_), .. }, true) = (&self.known.length, used, element.bytes() >= 4) {
            return (Number::Integer((*length).into()), format!("{array} has as many elements"));
        }
        let why = match used {
            _ if !is_loaded => "the code does not read it".to_string(),
            _ if element.bytes() == 1 => "one byte: true".to_string(),
            NumberUse { handle: Some(at), .. } => {
                format!("the handle of a texture or surface, used at {}: a launch file has Texture(..) and Surface(..)", self.place(at))
            }
            NumberUse { ends_loop: Some(at), .. } => format!("the loop at {} ends at it", self.place(at)),
            NumberUse { compared: Some(at), .. } => format!("compared at {}, and at most as large as the grid", self.place(at)),
            _ if let Some(at) = used.offset() => format!("added to an index at {}: small, so that neighbours may meet", self.place(at)),
            NumberUse { addressed: Some(at), .. } => format!("part of the address at {}", self.place(at)),
            NumberUse { .. } => "as large as the grid: nothing in the code suggests another number".to_string(),
        };
        (Number::Integer(value.into()), why)
    }

    /// A structure by value: each member that the code loads gets a number of its type.
    fn bytes(&self, index: usize, formal: &program::Param, name: &str, guess: &Guess) -> (Param, Option<Reason>) {
        let mut bytes = vec![0_u8; formal.bytes as usize];
        let mut pointers = Vec::new();
        for used in self.uses.of_param(index) {
            pointers.extend(used.pointer.map(|_| used.part.offset.to_string()));
            let bits = match used.hint {
                Some(ScalarType::F32) if used.part.bytes == 4 => Element::F32.encode_float(1.0),
                Some(ScalarType::F64) if used.part.bytes == 8 => Element::F64.encode_float(1.0),
                _ if used.part.bytes >= 4 && used.number != NumberUse::default() => guess.size,
                _ => 0,
            };
            let (start, len) = (used.part.offset as usize, used.part.bytes.min(8) as usize);
            let Some(member) = bytes.get_mut(start..).and_then(|rest| rest.get_mut(..len)) else { continue };
            member.copy_from_slice(&bits.to_le_bytes()[..len]);
        }
        let why = match pointers.len() {
            0 => format!(
                "a structure of {} bytes: its floats that are read as such are 1, its counts {}, the rest 0",
                formal.bytes, guess.size
            ),
            _ => format!(
                "a structure of {} bytes, of which the code takes byte {} for the start of a pointer, and this launch gives 0: give the \
                 structure in a launch file",
                formal.bytes,
                pointers.join(", byte ")
            ),
        };
        (Param::bytes(&bytes), Some(Reason::new(name, why)))
    }

    /// Dimensions of the array of a tensor map.
    pub(super) fn map_rank(&self, index: usize) -> usize {
        self.known.maps.get(&index).map_or(self.uses.tensor_rank, |known| known.tile.len())
    }

    /// Type of the elements of a tensor map.
    pub(super) fn map_element(&self, index: usize) -> TensorElement {
        let said = self.known.maps.get(&index).and_then(|known| known.element);
        let used = || self.known.elements.get(&index).copied().or(self.uses.tile).and_then(tensor_element);
        said.or_else(used).unwrap_or(TensorElement::F32)
    }

    /// A tensor map over a made-up buffer, and the reason.
    fn map(&self, index: usize, name: &str, guess: &Guess) -> (TensorMap, String) {
        let (rank, tile) = (self.map_rank(index), self.tile(index, guess));
        let extent = |d: usize| u64::from(tile[d]).max(guess.size.next_multiple_of(16));
        let made = |d: usize| if d < 2 { extent(d) } else { u64::from(tile[d]) };
        let shape = (0..rank).rev().map(|d| self.given_extent(index, rank - 1 - d).unwrap_or_else(|| made(d))).collect();
        let elem = buffer_element(self.map_element(index));
        let init = match elem.kind() {
            Kind::Float => Init::Random { seed: index as u64 + 1, low: Number::Integer(-1), high: Number::Integer(1) },
            Kind::Bits | Kind::Unsigned | Kind::Signed => Init::Iota { start: Number::Integer(0), step: Number::Integer(1) },
        };
        let buffer = Buffer {
            name: name.to_string(),
            elem,
            len: None,
            shape: Some(shape),
            init,
            expect: None,
            tolerance: None,
            compare: Compare::default(),
        };
        self.map_over(index, buffer, guess)
    }

    /// The extent of dimension `at`, outermost first, of the array of tensor map `map`, if the user gave the parameter that passes it.
    fn given_extent(&self, map: usize, at: usize) -> Option<u64> {
        let index = self.known.map_parts.get(&map)?.get(at)?;
        match self.known.params.get(index)?.scalar()? {
            (_, Number::Integer(extent)) => u64::try_from(extent).ok().filter(|extent| *extent > 0),
            (_, Number::Float(_)) => None,
        }
    }

    /// An extent or a stride, in elements, of the array of a tensor map, if the parameter is one, and the reason.
    pub(super) fn map_part(&self, index: usize, guess: &Guess) -> Option<(u64, String)> {
        let mut parts = self.known.map_parts.iter();
        let (map, at) = parts.find_map(|(map, parts)| Some((*map, parts.iter().position(|part| *part == index)?)))?;
        let formal = self.kernel.params.get(map)?;
        let (Param::TensorMap(made), _) = self.param(map, formal, guess) else { return None };
        let (rank, name) = (made.dims.len(), self.name(map, formal));
        let outermost_first = |at: usize| rank.checked_sub(1 + at);
        match (outermost_first(at), at.checked_sub(rank).and_then(outermost_first)) {
            (Some(dim), _) => Some((made.dims[dim], format!("an extent of {name}"))),
            (None, Some(dim)) => Some((made.dims[..dim].iter().product(), format!("a stride of {name}"))),
            (None, None) => None,
        }
    }

    /// The box of a tensor map, innermost dimension first: rows of 128 bytes, as many as the mbarriers expect.
    fn tile(&self, index: usize, guess: &Guess) -> Vec<u32> {
        if let Some(known) = self.known.maps.get(&index) {
            return known.tile.clone();
        }
        let inner = ROW_BYTES / self.map_element(index).bytes();
        let rows = (guess.box_bytes.unwrap_or(BOX_BYTES) / ROW_BYTES).clamp(1, BOX_MAX);
        (0..self.map_rank(index)).map(|d| [inner, rows].get(d).copied().unwrap_or(1)).collect()
    }

    /// A tensor map over all of the contiguous `buffer`, and the reason.
    fn map_over(&self, index: usize, buffer: Buffer, guess: &Guess) -> (TensorMap, String) {
        let known = self.known.maps.get(&index);
        let (elem, tile) = (self.map_element(index), self.tile(index, guess));
        let swizzled = self.features.has_wgmma();
        let swizzle = known.map_or(if swizzled { Swizzle::B128 } else { Swizzle::None }, |known| known.swizzle);
        let extents = tile.iter().map(u32::to_string).collect::<Vec<_>>().join(" x ");
        let why = known.map_or("rows of 128 bytes, as many as the barrier objects expect", |known| &known.why);
        let mut map = TensorMap {
            buffer: BufferRef::Alias(String::new()),
            elem,
            dims: Vec::new(),
            strides: Vec::new(),
            element_strides: Vec::new(),
            interleave: Default::default(),
            swizzle,
            l2_promotion: Default::default(),
            fill: known.map_or(OutsideFill::default(), |known| known.fill),
            tile: Some(tile),
            im2col: None,
        };
        map.describe(buffer);
        (map, format!("a tensor map with a box of {extents}: {why}"))
    }
}

/// The basis of a number that follows from others: a guess if several are possible.
fn basis(why: &str) -> Basis {
    if why == ONE_OF_SEVERAL { Basis::Guessed } else { Basis::Derived }
}

/// The type of a parameter's number; `None` if it is a structure.
pub(super) fn element_of(formal: &program::Param, whole: Option<&PartUse>) -> Option<Element> {
    let declared = Element::from_name(formal.ty.word()).filter(|element| !formal.is_array && element.bytes() == formal.bytes)?;
    let hinted = whole.and_then(|used| used.hint).and_then(memory_element).filter(|element| element.bytes() == formal.bytes);
    Some(if declared.kind() == Kind::Float { declared } else { hinted.unwrap_or(declared) })
}

/// The type by which a buffer's elements are shown: fp8 as bytes, types that launch files do not have as 64-bit words.
pub(super) fn memory_element(ty: ScalarType) -> Option<Element> {
    let packed = matches!(ty, ScalarType::E4M3 | ScalarType::E5M2);
    let bits = Element::from_name(if packed { "b8" } else { ty.word() });
    bits.or_else(|| (ty.kind() != TypeKind::Predicate && ty.bits() >= 64).then_some(Element::B64))
}

/// The element type of a tensor whose elements are multiplied, or loaded, as `ty`.
#[expect(clippy::wildcard_enum_match_arm, reason = "tensors have no elements of the other types")]
fn tensor_element(ty: ScalarType) -> Option<TensorElement> {
    Some(match ty {
        ScalarType::F16 => TensorElement::F16,
        ScalarType::BF16 => TensorElement::BF16,
        ScalarType::F32 => TensorElement::F32,
        ScalarType::F64 => TensorElement::F64,
        ScalarType::E4M3 | ScalarType::E5M2 | ScalarType::S8 | ScalarType::U8 | ScalarType::B8 => TensorElement::U8,
        ScalarType::U16 | ScalarType::B16 => TensorElement::U16,
        ScalarType::U32 | ScalarType::B32 => TensorElement::U32,
        ScalarType::S32 => TensorElement::S32,
        ScalarType::U64 | ScalarType::B64 => TensorElement::U64,
        ScalarType::S64 => TensorElement::S64,
        _ => return None,
    })
}

/// Contents of buffers of integers that are not indices, with a phrase for it.
fn integers(integers: Integers) -> (Init, String) {
    let from = |start| Init::Iota { start: Number::Integer(start), step: Number::Integer(1) };
    match integers {
        Integers::Zero => (Init::Zero, "zeros".to_string()),
        Integers::FromOne => (from(1), "numbers from 1 up".to_string()),
        Integers::Counting => (from(0), "numbers from 0 up".to_string()),
    }
}

/// The type by which the memory of a tensor is shown.
pub(super) fn buffer_element(ty: TensorElement) -> Element {
    match ty {
        TensorElement::U8 => Element::U8,
        TensorElement::U16 => Element::U16,
        TensorElement::U32 => Element::U32,
        TensorElement::S32 => Element::S32,
        TensorElement::U64 => Element::U64,
        TensorElement::S64 => Element::S64,
        TensorElement::F16 => Element::F16,
        TensorElement::BF16 => Element::BF16,
        TensorElement::F32 | TensorElement::F32Ftz | TensorElement::TF32 | TensorElement::TF32Ftz => Element::F32,
        TensorElement::F64 => Element::F64,
    }
}
