//! The names of types and spaces, as PTX, C and cuda-gdb write them.

use crate::isa::{ScalarType, Space};

/// A type that the user wrote: a scalar, or a pointer to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeName {
    /// The scalar, or the pointee.
    pub ty: ScalarType,
    /// True for a pointer.
    pub pointer: bool,
    /// The space that was named.
    pub space: Option<Space>,
}

/// A type of the source that the user wrote, as in `(struct V*)p`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceTypeName {
    /// Its name, perhaps with a keyword before it.
    pub name: String,
    /// The stars after it.
    pub pointers: usize,
}

impl SourceTypeName {
    /// Splits `struct V **` into the name and its stars.
    pub fn of(text: &str) -> Self {
        let name = text.trim_end_matches(|c: char| c == '*' || c.is_whitespace());
        let pointers = text[name.len()..].matches('*').count();
        let words = name.split_whitespace().filter(|word| !QUALIFIERS.contains(word));
        Self { name: words.collect::<Vec<&str>>().join(" "), pointers }
    }
}

impl std::fmt::Display for SourceTypeName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", self.name, "*".repeat(self.pointers))
    }
}

/// C names of types, in addition to those of PTX. The words of a name are in alphabetical order; `int` may be left out after another word.
#[rustfmt::skip]
const C_TYPES: &[(&[&str], ScalarType)] = &[
    (&["bool"], ScalarType::Pred), (&["void"], ScalarType::B8),
    (&["char"], ScalarType::S8), (&["char", "signed"], ScalarType::S8), (&["char", "unsigned"], ScalarType::U8),
    (&["short"], ScalarType::S16), (&["short", "signed"], ScalarType::S16), (&["short", "unsigned"], ScalarType::U16),
    (&["int"], ScalarType::S32), (&["signed"], ScalarType::S32), (&["unsigned"], ScalarType::U32),
    (&["long"], ScalarType::S64), (&["long", "signed"], ScalarType::S64), (&["long", "unsigned"], ScalarType::U64),
    (&["long", "long"], ScalarType::S64), (&["long", "long", "signed"], ScalarType::S64),
    (&["long", "long", "unsigned"], ScalarType::U64),
    (&["size_t"], ScalarType::U64),
    (&["int8_t"], ScalarType::S8), (&["int16_t"], ScalarType::S16), (&["int32_t"], ScalarType::S32), (&["int64_t"], ScalarType::S64),
    (&["uint8_t"], ScalarType::U8), (&["uint16_t"], ScalarType::U16), (&["uint32_t"], ScalarType::U32),
    (&["uint64_t"], ScalarType::U64), (&["uint"], ScalarType::U32), (&["uchar"], ScalarType::U8), (&["ushort"], ScalarType::U16),
    (&["float"], ScalarType::F32), (&["double"], ScalarType::F64), (&["half"], ScalarType::F16), (&["__half"], ScalarType::F16),
    (&["c10::Half"], ScalarType::F16), (&["c10::BFloat16"], ScalarType::BF16),
    (&["half2"], ScalarType::F16x2), (&["__half2"], ScalarType::F16x2),
    (&["__nv_bfloat16"], ScalarType::BF16), (&["__nv_bfloat162"], ScalarType::BF16x2),
    (&["__nv_fp8_e4m3"], ScalarType::E4M3), (&["__nv_fp8_e5m2"], ScalarType::E5M2),
];

/// The words of C that qualify a type, which do not change what a value is.
pub const QUALIFIERS: &[&str] = &["const", "volatile"];

/// Words for spaces: those of PTX, and those that cuda-gdb writes after `@`.
const SPACES: &[(&str, Space)] = &[
    ("generic", Space::Generic),
    ("global", Space::Global),
    ("const", Space::Const),
    ("constant", Space::Const),
    ("shared", Space::Shared),
    ("shared::cta", Space::Shared),
    ("shared::cluster", Space::SharedCluster),
    ("local", Space::Local),
    ("param", Space::Param),
    ("parameter", Space::Param),
];

/// The space called `word`.
pub fn space(word: &str) -> Option<Space> {
    SPACES.iter().find(|row| row.0 == word).map(|row| row.1)
}

/// True if `word` can be part of the name of a type.
pub fn is_type_word(word: &str) -> bool {
    let word = word.trim_start_matches('.');
    ScalarType::from_word(word).is_some() || C_TYPES.iter().any(|row| row.0.contains(&word))
}

/// The words of C for types, which are never names.
const KEYWORDS: &[&str] = &["bool", "char", "double", "float", "int", "long", "short", "signed", "unsigned", "void"];

/// True if a variable of the source may be called `word`.
pub fn is_name_in_c(word: &str) -> bool {
    !KEYWORDS.contains(&word) && word.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// The type that these words name together.
pub fn type_of(words: &[&str]) -> Option<ScalarType> {
    if let [word] = words
        && let Some(ty) = ScalarType::from_word(word.trim_start_matches('.'))
    {
        return Some(ty);
    }
    let mut sorted: Vec<&str> = words.to_vec();
    sorted.sort_unstable();
    let exact = |words: &[&str]| C_TYPES.iter().find(|row| row.0 == words).map(|row| row.1);
    let without_int = || {
        let at = sorted.iter().position(|word| *word == "int").filter(|_| !sorted.contains(&"char"))?;
        let rest: Vec<&str> = sorted.iter().enumerate().filter(|(index, _)| *index != at).map(|(_, word)| *word).collect();
        exact(&rest)
    };
    exact(&sorted).or_else(without_int)
}

/// What C++ calls a type of numbers.
pub fn name_in_c(ty: ScalarType) -> Option<&'static str> {
    Some(match ty {
        ScalarType::Pred => "bool",
        ScalarType::S8 => "char",
        ScalarType::U8 => "unsigned char",
        ScalarType::S16 => "short",
        ScalarType::U16 => "unsigned short",
        ScalarType::S32 => "int",
        ScalarType::U32 => "unsigned int",
        ScalarType::S64 => "long",
        ScalarType::U64 => "unsigned long",
        ScalarType::F32 => "float",
        ScalarType::F64 => "double",
        _ => return None,
    })
}

impl std::fmt::Display for TypeName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Without the sign `const` is the word of C.
        let sign = if self.space == Some(Space::Const) { "@" } else { "" };
        let space = self.space.map_or(String::new(), |space| format!("{sign}{} ", space.word()));
        write!(f, "{space}{}{}", self.ty.word(), if self.pointer { "*" } else { "" })
    }
}
