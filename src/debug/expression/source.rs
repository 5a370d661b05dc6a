//! Objects of the source in expressions: variables, members, elements and what pointers point to.

use super::evaluate::{Evaluated, EvaluationError, Evaluator, FollowedReference, Reason, Referent, failed, moved, refused};
use super::names;
use super::tree::{Node, NodeKind};
use crate::debug::eval_context::Frame;
use crate::debug::file_line::source_line;
use crate::debug::focus::Focus;
use crate::debug::memory;
use crate::debug::names::parameters::{self, Meaning};
use crate::debug::names::scope::{self, RegisterLocation};
use crate::debug::source_names::values::number_of;
use crate::debug::source_names::{self, ObjectError, ObjectPlace, SourceObject, types};
use crate::debug::value::number;
use crate::debug::value::text::function_type;
use crate::debug::value::{Scalar, Type, Value};
use crate::dwarf::{PointerKind, Type as SourceType, TypeId};
use crate::isa::{ScalarType, Space, nearest};

/// An object of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribedObject {
    /// Its type.
    pub ty: String,
    /// Where it is: `%r7` or `local 0x10`; empty if it is nowhere.
    pub place: String,
    /// Its memory, if it is in some.
    pub memory: Option<(Space, u64)>,
    /// Its size in bytes.
    pub bytes: usize,
}

