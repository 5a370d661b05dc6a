//! Names that are spelled in several ways: with white space, and with the types of integers in template arguments or without.

/// Integer types of template arguments, as demanglers write them before the value, without white space.
const INTEGER_TYPES: &[&str] = &[
    "unsignedint",
    "unsignedlonglong",
    "unsignedlong",
    "unsignedshort",
    "unsignedchar",
    "unsigned",
    "int",
    "longlong",
    "long",
    "short",
    "signedchar",
    "char",
    "bool",
];

/// A name without white space, and with the integers of its template arguments as numbers alone: `f<64,2>` for `f<(unsigned int)64, 2u>`.
pub fn normalized(text: &str) -> String {
    let mut text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    if !text.contains('<') {
        return text;
    }
    for ty in INTEGER_TYPES {
        let cast = format!("({ty})");
        let begins_number = |rest: &str| rest.starts_with(|c: char| c == '-' || c.is_ascii_digit());
        while let Some(at) = text.match_indices(&cast).map(|(at, _)| at).find(|at| begins_number(&text[at + cast.len()..])) {
            text.replace_range(at..at + cast.len(), "");
        }
    }
    without_suffixes(&text)
}

/// The text without the suffixes of integers: `f<64>` for `f<64u>`.
fn without_suffixes(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(['<', ',']) {
        let (before, value) = rest.split_at(start + 1);
        plain += before;
        let digits = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
        let suffix = value[digits..].find(|c: char| !matches!(c, 'u' | 'U' | 'l' | 'L')).unwrap_or(0);
        let ends = digits > 0 && value[digits + suffix..].starts_with([',', '>']);
        plain += &value[..digits];
        rest = &value[digits + if ends { suffix } else { 0 }..];
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::normalized;

    #[test]
    fn integers_of_template_arguments_are_spelled_in_one_way() {
        for name in ["f<(unsigned int)64, true>(int)", "f<64u, true>(int)", "f< 64 , true >(int)", "f<(unsigned)64UL,true>(int)"] {
            assert_eq!(normalized(name), "f<64,true>(int)", "{name}");
        }
        assert_eq!(normalized("f(unsigned int)"), "f(unsignedint)");
        assert_eq!(normalized("g<(int)-3, h<2u> >"), "g<-3,h<2>>");
        assert_eq!(normalized("operator<<(V, unsigned int)"), "operator<<(V,unsignedint)");
    }
}
