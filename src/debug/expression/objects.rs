//! Types of the source in expressions: casts, sizes, and several objects in a row.

use super::evaluate::{Evaluated, Evaluator, Extent, Referent, Row, failed, moved, one_by_one, refused};
use super::names::{self, SourceTypeName, TypeName};
use super::operators;
use super::tree::{Node, NodeKind};
use crate::debug::memory;
use crate::debug::names::symbols;
use crate::debug::source_names::{self, ObjectPlace, Parts, SourceObject, types};
use crate::debug::value::number;
use crate::debug::value::{Scalar, SourceValue, Type, Value};
use crate::dwarf::{DebugInfo, TypeId};
use crate::isa::{ScalarType, Space};

/// Most bytes of several objects that are read.
const BYTES_MAX: u64 = 1 << 16;
/// Bytes of a pointer.
const POINTER_BYTES: u64 = 8;

/// What a slice is taken from.
pub(super) enum Sliced<'a> {
    /// Numbers.
    Numbers(Extent<'a>),
    /// Objects of another type: the first.
    Objects(SourceObject<'a>),
}

/// An array of the source that an index leads out of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastEnd {
    /// The array, as it is typed.
    pub array: String,
    /// Its elements.
    pub elements: u64,
    /// True if the index is negative.
    pub is_before: bool,
}

