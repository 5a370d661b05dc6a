//! Buffers: number of elements, initial contents, expected contents.

use super::param::count;
use super::{Resolver, Scope, UnresolvedParts};
use crate::base::counted;
use crate::launch::data::{DataFile, DataRange, Form};
use crate::launch::element::{Element, Kind, Number};
use crate::launch::expect::Expect;
use crate::launch::file::{Buffer, Compare, Init, Tolerance};
use crate::launch::init::{Contents, Generator};
use crate::launch::npy_types::saving;
use crate::launch::pages::{PAGE_BYTES, Pages};
use crate::launch::plan::PlannedBuffer;
use crate::launch::value_path::ValuePath;
use crate::program::map::REQUESTED_ALIGN;
use std::sync::Arc;

/// Maximum bytes of all buffers of a case: the memory of the simulated device.
const TOTAL_BYTES_MAX: u64 = 141 << 30;
/// Maximum bytes of buffers whose elements are generated, and so must be stored.
const STORED_BYTES_MAX: u64 = 16 << 30;
/// Maximum of elements that are compared as a multiset, which sorts them.
const MULTISET_MAX: u64 = 1 << 26;
/// Maximum bytes of expected printf output.
const PRINTED_BYTES_MAX: u64 = 1 << 30;

impl Resolver<'_> {
    /// Adds `buffer` to the scope and returns its index.
    pub(super) fn define_buffer(&mut self, launch: usize, place: &ValuePath, buffer: &Buffer, scope: &mut Scope) -> Option<usize> {
        self.define_buffer_at((launch, None), place, buffer, scope)
    }

    /// Adds `buffer`, which has an address if one is given, to the scope and returns its index.
    pub(super) fn define_buffer_at(
        &mut self,
        (launch, at): (usize, Option<u64>),
        place: &ValuePath,
        buffer: &Buffer,
        scope: &mut Scope,
    ) -> Option<usize> {
        if let Some(&earlier) = scope.by_name.get(&buffer.name) {
            let first = self.file.span(&scope.places[earlier]);
            self.error_with_help(
                &place.field("name"),
                format!("buffer '{}' is defined twice", buffer.name),
                format!("Alias(\"{}\") names the same buffer again", buffer.name),
            );
            if let Some(error) = self.errors.pop() {
                self.errors.push(error.with_label(first, "first defined here"));
            }
            return None;
        }
        let planned = self.buffer((launch, at), place, buffer);
        let index = scope.buffers.len();
        if let Init::With(_, parts) = &buffer.init {
            scope.unresolved.push(UnresolvedParts { buffer: index, place: place.field("init").field("at"), parts: parts.clone() });
        }
        scope.by_name.insert(buffer.name.clone(), index);
        scope.places.push(place.clone());
        scope.buffers.push(planned);
        Some(index)
    }

    /// Resolves a buffer; one with a mistake as far as possible, so that later mistakes are found as well.
    fn buffer(&mut self, (launch, at): (usize, Option<u64>), place: &ValuePath, buffer: &Buffer) -> PlannedBuffer {
        let (init, inner) = match &buffer.init {
            Init::With(inner, _) => (place.field("init").item(0), Some(Buffer { init: (**inner).clone(), ..buffer.clone() })),
            _ => (place.field("init"), None),
        };
        let buffer = inner.as_ref().unwrap_or(buffer);
        let source = self.source(&init, &buffer.init);
        let shape = self.buffer_shape(place, buffer, source.as_ref());
        let element = buffer.elem;
        let is_sized = shape.is_some();
        let shape = shape.unwrap_or_default();
        let bytes = self.buffer_bytes(place, buffer, &shape);
        let lead = at.unwrap_or_default() % REQUESTED_ALIGN;
        let contents = self.contents(&init, buffer, source, (lead, bytes));
        // Without a size, which is an error, the expected contents are not checked.
        let expected = buffer.expect.as_ref().filter(|_| is_sized);
        let places = (&place.field("expect"), &place.field("tolerance"));
        let expect = expected.and_then(|expect| self.expect(places, buffer, expect, (&shape, lead, bytes)));
        self.check_comparison(place, buffer, bytes);
        PlannedBuffer {
            name: buffer.name.clone(),
            element,
            shape,
            bytes,
            variable: None,
            padding: 0,
            at: None,
            contents,
            parts: Vec::new(),
            expect,
            ignored: Vec::new(),
            launch,
        }
    }

    /// The extents in the file, or those of the data; `None` after a mistake.
    fn buffer_shape(&mut self, place: &ValuePath, buffer: &Buffer, source: Option<&Source>) -> Option<Vec<u64>> {
        match (&buffer.shape, buffer.len) {
            (Some(_), Some(_)) => {
                self.error(&place.field("shape"), "a buffer has either 'len' or 'shape'");
                None
            }
            (Some(shape), None) => Some(shape.clone()),
            (None, Some(len)) => Some(vec![len]),
            (None, None) => match source {
                Some(source) => Some(source.shape(buffer.elem)),
                None => {
                    if !matches!(buffer.init, Init::File(_) | Init::Slice { .. }) {
                        self.error(place, format!("buffer '{}' needs 'len' or 'shape'", buffer.name));
                    }
                    None
                }
            },
        }
    }

    /// The size in bytes; 0 after a mistake.
    fn buffer_bytes(&mut self, place: &ValuePath, buffer: &Buffer, shape: &[u64]) -> u64 {
        let size = u64::from(buffer.elem.bytes());
        let bytes = shape.iter().try_fold(size, |product, extent| product.checked_mul(*extent));
        match bytes.filter(|bytes| *bytes <= TOTAL_BYTES_MAX) {
            Some(bytes) => bytes,
            None => {
                let field = if buffer.shape.is_some() { "shape" } else { "len" };
                let message =
                    format!("buffer '{}' would have more than {} GiB, the memory of the device", buffer.name, TOTAL_BYTES_MAX >> 30);
                self.error(&place.field(field), message);
                0
            }
        }
    }

    /// The contents `like.init` for a variable of `room` bytes, as elements of `like.elem`, and their size: a list and a file may have
    /// fewer bytes than the variable. `None` after a mistake.
    pub(super) fn variable_contents(&mut self, place: &ValuePath, like: &Buffer, room: u64) -> Option<(Contents, u64)> {
        let size = u64::from(like.elem.bytes());
        let source = self.source(place, &like.init);
        let is_sliced = matches!(like.init, Init::Slice { .. });
        let elements = match (&like.init, &source) {
            (Init::File(_) | Init::Slice { .. } | Init::Values(_), None) => return None,
            (_, Some(source)) => source.shape(like.elem).iter().fold(1, |product: u64, extent| product.saturating_mul(*extent)),
            (_, None) => room / size,
        };
        let bytes = elements.saturating_mul(size);
        let bytes = if is_sliced { bytes.min(room / size * size) } else { bytes };
        if bytes > room || !room.is_multiple_of(size) {
            let (elements, there) = (counted(elements, "element"), count(room));
            let message = format!("{elements} of {} for variable '{}', which has {there}", like.elem.name(), like.name);
            self.error(place, message);
            return None;
        }
        Some((self.contents(place, like, source, (0, bytes)), bytes))
    }

    /// Checks that all buffers of a case fit the device, and that those that are stored fit the host.
    pub(super) fn check_total(&mut self, scope: &Scope) {
        let (mut total, mut stored) = (0_u64, 0_u64);
        for (buffer, place) in scope.buffers.iter().zip(&scope.places) {
            total += buffer.bytes;
            stored += match &buffer.contents {
                Contents::Generated(..) => buffer.bytes,
                Contents::Pages(pages) => pages.offsets.len() as u64 * PAGE_BYTES,
                Contents::Uninit | Contents::Byte(_) | Contents::Bytes(_) | Contents::File(_) => 0,
            };
            if total > TOTAL_BYTES_MAX {
                let message = format!("the buffers up to this one have more than {} GiB, the memory of the device", TOTAL_BYTES_MAX >> 30);
                return self.error(place, message);
            }
            if stored > STORED_BYTES_MAX {
                let limit = STORED_BYTES_MAX >> 30;
                let message = format!("the buffers up to this one are filled with more than {limit} GiB of different elements");
                return self.error_with_help(
                    place,
                    message,
                    "Zero, Byte and Uninit buffers take memory only where the kernel touches them",
                );
            }
        }
    }

    fn contents(&mut self, place: &ValuePath, buffer: &Buffer, source: Option<Source>, (lead, bytes): (u64, u64)) -> Contents {
        let element = buffer.elem;
        match buffer.init {
            Init::Zero => Contents::Byte(0),
            Init::Uninit => Contents::Uninit,
            Init::Byte(byte) => Contents::Byte(byte),
            Init::Fill(number) => match self.encode(&place.item(0), element, number) {
                Some(bits) => fill(element, bits),
                None => Contents::Uninit,
            },
            Init::Iota { start, step } => self.iota(place, element, start, step),
            Init::Random { seed, low, high } => self.random(place, element, seed, low, high),
            Init::Pages(ref name) => self.pages(place, name, (lead, bytes)),
            Init::With(..) => {
                self.error(place, "what stands at some bytes is said once: With(Zero, at: {8: .., 16: ..})");
                Contents::Uninit
            }
            Init::Values(_) | Init::File(_) | Init::Slice { .. } => match source {
                // A mistake in the size is one mistake.
                Some(_) if buffer.len.is_some() && buffer.shape.is_some() => Contents::Uninit,
                Some(source) => self.sized(place, buffer, source, bytes),
                None => Contents::Uninit,
            },
        }
    }

    fn pages(&mut self, place: &ValuePath, name: &str, range: (u64, u64)) -> Contents {
        let found = self.files.get(&self.file.folder.join(name)).and_then(|file| {
            let path = file.path.display().to_string();
            Pages::read(file, range).map_err(|reason| format!("'{path}' {reason}"))
        });
        match found {
            Ok(pages) => Contents::Pages(pages),
            Err(message) => {
                self.error(&place.item(0), message);
                Contents::Uninit
            }
        }
    }

    fn encode(&mut self, place: &ValuePath, element: Element, number: Number) -> Option<u64> {
        match element.encode(number) {
            Ok(bits) => Some(bits),
            Err(message) => {
                self.error(place, message);
                None
            }
        }
    }

    fn iota(&mut self, place: &ValuePath, element: Element, start: Number, step: Number) -> Contents {
        let integers = matches!((start, step), (Number::Integer(_), Number::Integer(_)));
        if element.kind() != Kind::Float && !integers {
            self.error(place, format!("{element:?} holds integers only, so 'start' and 'step' must be integers"));
        }
        Contents::Generated(element, Generator::Iota(start, step))
    }

    fn random(&mut self, place: &ValuePath, element: Element, seed: u64, low: Number, high: Number) -> Contents {
        let bounds = [("low", low), ("high", high)];
        let fits = bounds.map(|(field, bound)| self.encode(&place.field(field), element, bound).is_some());
        if bounds.iter().any(|(_, bound)| !bound.to_f64().is_finite()) {
            self.error(place, "'low' and 'high' must be finite");
        } else if fits == [true; 2] {
            let distance = match (low, high) {
                (Number::Integer(low), Number::Integer(high)) => high - low,
                _ => {
                    if high.to_f64() >= low.to_f64() {
                        0
                    } else {
                        -1
                    }
                }
            };
            if distance < 0 {
                self.error(place, format!("'low' ({low}) is above 'high' ({high})"));
            } else if distance > i128::from(u64::MAX) {
                self.error(place, format!("there are more than 2^64 numbers from {low} to {high}"));
            }
        }
        Contents::Generated(element, Generator::Random { seed, low, high })
    }

    /// The expected contents of a buffer; the paths are those of the contents and of the tolerance.
    pub(super) fn expect(
        &mut self,
        (place, tolerance_place): (&ValuePath, &ValuePath),
        buffer: &Buffer,
        expect: &Init,
        (shape, lead, bytes): (&[u64], u64, u64),
    ) -> Option<Expect> {
        let (tolerance, compare) = (buffer.tolerance.unwrap_or_default(), buffer.compare);
        self.check_tolerance(tolerance_place, buffer.elem, tolerance);
        if let Init::Pages(name) = expect {
            return Some(Expect { contents: self.pages(place, name, (lead, bytes)), tolerance, compare });
        }
        if !matches!(expect, Init::Values(_) | Init::File(_) | Init::Slice { .. }) {
            self.error(place, "'expect' is Values, File, Slice or Pages");
            return None;
        }
        let source = self.source(place, expect)?;
        let found = source.shape(buffer.elem);
        if !agree(&found, shape) {
            let message = format!("buffer '{}' has shape {shape:?}, and what is expected of it {found:?}", buffer.name);
            self.error(place, message);
            return None;
        }
        Some(Expect { contents: self.sized(place, buffer, source, bytes), tolerance, compare })
    }

    /// Checks that `tolerance` and `compare` come with `expect`.
    fn check_comparison(&mut self, place: &ValuePath, buffer: &Buffer, bytes: u64) {
        if let (None, Some(_)) = (&buffer.expect, buffer.tolerance) {
            self.error(&place.field("tolerance"), "a tolerance without 'expect' means nothing");
        }
        if buffer.compare == Compare::Index {
            return;
        }
        let elements = bytes / u64::from(buffer.elem.bytes());
        if buffer.expect.is_none() {
            self.error(&place.field("compare"), "'compare' without 'expect' means nothing");
        } else if elements > MULTISET_MAX {
            let message = format!("buffer '{}' has {elements} elements, and a multiset at most {MULTISET_MAX}", buffer.name);
            self.error(&place.field("compare"), message);
        }
    }

    fn check_tolerance(&mut self, place: &ValuePath, element: Element, tolerance: Tolerance) {
        let bounds = match tolerance {
            Tolerance::Bits => return,
            Tolerance::Ulp(_) => [0.0, 0.0],
            Tolerance::Abs(bound) | Tolerance::Rel(bound) => [bound, bound],
            Tolerance::AbsOrRel(absolute, relative) | Tolerance::AbsPlusRel(absolute, relative) => [absolute, relative],
        };
        if element.kind() == Kind::Bits {
            self.error(place, format!("elements of {element:?} are compared bit for bit; a tolerance needs a buffer of numbers"));
        }
        if bounds.iter().any(|bound| !bound.is_finite() || bound.is_sign_negative()) {
            self.error(place, "a tolerance is a finite number that is not negative");
        }
    }

    /// The data that an `init` or `expect` names; `None` if it names none or it cannot be used.
    fn source<'b>(&mut self, place: &ValuePath, init: &'b Init) -> Option<Source<'b>> {
        let (name, offset) = match init {
            Init::Values(values) => return Some(Source::Values(values)),
            Init::File(name) => (name, None),
            Init::Slice { file, offset } => (file, Some(*offset)),
            _ => return None,
        };
        let place = if offset.is_some() { place.field("file") } else { place.item(0) };
        let path = self.file.folder.join(name);
        match self.files.get(&path) {
            Ok(file) => Some(Source::File { file, offset }),
            Err(message) => {
                self.error(&place, message);
                None
            }
        }
    }

    /// `source` as the `bytes` bytes of `buffer`, if it has that many of the right type.
    fn sized(&mut self, place: &ValuePath, buffer: &Buffer, source: Source, bytes: u64) -> Contents {
        let element = buffer.elem;
        let message = match source {
            Source::Values(values) => {
                let wanted = bytes / u64::from(element.bytes());
                if values.len() as u64 == wanted {
                    return self.values(place, element, values);
                }
                format!("buffer '{}' has {wanted} elements, and {} are given", buffer.name, values.len())
            }
            Source::File { file, offset } => match misfit(&file, offset, element, bytes) {
                None => {
                    let header = file.npy.as_ref().filter(|_| offset.is_none());
                    let is_rounded = header.is_some_and(|header| header.is_rounded_to(element));
                    let form = if is_rounded { Form::Bf16 } else { Form::Same };
                    let offset = offset.or(header.map(|header| header.data_offset)).unwrap_or(0);
                    return Contents::File(DataRange { file, offset, form });
                }
                Some((reason, help)) => {
                    let message = format!("'{}' {reason} (buffer '{}')", file.path.display(), buffer.name);
                    match help {
                        Some(help) => self.error_with_help(place, message, help),
                        None => self.error(place, message),
                    }
                    return Contents::Uninit;
                }
            },
        };
        self.error(place, message);
        Contents::Uninit
    }

    fn values(&mut self, place: &ValuePath, element: Element, values: &[Number]) -> Contents {
        let mut bytes = Vec::with_capacity(values.len() * element.bytes() as usize);
        for (index, number) in values.iter().enumerate() {
            match element.encode(*number) {
                Ok(bits) => element.write(bits, &mut bytes),
                Err(message) => {
                    self.error(&place.item(0).item(index), message);
                    return Contents::Uninit;
                }
            }
        }
        Contents::Bytes(bytes)
    }

    /// The expected output of printf.
    pub(super) fn printed(&mut self, place: &ValuePath, printed: &Init) -> Option<Vec<u8>> {
        let Init::File(_) = printed else {
            self.error(place, "'printed' is a File");
            return None;
        };
        let Some(Source::File { file, .. }) = self.source(place, printed) else { return None };
        if file.bytes > PRINTED_BYTES_MAX {
            self.error(place, format!("'{}' has {}; at most {PRINTED_BYTES_MAX} are compared", file.path.display(), count(file.bytes)));
            return None;
        }
        let mut text = vec![0; file.bytes as usize];
        match (DataRange { file, offset: 0, form: Form::Same }).read(0, &mut text) {
            Ok(()) => Some(text),
            Err(error) => {
                self.error(place, error.to_string());
                None
            }
        }
    }
}

