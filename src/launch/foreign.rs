//! Files that hold no PTX text, though a kernel may be in them: what they are, and how PTX is made of them.

use std::path::Path;

/// A kind of file that cannot be read as PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// What it is, with an article.
    pub what: &'static str,
    /// How to come by PTX; `FILE` stands for its name.
    pub help: &'static str,
    extensions: &'static [&'static str],
    /// Bytes that such a file starts with; none if it is text.
    magic: &'static [u8],
    /// Bytes from [`MACHINE_AT`] on, where the magic word is that of several kinds.
    machine: &'static [u8],
}

/// Where an ELF header names the machine (System V ABI, "ELF Header": `e_machine`).
const MACHINE_AT: usize = 18;
/// `e_machine` of code for NVIDIA GPUs: `EM_CUDA`, 190.
const EM_CUDA: &[u8] = &[190, 0];

const EXTRACT: &str = "extract its PTX with: cuobjdump -xptx all FILE";
const COMPILE: &str = "there is no PTX in it: compile its source to PTX with: nvcc -ptx -lineinfo KERNEL.cu";
const COMPILE_IR: &str = "compile it to PTX with: llc -march=nvptx64 -mcpu=sm_90 FILE -o kernel.ptx";

/// Every kind that is known. An executable may be of any extension, so bytes are looked at first.
const KINDS: &[Foreign] = &[
    Foreign { what: "LLVM bitcode", help: COMPILE_IR, extensions: &["bc"], magic: b"BC\xc0\xde", machine: b"" },
    Foreign { what: "a cubin: machine code of a GPU", help: COMPILE, extensions: &["cubin"], magic: b"\x7fELF", machine: EM_CUDA },
    Foreign { what: "an ELF file: an object or a program", help: EXTRACT, extensions: &["o", "so"], magic: b"\x7fELF", machine: b"" },
    Foreign { what: "a fat binary", help: EXTRACT, extensions: &["fatbin"], magic: b"\x50\xed\x55\xba", machine: b"" },
    Foreign { what: "an archive", help: EXTRACT, extensions: &["a", "lib"], magic: b"!<arch>\n", machine: b"" },
    Foreign { what: "a Windows program", help: EXTRACT, extensions: &["exe", "dll"], magic: b"MZ", machine: b"" },
    Foreign { what: "LLVM IR", help: COMPILE_IR, extensions: &["ll"], magic: b"", machine: b"" },
    Foreign {
        what: "Triton's intermediate code",
        help: "give the .ptx file that lies beside it in Triton's cache",
        extensions: &["ttir", "ttgir", "llir"],
        magic: b"",
        machine: b"",
    },
    Foreign {
        what: "Python",
        help: "run it, and give the .ptx file that Triton leaves in its cache, ~/.triton/cache",
        extensions: &["py"],
        magic: b"",
        machine: b"",
    },
    Foreign {
        what: "machine code as text",
        help: "give the PTX that it was assembled from",
        extensions: &["sass"],
        magic: b"",
        machine: b"",
    },
];

/// What the file at `path` is that starts with the bytes `head`, if it is one of the kinds known here.
pub fn foreign(path: &Path, head: &[u8]) -> Option<Foreign> {
    let machine = head.get(MACHINE_AT..).unwrap_or(b"");
    let by_bytes = KINDS.iter().find(|kind| !kind.magic.is_empty() && head.starts_with(kind.magic) && machine.starts_with(kind.machine));
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
        assert_eq!(what("app", b"\x7fELF\x02"), Some("an ELF file: an object or a program"));
        let cubin = [&b"\x7fELF\x02\x01\x01\x41\x08"[..], &[0; 7], &[2, 0, 190, 0]].concat();
        assert_eq!(what("kernel", &cubin), Some("a cubin: machine code of a GPU"));
        assert_eq!(what("k.cubin", b""), Some("a cubin: machine code of a GPU"));
        assert_eq!(what("k.ptx", b"\x50\xed\x55\xba"), Some("a fat binary"));
        assert_eq!(what("k.LL", b"; ModuleID"), Some("LLVM IR"));
        assert_eq!(what("k.ptx", b".version 9.0"), None);
        assert_eq!(what("k", b""), None);
    }

    #[test]
    fn the_message_names_the_file_and_a_way_out() {
        let kind = foreign(Path::new("a/k.cubin"), b"").unwrap();
        let expected = "a/k.cubin is a cubin: machine code of a GPU, not PTX text; there is no PTX in it: compile its source to PTX with: \
            nvcc -ptx -lineinfo KERNEL.cu";
        assert_eq!(kind.message(Path::new("a/k.cubin")), expected);
        let object = foreign(Path::new("a.o"), b"").unwrap();
        assert!(object.message(Path::new("a.o")).ends_with("; extract its PTX with: cuobjdump -xptx all a.o"));
    }
}
