//! A kernel and a launch file whose texts would act on a terminal: what it prints, a comment, the name of a buffer and that of its file.

use std::path::{Path, PathBuf};

/// What the kernel prints: sets the title of the terminal and the colour, and is no UTF-8.
pub const PRINTED: &[u8] = b"\x1b]0;taken\x07\x1b[31m\xff\xc2\x9b2J\n";
/// What a terminal must not get: the beginning of a command, its C1 form in UTF-8, an override of direction, a bell.
pub const ACTING: &[&[u8]] = &[b"\x1b]0;", b"\x1b[31m", b"\x1b[2J!", "\u{9b}".as_bytes(), "\u{202e}".as_bytes(), b"\x07"];

/// The launch file, in `folder`.
pub fn files(folder: &Path) -> PathBuf {
    let folder = folder.join("a\x1b]0;b\u{202e}");
    std::fs::create_dir_all(&folder).unwrap();
    let bytes: Vec<String> = PRINTED.iter().chain(&[0]).map(u8::to_string).collect();
    let kernel = format!(
        "// \u{9b}2J \u{202e}txet
.version 8.0
.target sm_80
.address_size 64

.extern .func (.param .b32 done) vprintf (.param .b64 format, .param .b64 values);
.global .align 1 .b8 text[{}] = {{{}}};

.visible .entry hostile(.param .b64 out)
{{
    .reg .b32 %r<4>; // \u{9b}2J \u{202e}txet \u{7f}
    .reg .b64 %rd<4>;

    ld.param.u64 %rd1, [out]; // \u{202e}daol
    mov.u64 %rd2, text;
    cvta.global.u64 %rd3, %rd2;
    {{
        .param .b64 format;
        .param .b64 values;
        .param .b32 done;
        st.param.b64 [format], %rd3;
        st.param.b64 [values], 0;
        call.uni (done), vprintf, (format, values);
        ld.param.b32 %r1, [done];
    }}
    st.global.u32 [%rd1], %r1; // \u{9b}2J
    ret;
}}
",
        bytes.len(),
        bytes.join(", ")
    );
    std::fs::write(folder.join("hostile.ptx"), kernel).unwrap();
    let launch = folder.join("hostile.ron");
    let text = r#"Launch(module: "hostile.ptx", kernel: "hostile", grid: (1, 1, 1), block: (1, 1, 1),
    params: [Buffer(name: "out\u{1b}]0;x\u{7}\u{202e}", elem: U32, len: 4, init: Zero)])
"#;
    std::fs::write(&launch, text).unwrap();
    launch
}

/// What of [`ACTING`] is in `written`.
pub fn acting(written: &[u8]) -> Vec<String> {
    let is_in = |bytes: &&&[u8]| written.windows(bytes.len()).any(|window| window == **bytes);
    ACTING.iter().filter(is_in).map(|bytes| String::from_utf8_lossy(bytes).escape_debug().to_string()).collect()
}