/// Explicit data: a list of values, or a file.
enum Source<'a> {
    Values(&'a [Number]),
    /// A whole file, or from `offset` on.
    File {
        file: Arc<DataFile>,
        offset: Option<u64>,
    },
}

impl Source<'_> {
    /// The extents of the data as elements of this type.
    fn shape(&self, element: Element) -> Vec<u64> {
        match self {
            Source::Values(values) => vec![values.len() as u64],
            Source::File { file, offset } => match (&file.npy, offset) {
                (Some(header), None) => header.shape.clone(),
                _ => vec![file.bytes.saturating_sub(offset.unwrap_or(0)) / u64::from(element.bytes())],
            },
        }
    }
}

/// True if two shapes are compatible: equal without extents of 1, or one of them is a flat list. Their size is compared elsewhere.
fn agree(one: &[u64], other: &[u64]) -> bool {
    let rows = |shape: &[u64]| shape.iter().copied().filter(|extent| *extent != 1).collect::<Vec<_>>();
    let elements = |shape: &[u64]| shape.iter().fold(1, |product: u64, extent| product.saturating_mul(*extent));
    let (one, other) = (rows(one), rows(other));
    one == other || one.len() < 2 || other.len() < 2 || elements(&one) != elements(&other)
}

/// The reason why `file` cannot be the `bytes` bytes of a buffer of `element`, as the end of a sentence that starts with its name, and
/// a fix.
fn misfit(file: &DataFile, offset: Option<u64>, element: Element, bytes: u64) -> Option<(String, Option<String>)> {
    if let (Some(header), None) = (&file.npy, offset)
        && !header.fills(element)
    {
        let reason = format!("holds elements of type {}, and the buffer is of {}", header.element_name(), element.name());
        return Some((reason, Some(saving(file, element))));
    }
    size_misfit(file, offset, element, bytes).map(|reason| (reason, None))
}

