//! A random instruction, written as a row of the instruction table wants it.

use std::sync::LazyLock;

use arbitrary::{Error, Result, Unstructured};
use ptxdbg::isa::{
    ControlDecode, Decode, Form, MbarrierDecode, Modifier, MoveDecode, OperandForm, OperandRole, OperandType, ParallelDecode,
    RegisterCount, ScalarType, VideoDecode, table,
};

use super::operand::{address, braced, destination, register, shared_address, source};

/// What a module is written for.
#[derive(Clone, Copy, Debug)]
pub struct Edition {
    /// PTX version.
    pub version: (u8, u8),
    /// The number after `sm_`.
    pub sm: u32,
    /// The letter after it.
    pub suffix: &'static str,
}

/// The newest target that is modelled, and the last ones before lanes of a warp went their own ways and before `.sync`.
pub const EDITIONS: &[Edition] = &[
    Edition { version: (9, 0), sm: 90, suffix: "a" },
    Edition { version: (7, 0), sm: 75, suffix: "" },
    Edition { version: (6, 3), sm: 60, suffix: "" },
];

impl Edition {
    fn has(self, ptx: (u8, u8), sm: u32) -> bool {
        ptx <= self.version && sm <= self.sm
    }

    /// Whether the form may be written for it, and is one that the machine executes in a straight line.
    fn has_form(self, form: &Form) -> bool {
        let row = form.row;
        let target = format!("{}{}", self.sm, self.suffix);
        let is_gone = row.removed.is_some_and(|(version, sm)| version <= self.version && sm <= self.sm);
        let is_here = row.only.is_empty() || row.only.contains(&&*target);
        let can_be_filled = form.slots.iter().all(|slot| !slot.required || slot.modifiers.iter().any(|word| self.has(word.ptx, word.sm)));
        self.has(row.ptx, row.sm)
            && is_here
            && can_be_filled
            && !is_gone
            && !form.any_modifiers
            && !form.any_operands
            && is_straight(row.decode)
    }
}

/// What the outcome of code may depend on, beside its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bond {
    /// Nothing: every thread does alone what it does in a warp.
    None,
    /// Which threads execute it together.
    Together,
    /// When: copies go on beside it, and barrier objects count arrivals.
    Time,
}

/// Every bond, the loosest first.
pub const BONDS: &[Bond] = &[Bond::None, Bond::Together, Bond::Time];

/// The forms that random code is made of, for every edition and every bond, which allows the looser ones.
pub static FORMS: LazyLock<Vec<Vec<Vec<&'static Form>>>> = LazyLock::new(|| {
    let of = |edition: &Edition, bond: Bond| {
        let names_tensor =
            |form: &Form| form.operands.iter().any(|operand| matches!(operand.registers, Some(RegisterCount::Dimensions(_))));
        let fits = |form: &&'static Form| edition.has_form(form) && Bond::of(form.row.decode) <= bond && !names_tensor(form);
        table::all().iter().filter(fits).collect::<Vec<_>>()
    };
    EDITIONS.iter().map(|edition| BONDS.iter().map(|bond| of(edition, *bond)).collect()).collect()
});

/// Whether it is executed, does not jump, and needs no texture, surface or tensor map, nor all lanes of a warp.
fn is_straight(decode: Decode) -> bool {
    match decode {
        Decode::Unsupported | Decode::Image(_) | Decode::Tensor(_) | Decode::Wgmma(_) | Decode::Matrix(_) => false,
        Decode::Control(decode) => !matches!(decode, ControlDecode::Branch | ControlDecode::BranchIndexed | ControlDecode::Call),
        Decode::Nop
        | Decode::Integer(_)
        | Decode::Bits(_)
        | Decode::Float(_)
        | Decode::Video(_)
        | Decode::Compare(_)
        | Decode::Move(_)
        | Decode::Cluster(_)
        | Decode::Policy(_)
        | Decode::Memory(_)
        | Decode::Atomic(_)
        | Decode::Async(_)
        | Decode::Mbarrier(_)
        | Decode::Stack(_)
        | Decode::Parallel(_) => true,
    }
}

impl Bond {
    /// What an instruction depends on. Of groups that have merged, the stack pointer is that of the largest stack.
    fn of(decode: Decode) -> Bond {
        match decode {
            Decode::Async(_) | Decode::Mbarrier(MbarrierDecode::Update(_) | MbarrierDecode::Wait) => Bond::Time,
            Decode::Mbarrier(MbarrierDecode::ClusterArrive | MbarrierDecode::ClusterWait) | Decode::Stack(_) | Decode::Parallel(_) => {
                Bond::Together
            }
            _ => Bond::None,
        }
    }
}

