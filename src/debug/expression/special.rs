//! Values that every thread has: special registers, the words of CUDA for them, and its position.

use super::evaluate::{Evaluated, Evaluator, Referent, refused};
use super::tree::{Convenience, Node};
use crate::debug::focus::Focus;
use crate::debug::value::{Scalar, Type};
use crate::isa::{SPECIAL_REGISTERS, ScalarType, SpecialKind, special_register};
use crate::machine::LANES;

/// The built-in vectors of CUDA, and their special registers.
const CUDA_NAMES: &[(&str, &str)] = &[("threadIdx", "%tid"), ("blockIdx", "%ctaid"), ("blockDim", "%ntid"), ("gridDim", "%nctaid")];

/// The constant of CUDA with the number of lanes of a warp.
const WARP_SIZE: &str = "warpSize";

/// The number of a lane in its warp, which has no name in CUDA: the special register without its `%`.
const LANE_ID: &str = "laneid";

/// True for `threadIdx.x` and other CUDA names of coordinates and extents.
pub(super) fn is_of_thread(name: &str) -> bool {
    let of_vector = |(vector, part): (&str, &str)| CUDA_NAMES.iter().any(|row| row.0 == vector) && matches!(part, "x" | "y" | "z");
    name == WARP_SIZE || name.split_once('.').is_some_and(of_vector)
}

impl<'a> Evaluator<'a> {
    /// `threadIdx.x` and other CUDA names of special registers, and their vectors such as `%tid`, if nothing else has the name.
    pub fn cuda_name(&self, node: &Node, name: &str) -> Evaluated<Option<Referent<'a>>> {
        if name == WARP_SIZE {
            return Ok(Some(Referent::Value(Scalar::new(Type::Scalar(ScalarType::S32), LANES as u128))));
        }
        if let Some(register) = special_register(&format!("%{name}")).filter(|_| name == LANE_ID) {
            return self.special(node, register).map(|value| Some(Referent::Value(value)));
        }
        let (vector, part) = name.split_once('.').map_or((name, None), |(vector, part)| (vector, Some(part)));
        let of_cuda = CUDA_NAMES.iter().find(|row| row.0 == vector).map(|row| row.1);
        let is_vector = |ptx: &&str| special_register(&format!("{ptx}.x")).is_some();
        let Some(ptx) = of_cuda.or(Some(vector).filter(is_vector)) else { return Ok(None) };
        let component = |part: &str| match special_register(&format!("{ptx}.{part}")) {
            Some(register) if part != "w" => self.special(node, register),
            _ => Err(refused(node, format!("'{vector}' has x, y and z"))),
        };
        match part {
            Some(part) => component(part).map(|value| Some(Referent::Value(value))),
            None => {
                let values = [component("x")?, component("y")?, component("z")?];
                Ok(Some(Referent::Vector3(values.map(|value| value.bits as u32))))
            }
        }
    }

    pub fn special(&self, node: &Node, register: usize) -> Evaluated<Scalar> {
        // Registers that depend only on the launch and the thread's index also have a value for threads that are not on the machine.
        let row = SPECIAL_REGISTERS.get(register).filter(|row| row.kind == SpecialKind::Fixed);
        let lane = match (&self.frame, row) {
            (Ok(frame), _) => frame.lane,
            (Err(_), Some(_)) if self.context.machine.block_number(self.context.focus.block).is_some() => self.context.focus.lane,
            (Err(_), _) => self.frame_at(node)?.lane,
        };
        let Focus { block, warp, .. } = self.context.focus;
        let values = self.context.machine.special_register(block, warp, register);
        let ty = SPECIAL_REGISTERS.get(register).map_or(ScalarType::U32, |row| row.ty);
        Ok(Scalar::new(Type::Scalar(ty), u128::from(values[lane as usize % 32])))
    }

    pub fn convenience(&self, node: &Node, word: Convenience) -> Evaluated<Scalar> {
        let number = |ty, bits| Ok(Scalar { ty: Type::Scalar(ty), bits });
        match word {
            Convenience::Pc => {
                let frame = self.frame_at(node)?;
                Ok(Scalar { ty: Type::Code, bits: u128::from(frame.position().0) })
            }
            Convenience::Lane => number(ScalarType::U32, u128::from(self.context.focus.lane)),
            Convenience::Warp => number(ScalarType::U32, u128::from(self.context.focus.warp)),
            Convenience::Frame => number(ScalarType::U32, u128::from(self.context.focus.frame)),
            Convenience::Time => number(ScalarType::U64, u128::from(self.context.machine.tick().0)),
            Convenience::Active => number(ScalarType::U32, u128::from(self.frame_at(node)?.group.mask.bits())),
        }
    }
}
