//! A kernel as large as they come: 2,000 registers, 200 branches, and blocks of 32 warps.

use std::path::{Path, PathBuf};

const REGISTERS: u32 = 2000;

/// Writes the kernel and its launch file to a folder; the launch file.
pub fn wide_kernel(folder: &Path) -> std::io::Result<PathBuf> {
    let branch = |number| match number % 10 {
        0 => format!("setp.ne.u32 %p1, %r0, {number};\n@%p1 bra L{number};\nadd.u32 %r1, %r1, 1;\nL{number}:\n"),
        _ => String::new(),
    };
    let add = |number| format!("{}add.u32 %r{number}, %r{}, %r0;\n", branch(number), number / 2);
    let body: String = (1..REGISTERS).map(add).collect();
    let head = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry wide()\n{{\n.reg .u32 %r<{REGISTERS}>;\n.reg .pred %p<2>;\n\
         .shared .u32 tile[4096];\nmov.u32 %r0, %tid.x;\n"
    );
    std::fs::write(folder.join("wide.ptx"), format!("{head}{body}st.shared.u32 [tile], %r1;\nret;\n}}\n"))?;
    let launch = r#"Launch(module: "wide.ptx", kernel: "wide", grid: (64, 1, 1), block: (1024, 1, 1), params: [])"#;
    let path = folder.join("wide.ron");
    std::fs::write(&path, launch)?;
    Ok(path)
}
