//! Names of functions and variables as the author of a kernel wrote them (C++ ABI for Itanium, "5.1.2 General Structure").

use cpp_demangle::{BorrowedSymbol, DemangleOptions, DemangleWrite};

/// `full` of `_ZZ13ring_mbarrierE4full`: a variable of a function by the name that it has there. Other names stay as they are.
pub fn short_name(name: &str) -> &str {
    let last = || {
        let inner = name.strip_prefix("_ZZ")?;
        inner.match_indices('E').find_map(|(at, _)| {
            let rest = &inner[at + 1..];
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let (length, own) = rest.split_at(digits);
            // After the name there may be a number that distinguishes variables of one name.
            let length = length.parse().ok()?;
            let (own, tail) = own.split_at_checked(length)?;
            (length > 0 && (tail.is_empty() || tail.starts_with('_'))).then_some(own)
        })
    };
    last().unwrap_or(name)
}

/// The last identifier of a mangled C++ name, and what follows it: `gemm` and `IfEEvPT_` of `_ZN3lin4gemmIfEEvPT_`. None of a name that is
/// not mangled, or damaged.
fn last_identifier(name: &str) -> Option<(&str, &str)> {
    let encoding = name.strip_prefix("_Z")?;
    let nested = encoding.strip_prefix('N');
    let (mut rest, mut last) = (nested.unwrap_or(encoding), None);
    loop {
        // `L` before an identifier: internal linkage.
        let own = rest.strip_prefix('L').unwrap_or(rest);
        let digits = own.len() - own.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if digits == 0 {
            return last.map(|last| (last, rest));
        }
        let (length, own) = own.split_at(digits);
        let (identifier, tail) = own.split_at_checked(length.parse().ok()?)?;
        (last, rest) = (Some(identifier), tail);
        if nested.is_none() {
            return Some((identifier, tail));
        }
    }
}

/// The last identifier of a mangled function (`_Z5saxpyifPfS_`, `_ZN3app5saxpyEPf`, `_ZL5saxpyv`), without namespaces and types.
pub fn plain_name(mangled: &str) -> Option<&str> {
    last_identifier(mangled).map(|(name, _)| name)
}

/// Characters of a demangled name at most: names of templates can stand for texts without end.
const DEMANGLED_MAX: usize = 4096;

/// `void scale<float>(float*, float, int)` of `_Z5scaleIfEvPT_S0_i`; none of a name that is not mangled, or too long.
pub fn demangled(mangled: &str) -> Option<String> {
    demangled_with(mangled, &DemangleOptions::new())
}

/// The same without parameters and result: `scale<float>`, `filters::smooth`.
pub fn qualified_name(mangled: &str) -> Option<String> {
    demangled_with(mangled, &DemangleOptions::new().no_params().no_return_type())
}

fn demangled_with(mangled: &str, options: &DemangleOptions) -> Option<String> {
    let symbol = mangled.starts_with("_Z").then(|| BorrowedSymbol::new(mangled.as_bytes()).ok())??;
    let mut text = Bounded(String::new());
    symbol.structured_demangle(&mut text, options).ok()?;
    Some(text.0)
}

/// A text that takes no more than it may.
struct Bounded(String);

impl DemangleWrite for Bounded {
    fn write_string(&mut self, part: &str) -> std::fmt::Result {
        if self.0.len() + part.len() > DEMANGLED_MAX {
            return Err(std::fmt::Error);
        }
        self.0.push_str(part);
        Ok(())
    }
}

/// Whether `name` means the function called `mangled` in its module: it is that name, or that of the source with or without namespaces,
/// template arguments and parameters. White space does not matter.
pub fn is_called(mangled: &str, name: &str) -> bool {
    let same = |demangled: String| without_space(&demangled) == without_space(name);
    mangled == name
        || plain_name(mangled).is_some_and(|plain| {
            plain == name || name.contains(plain) && (qualified_name(mangled).is_some_and(same) || demangled(mangled).is_some_and(same))
        })
}

