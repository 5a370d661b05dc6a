//! Kinds of files that may have a kernel but no PTX text, and how to get PTX from them.

use std::path::Path;

/// A kind of file that cannot be read as PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// A noun for it, with an article.
    pub what: &'static str,
    /// How to get PTX; `FILE` stands for its name.
    pub help: &'static str,
    extensions: &'static [&'static str],
    /// Bytes that the file starts with; empty for text.
    magic: &'static [u8],
}

const UNPACK: &str = "unpack it, and give the program, the library or the PTX that is in it";
const COMPILE_IR: &str = "compile it to PTX with: llc -march=nvptx64 -mcpu=sm_90 FILE -o kernel.ptx";

/// Every known kind; the first bytes take precedence over the extension.
const KINDS: &[Foreign] = &[
    Foreign { what: "LLVM bitcode", help: COMPILE_IR, extensions: &["bc"], magic: b"BC\xc0\xde" },
    Foreign { what: "a zip archive", help: UNPACK, extensions: &["zip", "whl"], magic: b"PK\x03\x04" },
    Foreign { what: "packed with gzip", help: UNPACK, extensions: &["gz", "tgz"], magic: b"\x1f\x8b" },
    Foreign { what: "packed with xz", help: UNPACK, extensions: &["xz"], magic: b"\xfd7zXZ\0" },
    Foreign { what: "packed with bzip2", help: UNPACK, extensions: &["bz2"], magic: b"BZh" },
    Foreign { what: "a tar archive", help: UNPACK, extensions: &["tar"], magic: b"" },
    Foreign { what: "LLVM IR", help: COMPILE_IR, extensions: &["ll"], magic: b"" },
    Foreign {
        what: "Triton's intermediate code",
        help: "give the .ptx file that lies beside it in Triton's cache",
        extensions: &["ttir", "ttgir", "llir"],
        magic: b"",
    },
    Foreign {
        what: "Python",
        help: "run it, and give the .ptx file that Triton leaves in its cache, ~/.triton/cache",
        extensions: &["py"],
        magic: b"",
    },
    Foreign { what: "machine code as text", help: "give the PTX that it was assembled from", extensions: &["sass"], magic: b"" },
];

/// The kind of the file at `path`, which starts with the bytes `head`, if it is in `KINDS`.
pub fn foreign(path: &Path, head: &[u8]) -> Option<Foreign> {
    let by_bytes = KINDS.iter().find(|kind| !kind.magic.is_empty() && head.starts_with(kind.magic));
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("").to_ascii_lowercase();
    let by_name = || KINDS.iter().find(|kind| kind.extensions.contains(&extension.as_str()));
    by_bytes.or_else(by_name).copied()
}

impl Foreign {
    /// Why the file at `path` cannot be read, and what to do.
    pub fn message(&self, path: &Path) -> String {
        let name = path.display().to_string();
        format!("{name} is {}, not PTX text; {}", self.what, self.help.replace("FILE", &name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_say_more_than_names() {
        let what = |name: &str, head: &[u8]| foreign(Path::new(name), head).map(|kind| kind.what);
        assert_eq!(what("k.ptx", b"BC\xc0\xde\x35"), Some("LLVM bitcode"));
        assert_eq!(what("k.LL", b"; ModuleID"), Some("LLVM IR"));
        assert_eq!(what("k.ptx", b".version 9.0"), None);
        assert_eq!(what("k", b""), None);
    }

    #[test]
    fn the_message_names_the_file_and_a_way_out() {
        let kind = foreign(Path::new("a/k.ll"), b"").unwrap();
        let expected = "a/k.ll is LLVM IR, not PTX text; compile it to PTX with: llc -march=nvptx64 -mcpu=sm_90 a/k.ll -o kernel.ptx";
        assert_eq!(kind.message(Path::new("a/k.ll")), expected);
    }
}
