//! Parameters: the bytes or address of an entry, and the check that it has the size of the kernel's parameter.

use super::image::texture_image;
use super::{Resolver, Scope};
use crate::base::counted;
use crate::launch::file::{Content, Launch, Param};
use crate::launch::plan::{ParamValue, PlannedImage, PlannedParam};
use crate::launch::value_path::ValuePath;
use crate::launch::variable_args::of_module;
use crate::program::{self, Function, Location, ParamStorage};

impl Resolver<'_> {
    pub(super) fn params(
        &mut self,
        launch_index: usize,
        place: &ValuePath,
        launch: &Launch,
        kernel: &Function,
        scope: &mut Scope,
        images: &mut Vec<PlannedImage>,
    ) -> Vec<PlannedParam> {
        let list = place.field("params");
        let (given, wanted) = (launch.params.len(), kernel.params.len());
        if given < wanted {
            let given_are = if given == 1 { "1 is".to_string() } else { format!("{given} are") };
            let missing: Vec<String> = kernel.params[given..].iter().map(describe).collect();
            let message = format!("kernel '{}' has {}, and {given_are} given", kernel.name, counted(wanted as u64, "parameter"));
            self.error_with_help(&list, message, format!("missing: {}", missing.join(", ")));
        }
        let mut planned = Vec::new();
        for (index, param) in launch.params.iter().enumerate() {
            let place = list.item(index);
            let value = match texture_image(param) {
                Some(image) => self.image_param(launch_index, &place, &image, scope, index as u64).map(|planned| {
                    let handle = planned.image.handle;
                    images.push(planned);
                    ParamValue::Bytes(handle.to_le_bytes().to_vec())
                }),
                None => self.value(launch_index, &place, param, scope),
            };
            match kernel.params.get(index) {
                Some(formal) => planned.extend(value.and_then(|value| self.fit(&place, index, param, formal, value))),
                None => {
                    let only =
                        if wanted == 0 { "no parameters".to_string() } else { format!("only {}", counted(wanted as u64, "parameter")) };
                    self.error(&place, format!("params[{index}]: kernel '{}' has {only}", kernel.name));
                    break;
                }
            }
        }
        planned
    }

    /// The value of an entry, independent of the parameter. Buffers are added to the scope.
    pub(super) fn value(&mut self, launch_index: usize, place: &ValuePath, param: &Param, scope: &mut Scope) -> Option<ParamValue> {
        match param {
            Param::Buffer(buffer) => {
                let buffer = self.define_buffer(launch_index, place, buffer, scope)?;
                // Recorded suites store 8-bit results as 32-bit words, into buffers of 8-bit elements.
                let planned = &mut scope.buffers[buffer];
                if matches!(self.file.content, Content::Suite(_)) && planned.element.bytes() == 1 {
                    planned.padding = planned.bytes.saturating_mul(3);
                }
                Some(ParamValue::Address { buffer, add: 0 })
            }
            Param::TensorMap(map) => self.tensor_map(launch_index, place, map, scope),
            Param::Alias(name) => self.address(place, name, 0, scope),
            Param::Offset(name, add) => self.address(place, name, *add, scope),
            Param::Bytes(digits, parts) if parts.is_empty() => self.hexadecimal(place, digits).map(ParamValue::Bytes),
            Param::Bytes(digits, parts) => {
                let bytes = self.hexadecimal(&place.item(0), digits)?;
                let parts = self.parts(launch_index, &place.field("at"), parts, (bytes.len() as u64, "the structure"), scope);
                Some(ParamValue::Struct { bytes, parts })
            }
            _ => {
                let (element, number) = param.scalar()?;
                match element.encode(number) {
                    Ok(bits) => Some(ParamValue::Bytes(bits.to_le_bytes()[..element.bytes() as usize].to_vec())),
                    Err(message) => {
                        self.error(place, message);
                        None
                    }
                }
            }
        }
    }

    /// The entry as the value of the parameter `formal`, if the sizes agree.
    fn fit(&mut self, place: &ValuePath, index: usize, param: &Param, formal: &program::Param, value: ParamValue) -> Option<PlannedParam> {
        let ParamStorage::Kernel(offset) = formal.storage else { return None };
        let bytes = self.bytes_of(&value);
        let what = match &value {
            ParamValue::Bytes(_) | ParamValue::Struct { .. } => match param.scalar() {
                Some((element, _)) => format!("{element:?} has {}", count(u64::from(element.bytes()))),
                None if texture_image(param).is_some() => "a handle has 8 bytes".to_string(),
                None => format!("{} are given", count(bytes)),
            },
            ParamValue::TensorMap { .. } => format!("a tensor map has {bytes} bytes"),
            ParamValue::Address { .. } => format!("an address has {bytes} bytes"),
        };
        if bytes != u64::from(formal.bytes) {
            self.error(place, format!("params[{index}]: kernel parameter {}; {what}", describe_sentence(formal)));
            return None;
        }
        Some(PlannedParam { offset, bytes: formal.bytes, value })
    }

    /// The address of byte `add` of a buffer, or of a variable of the module.
    fn address(&mut self, place: &ValuePath, name: &str, add: i64, scope: &Scope) -> Option<ParamValue> {
        let buffer = scope.by_name.get(name).copied();
        let variable = of_module(self.program).map(|(_, variable)| variable).find(|variable| &*variable.name == name);
        let (what, bytes) = match (buffer, variable) {
            (Some(buffer), _) => ("buffer", scope.buffers[buffer].bytes),
            (None, Some(variable)) => ("variable", variable.bytes),
            (None, None) => {
                self.no_buffer(place, name, scope);
                return None;
            }
        };
        let Some(add) = u64::try_from(add).ok().filter(|add| *add <= bytes) else {
            self.error(place, format!("offset {add} is outside {what} '{name}', which has {}", count(bytes)));
            return None;
        };
        if let Some(buffer) = buffer {
            return Some(ParamValue::Address { buffer, add });
        }
        let Location { space, address } = variable?.location;
        let generic = self.program.map.window_start(space) + address + add;
        Some(ParamValue::Bytes(generic.to_le_bytes()[..self.program.address_bits as usize / 8].to_vec()))
    }

    /// Reports that there is no buffer or variable of the module called `name`.
    pub(super) fn no_buffer(&mut self, place: &ValuePath, name: &str, scope: &Scope) {
        let known: Vec<&str> = scope.by_name.keys().map(String::as_str).collect();
        let help = match known.as_slice() {
            [] => "no buffer is defined before this entry".to_string(),
            known => format!("defined before this entry: {}", known.join(", ")),
        };
        self.error_with_help(place, format!("there is no buffer '{name}' yet"), help);
    }

    /// The bytes of `digits`, two of which make a byte; blanks are allowed.
    fn hexadecimal(&mut self, place: &ValuePath, digits: &str) -> Option<Vec<u8>> {
        let mut values = Vec::new();
        for letter in digits.chars().filter(|letter| !letter.is_whitespace()) {
            let Some(value) = letter.to_digit(16) else {
                self.error(place, format!("'{letter}' is not a hexadecimal digit"));
                return None;
            };
            values.push(value as u8);
        }
        if values.len() % 2 != 0 {
            self.error(place, format!("two hexadecimal digits make a byte, and there are {}", values.len()));
            return None;
        }
        Some(values.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
    }
}

/// `1 byte`, `4 bytes`.
pub(super) fn count(bytes: u64) -> String {
    if bytes == 1 { "1 byte".to_string() } else { format!("{bytes} bytes") }
}

/// `'n' (.u32)`
fn describe(formal: &program::Param) -> String {
    format!("'{}' ({})", formal.name, type_of(formal))
}

/// `'n' is .u32 (4 bytes)`
fn describe_sentence(formal: &program::Param) -> String {
    format!("'{}' is {} ({})", formal.name, type_of(formal), count(u64::from(formal.bytes)))
}

fn type_of(formal: &program::Param) -> String {
    let word = formal.ty.word();
    if formal.is_array { format!(".{word}[{}]", formal.bytes / formal.ty.bytes().max(1)) } else { format!(".{word}") }
}