fn without_space(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// The name that CUDA C++ has for a variable: `coef` of `_ZN3abcL4coefE`, `full` of `_ZZ13ring_mbarrierE4full`. Other names stay as they
/// are.
pub fn source_name(name: &str) -> &str {
    match last_identifier(name) {
        Some((last, "" | "E")) => last,
        Some(_) | None => short_name(name),
    }
}

#[cfg(test)]
mod tests {
    use super::{demangled, is_called, plain_name, qualified_name, short_name, source_name};

    #[test]
    fn variables_of_functions_have_short_names() {
        assert_eq!(short_name("_ZZ13ring_mbarrierE4full"), "full");
        assert_eq!(short_name("_ZZ12smooth_asyncPKfPfiiE3buf"), "buf");
        assert_eq!(short_name("_ZZ1kE1E_0"), "E");
        assert_eq!(short_name("tile"), "tile");
        assert_eq!(short_name("_ZZ1"), "_ZZ1");
    }

    #[test]
    fn mangled_names_are_those_of_the_source() {
        for (mangled, name) in [
            ("coef", "coef"),
            ("_ZL4coef", "coef"),
            ("_ZN3abc4coefE", "coef"),
            ("_ZN12_GLOBAL__N_14coefE", "coef"),
            ("_ZN51_INTERNAL_0000_4_k_cu_L4coefE", "_ZN51_INTERNAL_0000_4_k_cu_L4coefE"),
            ("_ZZ1kvE5table", "table"),
            ("_Z", "_Z"),
        ] {
            assert_eq!(source_name(mangled), name, "{mangled}");
        }
    }

    #[test]
    fn names_are_found_in_mangled_ones() {
        for (mangled, plain) in [
            ("gemm", None),
            ("_ZN3lin4gemmIfEEvPT_", Some("gemm")),
            ("_Z4gemm3Foo", Some("gemm")),
            ("_ZN12_GLOBAL__N_1L4gemmEv", Some("gemm")),
            ("_Z4gemmPKfS0_Pfi", Some("gemm")),
            ("_Z4gemmIfLi16EEvPT_", Some("gemm")),
            ("_ZN3lin4gemmEPf", Some("gemm")),
            ("_ZN12_GLOBAL__N_14gemmIfEEvPT_", Some("gemm")),
            ("_ZL4gemmv", Some("gemm")),
            ("_Z", None),
            ("_Z99gemm", None),
            ("_Z99999999999999999999999x", None),
        ] {
            assert_eq!(plain_name(mangled), plain, "{mangled}");
        }
    }

    #[test]
    fn names_are_demangled() {
        // What c++filt 2.40 prints.
        for (mangled, whole, qualified) in [
            ("_Z5scaleIfEvPT_S0_i", Some("void scale<float>(float*, float, int)"), Some("scale<float>")),
            ("_ZN7filters6smoothEPKfPfi", Some("filters::smooth(float const*, float*, int)"), Some("filters::smooth")),
            ("total", None, None),
            ("_Z", None, None),
        ] {
            assert_eq!((demangled(mangled).as_deref(), qualified_name(mangled).as_deref()), (whole, qualified), "{mangled}");
        }
    }

    #[test]
    fn a_name_without_end_is_none() {
        let doubling = format!("_Z1f{}", (0..60).map(|_| "1AIS_S_E").collect::<String>());
        let long = format!("_Z1f3fooI{}E", "N1a1bE".repeat(2000));
        assert!([doubling, long].iter().all(|name| demangled(name).is_none_or(|text| text.len() <= 4096)));
    }

    #[test]
    fn a_kernel_is_meant_by_every_name_that_it_has() {
        let mangled = "_Z5scaleIfEvPT_S0_i";
        for name in [mangled, "scale", "scale<float>", "scale< float >", "void scale<float>(float*,float,int)"] {
            assert!(is_called(mangled, name), "{name}");
        }
        for name in ["scale<double>", "scal", "", "smooth"] {
            assert!(!is_called(mangled, name), "{name}");
        }
        assert!(is_called("_ZN7filters6smoothEPKfPfi", "filters::smooth") && is_called("total", "total") && !is_called("total", "tot"));
    }
}