impl<'a> Evaluator<'a> {
    pub fn own_frame(&self) -> Option<&Frame<'a>> {
        self.frame.as_ref().ok()
    }

    /// The object or the value that the source calls `name`; none if the debug data has no such name.
    pub fn source_name(&self, node: &Node, name: &str) -> Evaluated<Option<Referent<'a>>> {
        // Registers are no names of the source: debug data need not be read for them.
        if name.starts_with(['%', '$']) {
            return Ok(None);
        }
        // As in C++, a name in a member function may be a member.
        if let Some(this) = source_names::member_of_this(&self.context, self.own_frame(), name.split('.').next().unwrap_or(name)) {
            let this = this.object(&self.context, self.own_frame()).map_err(|error| failed(node, error))?;
            let outer = |outer: Referent<'a>, part: &str| match outer {
                Referent::Source(object) => self.member_of(node, &object, part),
                other => Ok(other),
            };
            return name.split('.').try_fold(Referent::Source(this), outer).map(Some);
        }
        if let Some(object) = self.variable(node, name)? {
            return Ok(Some(Referent::Source(object)));
        }
        // The component of a vector is a part of the name's token.
        if let Some((outer, component)) = name.rsplit_once('.')
            && let Some(object) = self.variable(node, outer)?
        {
            return self.member_of(node, &object, component).map(Some);
        }
        Ok(source_names::enumerator(&self.context, self.own_frame(), name).map(Referent::Source))
    }

    /// That nothing is called `name`, with what was probably meant.
    pub fn unknown(&self, name: &str) -> Reason {
        // Variables are those of a thread that is in the kernel.
        let no_thread = || self.frame.as_ref().err().map(ToString::to_string);
        let similar = || scope::hint(&self.context, name).or_else(|| self.enumerators_elsewhere(name));
        let hint = || self.frame_with(name).or_else(similar).or_else(no_thread);
        Reason::Unknown { name: name.to_string(), hint: self.has_hints.then(hint).flatten() }
    }

    /// The enumerators of other classes and namespaces that have the name, in words.
    fn enumerators_elsewhere(&self, name: &str) -> Option<String> {
        let whole = source_names::whole_names_of_enumerators(&self.context, name);
        (!whole.is_empty()).then(|| format!("there are enumerators {}", whole.join(", ")))
    }

    /// Refuses the name of a parameter of the kernel where it may mean a variable that nothing is known of.
    pub fn refuse_parameter(&self, node: &Node, name: &str) -> Evaluated<()> {
        let Some(frame) = self.own_frame().filter(|_| !self.context.names_as_in_ptx) else { return Ok(()) };
        // A variable that means its buffer.
        if source_names::find(&self.context, Some(frame), name).is_some_and(|variable| variable.scope.is_some()) {
            return Ok(());
        }
        match parameters::meaning(&self.context, frame, name) {
            None | Some(Meaning::Parameter) => Ok(()),
            Some(Meaning::Changed(index)) => {
                let why = format!("the kernel changes '{name}', whose value only debug data of variables says (nvcc -G)");
                Err(refused(node, format!("{why}: param_{index} is the one at entry")))
            }
            Some(Meaning::Elsewhere) if self.context.buffers.iter().any(|buffer| buffer.name == name) => Ok(()),
            Some(Meaning::Elsewhere | Meaning::OfFunction) => {
                Err(EvaluationError { column: node.at, reason: Reason::Unknown { name: name.to_string(), hint: self.outermost_frame() } })
            }
        }
    }

    /// The frame of the kernel, whose parameter a name is, in words.
    fn outermost_frame(&self) -> Option<String> {
        let number = self.context.frames().ok()?.len().checked_sub(1)?;
        Some(format!("it is a parameter of frame {number}, which 'frame {number}' selects"))
    }

    /// The frame further out in which a variable has the name, in words.
    fn frame_with(&self, name: &str) -> Option<String> {
        let frames = self.context.frames().ok()?;
        let is_of_frame = |frame: &Frame<'a>| {
            let context = self.context.refocused(Focus { frame: self.context.number_of(frame).unwrap_or(0), ..self.context.focus });
            source_names::find(&context, Some(frame), name).is_some_and(|variable| variable.scope.is_some())
        };
        let outer = frames.iter().enumerate().skip(self.context.focus.frame as usize + 1);
        let number = outer.into_iter().find(|(_, frame)| is_of_frame(frame))?.0;
        Some(format!("it is a variable of frame {number}, which 'frame {number}' selects"))
    }

    /// The variable called `name`; a reference is what it refers to.
    fn variable(&self, node: &Node, name: &str) -> Evaluated<Option<SourceObject<'a>>> {
        let frame = self.own_frame();
        let Some(variable) = source_names::find(&self.context, frame, name) else { return Ok(None) };
        if !self.context.names_as_in_source && source_names::is_pointer_to_own_buffer(&self.context, frame, &variable) {
            return Ok(None);
        }
        if let Some(last) = self.context.last_values.and_then(|values| values.get(name)) {
            let object = SourceObject { info: variable.info, ty: variable.variable.ty, place: ObjectPlace::Kept(last), bits: None };
            return self.referred(node, object).map(Some);
        }
        let object = variable.object(&self.context, frame).map_err(|error| failed(node, error))?;
        if !self.is_assigned
            && let ObjectPlace::Register(register) = &object.place
            && self.own_frame().is_some_and(|frame| !scope::is_written(frame, register))
        {
            let by = self.own_frame().filter(|_| self.has_hints).and_then(|frame| {
                let (program, function) = (self.context.program(), self.context.function(frame));
                source_line(program, source_names::first_write(program, function, register)?)
            });
            let (name, register) = (name.to_string(), self.register_name(register));
            return Err(failed(node, ObjectError::NotAssigned { name, register, by }));
        }
        self.referred(node, object).map(Some)
    }

    /// What a reference refers to; any other object itself.
    fn referred(&self, node: &Node, object: SourceObject<'a>) -> Evaluated<SourceObject<'a>> {
        let Some(SourceType::Pointer { kind: PointerKind::Reference | PointerKind::RvalueReference, to, space, .. }) = object.stripped()
        else {
            return Ok(object);
        };
        let memory = if let ObjectPlace::Memory(space, address) = object.place { Some((space, address)) } else { None };
        let name = super::print::text(node);
        self.followed.borrow_mut().push(FollowedReference { name, memory, bytes: object.bytes() as usize });
        let address = self.number_in(node, &object, ScalarType::U64)?.bits as u64;
        Ok(SourceObject { ty: *to, place: ObjectPlace::Memory(space.unwrap_or(Space::Generic), address), bits: None, ..object })
    }

    fn register_name(&self, register: &RegisterLocation) -> String {
        let named = self.frame.as_ref().ok().and_then(|frame| {
            let function = self.context.function(frame);
            scope::register_of_slot(function, frame.pc, register.bank, register.slot?)
        });
        named.unwrap_or_else(|| "the register".to_string())
    }

    /// `a.name`.
    pub fn member(&mut self, node: &Node, a: &Node, name: &str) -> Evaluated<Referent<'a>> {
        match self.referent(a)? {
            Referent::Source(object) => self.member_of(node, &object, name),
            Referent::Slice(row) => self.member_of_each(node, &row, name),
            Referent::Vector3(parts) => {
                let part = ["x", "y", "z"].iter().position(|part| *part == name);
                let part = part.ok_or_else(|| refused(node, "the parts of this vector are .x, .y and .z".to_string()))?;
                Ok(Referent::Value(Scalar::new(Type::Scalar(ScalarType::U32), u128::from(parts[part]))))
            }
            Referent::Value(_) | Referent::Register(_) | Referent::Memory(_) | Referent::Kept(_) => {
                Err(refused(node, format!("'{}' has no members: only objects of the source have", super::print::text(a))))
            }
        }
    }

    pub fn member_of(&self, node: &Node, object: &SourceObject<'a>, name: &str) -> Evaluated<Referent<'a>> {
        // As in gdb, `pointer.member` is `pointer->member`.
        if let Some(SourceType::Pointer { .. }) = object.stripped() {
            let pointer = self.source_number(node, object)?;
            return match self.target_of(node, &pointer)? {
                Referent::Source(target) if !matches!(target.stripped(), Some(SourceType::Pointer { .. })) => {
                    self.member_of(node, &target, name)
                }
                _ => Err(refused(node, "this pointer does not point to an object with members".to_string())),
            };
        }
        let info = object.info;
        let Some((member, offset)) = types::member(info, object.ty, name) else {
            let names = types::member_names(info, object.ty);
            let meant = nearest(name, names.iter().copied()).map_or(String::new(), |meant| format!(": did you mean '{meant}'?"));
            return Err(refused(node, format!("{} has no member '{name}'{meant}", types::name(info, object.ty))));
        };
        let part = object.part(member.ty, offset, member.bits, &self.context, self.own_frame()).map_err(|error| failed(node, error))?;
        self.referred(node, part).map(Referent::Source)
    }

    /// What an object of the source is; none of what is none.
    pub fn described_object(&mut self, node: &Node) -> Option<DescribedObject> {
        let Ok(Referent::Source(object)) = self.referent(node) else { return None };
        let place = match object.place {
            ObjectPlace::Register(register) => self.register_name(&register),
            ObjectPlace::Memory(space, address) => {
                let found = memory::locate(&self.context, space, address, object.bytes().max(1)).ok();
                let (space, address) = found.map_or((space, address), |found| (found.space, found.address));
                format!("{} {address:#x}", space.word())
            }
            ObjectPlace::Value(_) | ObjectPlace::Kept(_) => String::new(),
        };
        let memory = if let ObjectPlace::Memory(space, address) = object.place { Some((space, address)) } else { None };
        Some(DescribedObject { ty: types::name(object.info, object.ty), place, memory, bytes: object.bytes() as usize })
    }

    /// The number of bits of the bit field that a node names; none if it names something else.
    pub fn bit_field(&mut self, node: &Node) -> Option<u32> {
        let Ok(Referent::Source(SourceObject { bits: Some((_, count)), .. })) = self.referent(node) else { return None };
        Some(count)
    }

    /// What a pointer points to.
    pub fn target_of(&self, node: &Node, pointer: &Scalar) -> Evaluated<Referent<'a>> {
        let (Type::SourcePointer(space, ty, bytes), Some(info)) = (pointer.ty, self.context.debug_info()) else {
            return self.dereference(node, pointer).map(Referent::Memory);
        };
        if info.stripped(ty).is_some_and(|ty| matches!(info.types[ty], SourceType::Function { .. })) {
            return Ok(Referent::Value(Scalar::new(Type::Function, pointer.bits)));
        }
        if bytes == 0 {
            return Err(refused(node, "the debug data does not say what this points to: cast it, as in *(float*)p".to_string()));
        }
        Ok(Referent::Source(SourceObject { info, ty, place: ObjectPlace::Memory(space, pointer.bits as u64), bits: None }))
    }

    /// Element `steps` of an array, or of what a pointer points to.
    pub fn source_element(&self, node: &Node, base: &Node, object: &SourceObject<'a>, steps: i128) -> Evaluated<Referent<'a>> {
        let info = object.info;
        let Some((of, _)) = types::array(info, object.ty) else {
            let pointer = self.source_number(base, object)?;
            let Type::SourcePointer(_, _, bytes) = pointer.ty else {
                return Err(refused(base, format!("{} is no array and no pointer", types::name(info, object.ty))));
            };
            let element = Scalar::new(pointer.ty, u128::from(moved(pointer.bits as u64, steps, u64::from(bytes))));
            return self.target_of(node, &element);
        };
        let bytes = info.bytes(of);
        let part = match object.place {
            ObjectPlace::Memory(space, address) => {
                Ok(SourceObject { ty: of, place: ObjectPlace::Memory(space, moved(address, steps, bytes)), bits: None, ..*object })
            }
            ObjectPlace::Register(_) | ObjectPlace::Value(_) | ObjectPlace::Kept(_) => {
                let offset = u64::try_from(steps).ok().and_then(|steps| steps.checked_mul(bytes)).unwrap_or(u64::MAX);
                object.part(of, offset, None, &self.context, self.own_frame())
            }
        };
        part.map(Referent::Source).map_err(|error| failed(node, error))
    }

    pub fn source_address(&self, node: &Node, object: &SourceObject<'a>) -> Evaluated<Scalar> {
        match object.place {
            ObjectPlace::Memory(space, address) if object.bits.is_none() => {
                let (space, address) = self.generic(space, address);
                Ok(pointer(object, object.ty, space, address))
            }
            ObjectPlace::Memory(..) => Err(refused(node, "a bit field has no address".to_string())),
            ObjectPlace::Register(_) => Err(refused(node, "it is in a register, which has no address".to_string())),
            ObjectPlace::Value(_) | ObjectPlace::Kept(_) => Err(refused(node, "it has no place, so it has no address".to_string())),
        }
    }

    /// An address as the pointers of the source have it: a generic one.
    fn generic(&self, space: Space, address: u64) -> (Space, u64) {
        let map = &self.context.program().map;
        let window = match space {
            Space::Global | Space::Generic => 0,
            Space::Local | Space::ParamFunc => map.local_window,
            Space::Const => map.const_window,
            Space::Param => map.param_window,
            // In a cluster it depends on the block.
            Space::Shared if self.context.machine.config().blocks_of_cluster() == 1 => map.shared_window,
            Space::Shared | Space::SharedCluster => return (space, address),
        };
        (Space::Generic, address.wrapping_add(window))
    }

    /// The number that an object is; of an array, the address of its first element.
    pub fn source_number(&self, node: &Node, object: &SourceObject<'a>) -> Evaluated<Scalar> {
        let info = object.info;
        if let (Some((of, _)), ObjectPlace::Memory(space, address)) = (types::array(info, object.ty), object.place) {
            let (space, address) = self.generic(space, address);
            return Ok(pointer(object, of, space, address));
        }
        let name = || types::name(info, object.ty);
        let no_number = || refused(node, format!("an object of type {} is no number: name a part of it", name()));
        let ty = types::scalar(info, object.ty).ok_or_else(no_number)?;
        let number = self.number_in(node, object, ty)?;
        match object.stripped() {
            Some(SourceType::Pointer { to, space, .. }) => Ok(pointer(object, *to, space.unwrap_or(Space::Generic), number.bits as u64)),
            _ => Ok(number),
        }
    }

    fn number_in(&self, node: &Node, object: &SourceObject<'a>, ty: ScalarType) -> Evaluated<Scalar> {
        let bytes = object.contents(&self.context, self.own_frame()).map_err(|error| failed(node, error))?;
        Ok(number_of(ty, &bytes))
    }

    /// The value of an object: a plain number, or all of an aggregate.
    pub fn source_value(&self, node: &Node, object: &SourceObject<'a>) -> Evaluated<Value> {
        let is_plain = match object.stripped() {
            Some(SourceType::Base { .. }) => !types::is_character(object.info, object.ty),
            Some(SourceType::Pointer { to, .. }) => !types::is_character(object.info, *to),
            // Of two numbers in one, such as `half2`, the members are shown.
            Some(SourceType::Record { .. }) => types::scalar(object.info, object.ty).is_some_and(|ty| number::elements(ty).1 == 1),
            _ => false,
        };
        if is_plain && types::scalar(object.info, object.ty).is_some() {
            return self.source_number(node, object).map(Value::Scalar);
        }
        if let Some(row) = self.elements_of_launch(object) {
            return self.objects(node, &row);
        }
        object.value(&self.context, self.own_frame()).map(Value::Source).map_err(|error| failed(node, error))
    }

    /// The variable that a node names, if it is a reference.
    fn reference_called(&self, node: &Node) -> Option<source_names::SourceVariable<'a>> {
        let NodeKind::Name(name) = &node.kind else { return None };
        let variable = source_names::find(&self.context, self.own_frame(), name)?;
        let ty = variable.info.stripped(variable.variable.ty)?;
        matches!(variable.info.types[ty], SourceType::Pointer { kind: PointerKind::Reference | PointerKind::RvalueReference, .. })
            .then_some(variable)
    }

    /// The type of an expression, or the type that it names.
    pub fn type_text(&mut self, node: &Node, in_full: bool) -> Evaluated<String> {
        if let Some(text) = self.tensor_type(node, in_full)? {
            return Ok(text);
        }
        let text = |info, ty| if in_full { types::layout(info, ty) } else { types::name(info, ty) };
        if let Some(reference) = self.reference_called(node) {
            return Ok(text(reference.info, reference.variable.ty));
        }
        let referent = match self.referent(node) {
            Ok(referent) => referent,
            Err(error) => {
                let NodeKind::Name(name) = &node.kind else { return Err(error) };
                // A variable has a type where it has no value as well.
                let variable = source_names::find(&self.context, self.own_frame(), name);
                let named = source_names::type_called(&self.context, name).map_err(|message| refused(node, message))?;
                let named = self.context.debug_info().zip(named);
                return match (variable, named) {
                    (Some(variable), _) => Ok(text(variable.info, variable.variable.ty)),
                    (None, Some((info, ty))) if in_full => Ok(types::layout(info, Some(ty))),
                    (None, Some((info, ty))) => Ok(types::name(info, Some(ty))),
                    (None, None) => Err(error),
                };
            }
        };
        match referent {
            Referent::Source(object) => Ok(text(object.info, object.ty)),
            Referent::Memory(_)
            | Referent::Value(_)
            | Referent::Register(_)
            | Referent::Vector3(_)
            | Referent::Kept(_)
            | Referent::Slice(..) => match (self.root(node)?, self.context.debug_info()) {
                (Value::Scalar(Scalar { ty: Type::Function, bits }), Some(_)) => {
                    Ok(function_type(&self.context, bits as u64).unwrap_or_else(|| Type::Function.name()))
                }
                (Value::Scalar(Scalar { ty: Type::Scalar(ty), .. }), Some(_)) if !node.depends_on_lane() => {
                    Ok(names::name_in_c(ty).map_or_else(|| Type::Scalar(ty).name(), str::to_string))
                }
                (value, _) => Ok(value.type_name(&self.context)),
            },
        }
    }
}

fn pointer(object: &SourceObject<'_>, to: Option<TypeId>, space: Space, address: u64) -> Scalar {
    let bytes = u32::try_from(object.info.bytes(to)).unwrap_or(0);
    Scalar::new(Type::SourcePointer(space, to, bytes), u128::from(address))
}
