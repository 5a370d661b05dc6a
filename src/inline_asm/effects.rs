//! Side effects of instructions, which a compiler does not expect of a statement without `volatile` and the clobber `"memory"` ("Inline
//! PTX Assembly in CUDA", 1.2.2).

use crate::isa::{SPECIAL_REGISTERS, SpecialKind};

/// A side effect of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// It writes memory.
    Writes,
    /// It reads memory that other instructions may have written.
    Reads,
    /// It waits for other threads or orders accesses to memory.
    Orders,
    /// Its result comes from the other lanes that execute it.
    Collective,
    /// It reads this special register, whose value changes.
    Changes(&'static str),
}

/// Effects by the first component of the opcode.
const OPCODES: &[(&str, Effect)] = &[
    ("st", Effect::Writes),
    ("atom", Effect::Writes),
    ("red", Effect::Writes),
    ("ld", Effect::Reads),
    ("ldu", Effect::Reads),
    ("bar", Effect::Orders),
    ("barrier", Effect::Orders),
    ("membar", Effect::Orders),
    ("fence", Effect::Orders),
    ("mbarrier", Effect::Orders),
    ("cp", Effect::Orders),
    ("shfl", Effect::Collective),
    ("vote", Effect::Collective),
    ("match", Effect::Collective),
    ("redux", Effect::Collective),
    ("activemask", Effect::Collective),
    ("elect", Effect::Collective),
];
/// Modifiers of loads from memory that is constant while the kernel runs.
const CONSTANT: &[&str] = &["const", "param", "nc"];

impl Effect {
    /// The effect of the instruction with this opcode and these operands, if it has one.
    pub fn of(opcode: &str, operands: &str) -> Option<Self> {
        let mut components = opcode.split('.');
        let first = components.next().unwrap_or_default();
        let effect = OPCODES.iter().find(|row| row.0 == first).map(|row| row.1);
        let is_constant = effect == Some(Effect::Reads) && components.any(|modifier| CONSTANT.contains(&modifier));
        effect.filter(|_| !is_constant).or_else(|| changing(operands).map(Effect::Changes))
    }

    /// True if accesses to memory must not be moved across it.
    pub fn needs_clobber(self) -> bool {
        matches!(self, Effect::Writes | Effect::Orders)
    }

    /// The effect of `opcode`, for messages.
    pub fn describe(self, opcode: &str) -> String {
        match self {
            Effect::Writes => format!("'{opcode}' writes memory"),
            Effect::Reads => format!("'{opcode}' reads memory, where the value may change"),
            Effect::Orders => format!("'{opcode}' orders accesses to memory"),
            Effect::Collective => format!("the result of '{opcode}' depends on the lanes that execute it together"),
            Effect::Changes(register) => format!("'{opcode}' reads {register}, which changes"),
        }
    }
}

/// The changing special register that `operands` name, if they name one.
fn changing(operands: &str) -> Option<&'static str> {
    let mut names = operands.split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '%' | '.'));
    names.find_map(|name| {
        let register = SPECIAL_REGISTERS.iter().find(|register| register.name == name)?;
        (register.kind == SpecialKind::Changing).then_some(register.name)
    })
}