/// An instruction of one of `forms`, with a guard now and then, without its semicolon.
pub fn instruction(u: &mut Unstructured<'_>, edition: Edition, forms: &[&'static Form]) -> Result<String> {
    let form = *u.choose(forms)?;
    let words = words(u, edition, form)?;
    let texts: Vec<&str> = words.iter().map(|word| word.text).collect();
    let mut operands = Vec::new();
    for operand in &form.operands {
        let stands = match operand.only_with {
            Some(with) => with.split('|').any(|word| texts.contains(&word)),
            None => !operand.optional || u.ratio(1, 2)?,
        };
        if stands {
            operands.push(written(u, form, operand, &words)?);
        }
    }
    // An early exit has a guard: the rest would never be executed.
    let ends = matches!(
        form.row.decode,
        Decode::Control(ControlDecode::Exit | ControlDecode::Return | ControlDecode::Trap | ControlDecode::Breakpoint)
    );
    let guard = if ends || u.ratio(1, 5)? { guard(u)? } else { String::new() };
    let opcode = texts.iter().fold(form.opcode.to_string(), |opcode, word| format!("{opcode}.{word}"));
    Ok(format!("{guard}{opcode} {}", operands.join(", ")))
}

/// `@%p1 ` or `@!%p1 `.
pub fn guard(u: &mut Unstructured<'_>) -> Result<String> {
    let not = if u.arbitrary()? { "!" } else { "" };
    Ok(format!("@{not}{} ", register(u, ScalarType::Pred, false)?))
}

/// A word for every slot that must be filled and for some that may be.
fn words(u: &mut Unstructured<'_>, edition: Edition, form: &Form) -> Result<Vec<Modifier>> {
    let mut words = Vec::new();
    for slot in &form.slots {
        let fit: Vec<Modifier> = slot.modifiers.iter().filter(|word| edition.has(word.ptx, word.sm)).copied().collect();
        if !fit.is_empty() && (slot.required || u.ratio(1, 3)?) {
            words.push(*u.choose(&fit)?);
        }
    }
    Ok(words)
}

/// An operand as its form wants it.
fn written(u: &mut Unstructured<'_>, form: &Form, operand: &OperandForm, words: &[Modifier]) -> Result<String> {
    let types: Vec<ScalarType> = words.iter().filter_map(|word| word.ty).collect();
    let texts: Vec<&str> = words.iter().map(|word| word.text).collect();
    let last = types.last().copied().unwrap_or(ScalarType::B32);
    let elements = [("v2", 2), ("v4", 4), ("v8", 8)].into_iter().find(|(word, _)| texts.contains(word)).map_or(1, |(_, count)| count);
    let ty = match operand.ty {
        OperandType::Last => last,
        OperandType::Nth(index) => types.get(index).copied().unwrap_or(last),
        OperandType::Double => double(last),
        OperandType::Fixed(ty) => ty,
    };
    match operand.role {
        OperandRole::Address if Bond::of(form.row.decode) == Bond::Time => shared_address(u, operand),
        OperandRole::Address => address(u, &texts, last.bytes() * elements as u32),
        OperandRole::Dest => destination(u, operand, ty, elements),
        OperandRole::Source if operand.name == "mask" => member_mask(u),
        OperandRole::Source if matches!(form.row.decode, Decode::Parallel(ParallelDecode::Barrier(_))) => barrier_operand(u, operand, ty),
        OperandRole::Source => source(u, operand, ty, elements),
        OperandRole::Any => any(u, form.row.decode, ty, elements),
        OperandRole::Label => Err(Error::IncorrectFormat),
    }
}

fn double(ty: ScalarType) -> ScalarType {
    use ScalarType::{S16, S32, S64, U16, U32, U64};
    match ty {
        U16 => U32,
        S16 => S32,
        U32 => U64,
        S32 => S64,
        other => other,
    }
}

/// Lanes of a warp: mostly all, as a lane that is not in the mask must not execute the instruction.
fn member_mask(u: &mut Unstructured<'_>) -> Result<String> {
    Ok((*u.choose(&["-1", "-1", "0xffffffff", "0x0000ffff", "1", "0", "%r0"])?).to_string())
}

/// The number of a barrier, how many threads it is for, or a predicate.
fn barrier_operand(u: &mut Unstructured<'_>, operand: &OperandForm, ty: ScalarType) -> Result<String> {
    Ok(match operand.name {
        "a" => u.choose(&["0", "0", "1", "15"])?.to_string(),
        "b" => u.choose(&["32", "64", "%r1"])?.to_string(),
        _ => return source(u, operand, ty, 1),
    })
}

/// An operand of an instruction whose own rules say what it may be.
fn any(u: &mut Unstructured<'_>, decode: Decode, ty: ScalarType, elements: usize) -> Result<String> {
    match decode {
        Decode::Move(MoveDecode::Vector) => braced(u, ty, false, elements),
        Decode::Move(MoveDecode::Plain) if u.ratio(1, 4)? => {
            let (part, count) = *u.choose(match ty.bits() {
                32 => &[(ScalarType::B16, 2)],
                64 => &[(ScalarType::B16, 4), (ScalarType::B32, 2)],
                _ => &[(ScalarType::B64, 2)],
            })?;
            braced(u, part, false, count)
        }
        Decode::Move(MoveDecode::IsSpace) => register(u, ScalarType::B64, false),
        Decode::Video(VideoDecode::Scalar(_) | VideoDecode::Shift(_) | VideoDecode::Set | VideoDecode::Mad) => {
            let part = u.choose(&["", "", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1"])?;
            Ok(format!("{}{part}", register(u, ScalarType::U32, false)?))
        }
        Decode::Video(VideoDecode::Simd(..) | VideoDecode::SimdSet(_)) => register(u, ScalarType::U32, false),
        _ => register(u, ty, false),
    }
}