/// [`misfit`] for a file of the right type.
fn size_misfit(file: &DataFile, offset: Option<u64>, element: Element, bytes: u64) -> Option<String> {
    match (&file.npy, offset) {
        (Some(header), None) => {
            let elements = bytes / u64::from(element.bytes());
            if header.elements() != Some(elements) {
                return Some(format!("has shape {:?}, and {elements} elements are wanted", header.shape));
            }
            let stored = elements.saturating_mul(header.element_bytes);
            (header.data_offset.saturating_add(stored) > file.bytes).then(|| "ends before its last element".to_string())
        }
        (_, None) => (file.bytes != bytes).then(|| format!("has {}, and {bytes} are wanted", count(file.bytes))),
        (_, Some(offset)) => {
            let end = offset.checked_add(bytes);
            let fits = end.is_some_and(|end| end <= file.bytes);
            (!fits).then(|| format!("has {}, and {bytes} from byte {offset} on are wanted", count(file.bytes)))
        }
    }
}

/// Equal elements; if their bytes are equal too, memory that is not accessed is not allocated.
fn fill(element: Element, bits: u64) -> Contents {
    let bytes = &bits.to_le_bytes()[..element.bytes() as usize];
    if bytes.iter().all(|byte| *byte == bytes[0]) { Contents::Byte(bytes[0]) } else { Contents::Generated(element, Generator::Fill(bits)) }
}