impl<'a> Evaluator<'a> {
    /// `(V*)a`, `(Color)a`.
    pub fn source_cast(&mut self, node: &Node, named: &SourceTypeName, a: &Node) -> Evaluated<Referent<'a>> {
        if named.pointers == 0
            && let Some(ty) = names::type_of(&[&named.name])
        {
            if source_names::find(&self.context, self.own_frame(), &named.name).is_some() {
                let name = &named.name;
                let message = format!("'{name}' is a variable and a type: {name} without parentheses is the variable, ({name})(x) a cast");
                return Err(refused(node, message));
            }
            return self.cast(node, TypeName { ty, pointer: false, space: None }, a).map(Referent::Value);
        }
        let unknown = || refused(node, format!("the debug data has no type '{}'", named.name));
        let info = self.context.debug_info().ok_or_else(unknown)?;
        let ty = self.type_called(node, &named.name)?.ok_or_else(unknown)?;
        if named.pointers == 0 {
            return self.converted(node, info, ty, a);
        }
        let inner = SourceTypeName { pointers: named.pointers - 1, ..named.clone() };
        let to = (0..inner.pointers).try_fold(ty, |to, _| types::pointer_to(info, to));
        let to = to.ok_or_else(|| refused(node, format!("the debug data has no type '{inner}'")))?;
        let a = self.value(a)?;
        let space = if let Type::Pointer(space, _) | Type::SourcePointer(space, ..) = a.ty { space } else { Space::Generic };
        let bytes = u32::try_from(info.bytes(Some(to))).unwrap_or(0);
        let address = operators::convert(&a, ScalarType::U64).bits as u64;
        // As in C++, a pointer to an object becomes one to its base, and back; a null pointer stays one.
        let from = if let Type::SourcePointer(_, from, _) = a.ty { from } else { None };
        let into_base = types::base_offset(info, from, Some(to));
        let out_of_base = || types::base_offset(info, Some(to), from).map(u64::wrapping_neg);
        let moved = into_base.or_else(out_of_base).filter(|_| address != 0).unwrap_or(0);
        let address = u128::from(address.wrapping_add(moved));
        Ok(Referent::Value(Scalar::new(Type::SourcePointer(space, Some(to), bytes), address)))
    }

    /// The type that the user names, if the debug data has it.
    fn type_called(&self, node: &Node, name: &str) -> Evaluated<Option<TypeId>> {
        source_names::type_called(&self.context, name).map_err(|message| refused(node, message))
    }

    /// A number as one of type `ty`.
    fn converted(&mut self, node: &Node, info: &'a DebugInfo, ty: TypeId, a: &Node) -> Evaluated<Referent<'a>> {
        let Some(scalar) = types::scalar(info, Some(ty)) else {
            let same = self.referent(a)?;
            return match same {
                Referent::Source(object) if info.stripped(object.ty) == info.stripped(Some(ty)) => Ok(same),
                _ => Err(refused(node, format!("{} is no number: cast a pointer, as in *({0}*)p", types::name(info, Some(ty))))),
            };
        };
        let a = self.value(a)?;
        let number = operators::cast(&a, scalar).map_err(|message| refused(node, message))?;
        let bytes = info.bytes(Some(ty)) as usize;
        let place = ObjectPlace::Value(Parts::of(&number.bits.to_le_bytes()[..bytes.min(16)], bytes));
        Ok(Referent::Source(SourceObject { info, ty: Some(ty), place, bits: None }))
    }

    /// `sizeof(what)`, of a type or of an expression.
    pub fn size_of(&mut self, node: &Node, what: &str, a: Option<&Node>) -> Evaluated<Scalar> {
        let size = |bytes: u64| Ok(Scalar::new(Type::Scalar(ScalarType::U64), u128::from(bytes)));
        let named = SourceTypeName::of(what);
        let is_variable = a.is_some_and(|a| self.referent(a).is_ok());
        if !is_variable {
            let words: Vec<&str> = named.name.split_whitespace().collect();
            let of_source = self.type_called(node, &named.name)?;
            let of_source = of_source.and_then(|ty| self.context.debug_info().map(|info| info.bytes(Some(ty))));
            let bytes = of_source.or_else(|| names::type_of(&words).map(|ty| u64::from(ty.bytes())));
            if let Some(bytes) = bytes {
                return size(if named.pointers > 0 { POINTER_BYTES } else { bytes });
            }
        }
        // `int[3]`
        if let Some((of, extent)) = what.strip_suffix(']').and_then(|what| what.rsplit_once('[')).filter(|_| !is_variable)
            && let Ok(extent) = extent.trim().parse::<u64>()
        {
            let of = self.size_of(node, of.trim_end(), None)?;
            return size((of.bits as u64).saturating_mul(extent));
        }
        let a = a.ok_or_else(|| refused(node, format!("'{what}' is no type and no expression")))?;
        let mut in_source = Evaluator::new(&self.context.with_names_as_in_source());
        in_source.at_lane = self.at_lane;
        match in_source.referent(a)? {
            Referent::Source(object) => size(object.bytes()),
            Referent::Slice(row) => size(row.first.bytes().saturating_mul(row.count)),
            Referent::Memory(extent) => size(extent.bytes()),
            Referent::Register(register) => size(u64::from(register.ty.bytes())),
            Referent::Vector3(parts) => size(4 * parts.len() as u64),
            Referent::Kept(elements) => {
                let array = elements.array();
                size(array.shape.iter().product::<u64>() * u64::from(array.ty.bytes()))
            }
            Referent::Value(value) => size(u64::from(value.ty.bits().div_ceil(8))),
        }
    }

    /// The pointer that `*a` follows. A variable that is no pointer is none, as in C; a register and a number are addresses.
    pub fn pointer(&mut self, node: &Node, a: &Node) -> Evaluated<Scalar> {
        if let Referent::Source(object) = self.referent(a)?
            && !types::is_pointer(object.info, object.ty)
            && types::array(object.info, object.ty).is_none()
        {
            let (text, ty) = (super::print::text(a), types::name(object.info, object.ty));
            return Err(refused(node, format!("'{text}' is of type {ty}, no pointer: there is nothing that it points to")));
        }
        self.value(a)
    }

    /// The objects that `x@3` is, as in gdb: three, from a variable of the source in memory on. Of one in a register it is the
    /// value in that lane.
    pub fn counted(&mut self, node: &Node) -> Option<Row<'a>> {
        let NodeKind::Lanes(inner, lanes) = &node.kind else { return None };
        let count = lanes.mask.first() as u64;
        if !lanes.is_number || count == 0 || inner.depends_on_lane() {
            return None;
        }
        match self.referent(inner) {
            // The parameters of a kernel are no row.
            Ok(Referent::Source(first @ SourceObject { place: ObjectPlace::Memory(space, _), bits: None, .. }))
                if space != Space::Param =>
            {
                Some(Row { first, count, stride: first.bytes() })
            }
            Ok(_) | Err(_) => None,
        }
    }

    /// The elements from which a slice is taken: of an array, or of what a pointer points to.
    pub fn source_array(&self, node: &Node, object: &SourceObject<'a>) -> Evaluated<Sliced<'a>> {
        if let (Some((of, extent)), ObjectPlace::Memory(..)) = (types::array(object.info, object.ty), object.place) {
            let first = self.elements_from(&SourceObject { ty: of, bits: None, ..*object });
            return Ok(match first {
                Sliced::Numbers(first) => Sliced::Numbers(Extent { elements: extent, ..first }),
                Sliced::Objects(first) => Sliced::Objects(first),
            });
        }
        let pointer = self.source_number(node, object)?;
        match self.target_of(node, &pointer)? {
            Referent::Source(first) => Ok(self.elements_from(&first)),
            _ => self.dereference(node, &pointer).map(Sliced::Numbers),
        }
    }

    /// The objects of which `first` is the first. Numbers in local memory are objects too: some may not have been written.
    pub fn elements_from(&self, first: &SourceObject<'a>) -> Sliced<'a> {
        let is_local = |space, address| memory::locate(&self.context, space, address, 1).is_ok_and(|found| found.space == Space::Local);
        let is_number = |ty: &ScalarType| number::elements(*ty).1 == 1 && !types::is_pointer(first.info, first.ty);
        match (types::scalar(first.info, first.ty).filter(is_number), first.place) {
            (Some(ty), ObjectPlace::Memory(space, address)) if !is_local(space, address) => {
                Sliced::Numbers(Extent { space, address, ty, elements: None, shape: &[] })
            }
            _ => Sliced::Objects(*first),
        }
    }

    /// `a[low..high]` of objects, from the first on.
    pub fn slice_of_objects(&mut self, node: &Node, operands: &[Node; 3], first: &SourceObject<'a>) -> Evaluated<Referent<'a>> {
        let (low, count) = self.ends(operands)?;
        match self.neighbour(node, first, low)? {
            Referent::Source(first) => Ok(Referent::Slice(Row { first, count, stride: first.bytes() })),
            other => Ok(other),
        }
    }

    /// The elements of an array whose size only the launch says, as `extern __shared__ int x[]` is.
    pub fn elements_of_launch(&self, object: &SourceObject<'a>) -> Option<Row<'a>> {
        let (of, None | Some(0)) = types::array(object.info, object.ty)? else { return None };
        let ObjectPlace::Memory(space, address) = object.place else { return None };
        let (space, address) = symbols::resolve(self.context.program(), space, address);
        let stride = object.info.bytes(of);
        let bytes = self.context.machine.shared_bytes().checked_sub(address).filter(|_| space == Space::Shared)?;
        let count = bytes.min(BYTES_MAX).checked_div(stride)?;
        Some(Row { first: SourceObject { ty: of, bits: None, ..*object }, count, stride })
    }

    /// `rows[0..2][steps]`: that element of each row; of objects that are no rows the one that is `steps` after the first.
    pub fn element_of_each(&self, node: &Node, base: &Node, row: &Row<'a>, steps: i128) -> Evaluated<Referent<'a>> {
        if types::array(row.first.info, row.first.ty).is_none() {
            return self.neighbour(node, &row.first, steps);
        }
        match self.source_element(node, base, &row.first, steps)? {
            Referent::Source(first) => Ok(Referent::Slice(Row { first, ..*row })),
            other => Ok(other),
        }
    }

    /// `objects[0..2].name`: that member of each.
    pub fn member_of_each(&self, node: &Node, row: &Row<'a>, name: &str) -> Evaluated<Referent<'a>> {
        match self.member_of(node, &row.first, name)? {
            Referent::Source(first) => Ok(Referent::Slice(Row { first, ..*row })),
            other => Ok(other),
        }
    }

    /// The address that the indices of `node` start from, and the one that they lead to.
    pub fn indexed(&mut self, node: &Node) -> Option<((Space, u64), (Space, u64))> {
        let mut base = node;
        while let NodeKind::Index(_) | NodeKind::Slice(_) | NodeKind::Subscripts(_) = &base.kind {
            base = base.children().first()?;
        }
        if std::ptr::eq(base, node) || self.names_tensor(node) {
            return None;
        }
        let start = match self.referent(base).ok()? {
            Referent::Memory(extent) if extent.elements.is_some() => (extent.space, extent.address),
            Referent::Source(SourceObject { info, ty, place: ObjectPlace::Memory(space, address), .. })
                if types::array(info, ty).is_some() =>
            {
                (space, address)
            }
            _ => match self.value(base).ok()? {
                Scalar { ty: Type::Pointer(space, _) | Type::SourcePointer(space, ..), bits } => (space, bits as u64),
                Scalar { ty: Type::Scalar(ty), bits } if number::to_integer(ty, 0).is_some() => (Space::Generic, bits as u64),
                _ => return None,
            },
        };
        match self.referent(node).ok()? {
            Referent::Memory(extent) => Some((start, (extent.space, extent.address))),
            Referent::Source(SourceObject { place: ObjectPlace::Memory(space, address), .. })
            | Referent::Slice(Row { first: SourceObject { place: ObjectPlace::Memory(space, address), .. }, .. }) => {
                Some((start, (space, address)))
            }
            _ => None,
        }
    }

    /// The array of the source that an index of `node` leads out of.
    pub fn past_end(&mut self, node: &Node) -> Option<PastEnd> {
        let (base, first, last) = match &node.kind {
            NodeKind::Index(operands) => (&operands[0], &operands[1], &operands[1]),
            NodeKind::Slice(operands) => (&operands[0], &operands[1], &operands[2]),
            NodeKind::Subscripts(parts) => return self.past_end(&one_by_one(node, parts)),
            NodeKind::Member(of, _) => return self.past_end(of),
            _ => return None,
        };
        if let Ok(Referent::Source(object)) = self.referent(base)
            && let Some((_, Some(elements @ 1..))) = types::array(object.info, object.ty)
        {
            let (first, last) = (self.index_value(first).ok()?, self.index_value(last).ok()?);
            if first < 0 || last >= i128::from(elements) {
                return Some(PastEnd { array: super::print::text(base), elements, is_before: first < 0 });
            }
        }
        self.past_end(base)
    }

    /// The object `steps` after another.
    pub fn neighbour(&self, node: &Node, object: &SourceObject<'a>, steps: i128) -> Evaluated<Referent<'a>> {
        let ObjectPlace::Memory(space, address) = object.place else {
            return Err(refused(node, "only objects in memory stand in a row".to_string()));
        };
        let place = ObjectPlace::Memory(space, moved(address, steps, object.bytes()));
        Ok(Referent::Source(SourceObject { place, ..*object }))
    }

    /// The values of several objects.
    pub fn objects(&self, node: &Node, row: &Row<'a>) -> Evaluated<Value> {
        let Row { first, count, stride } = *row;
        let ObjectPlace::Memory(space, address) = first.place else {
            return Err(refused(node, "only objects in memory stand in a row".to_string()));
        };
        let bytes = first.bytes().saturating_mul(count);
        if bytes > BYTES_MAX {
            return Err(refused(node, format!("these are {bytes} bytes: at most {BYTES_MAX} are shown")));
        }
        let mut contents = vec![0; bytes as usize];
        let are_side_by_side = stride == first.bytes() && first.bits.is_none();
        if are_side_by_side {
            memory::read(&self.context, space, address, &mut contents).map_err(|error| failed(node, error.into()))?;
        } else {
            contents.clear();
            for index in 0..count {
                let place = ObjectPlace::Memory(space, moved(address, i128::from(index), stride));
                let object = SourceObject { place, ..first };
                contents.extend(object.contents(&self.context, self.own_frame()).map_err(|error| failed(node, error))?);
            }
        }
        Ok(Value::Source(SourceValue {
            ty: first.ty,
            bytes: contents,
            place: Some((space, address)).filter(|_| first.bits.is_none()),
            count: Some(count),
            stride: Some(stride).filter(|_| !are_side_by_side),
            unwritten: Vec::new(),
        }))
    }
}
