//! What an instruction does besides computing its outputs from its inputs, which is all that a compiler expects of a statement unless
//! `volatile` and the clobber `"memory"` say more ("Inline PTX Assembly in CUDA", 1.2.2).

use crate::isa::{SPECIAL_REGISTERS, SpecialKind};

/// What an instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// It writes memory.
    Writes,
    /// It reads memory that others may have written.
    Reads,
    /// It waits for other threads or orders accesses to memory.
    Orders,
    /// Its result comes from the other lanes that execute it.
    Collective,
    /// It reads this special register, which changes.
    Changes(&'static str),
}

/// Effects by the first word of the opcode.
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
/// Words of loads from memory that nothing writes while the kernel runs.
const CONSTANT: &[&str] = &["const", "param", "nc"];

impl Effect {
    /// The effect of the instruction with this opcode and these operands, if it has one.
    pub fn of(opcode: &str, operands: &str) -> Option<Self> {
        let mut words = opcode.split('.');
        let first = words.next().unwrap_or_default();
        let effect = OPCODES.iter().find(|row| row.0 == first).map(|row| row.1);
        let is_constant = effect == Some(Effect::Reads) && words.any(|word| CONSTANT.contains(&word));
        effect.filter(|_| !is_constant).or_else(|| changing(operands).map(Effect::Changes))
    }

    /// Whether accesses to memory must not be moved over it.
    pub fn needs_clobber(self) -> bool {
        matches!(self, Effect::Writes | Effect::Orders)
    }

    /// What `opcode` does, as a message says it.
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
