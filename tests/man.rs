//! Holds `man/ptxdbg.1` to the command line. `PTXDBG_BLESS=1 cargo test --test man` writes it anew.

use std::path::Path;

/// What the command line does not know: the page's last sections.
const ENDING: &str = r#".SH EXIT STATUS
.TP
\fB0\fR
All is well; nothing is printed to standard error.
.TP
\fB1\fR
Something is wrong with the kernel: a diagnostic of severity error, a fault, or a value that is not what the launch file expects.
.TP
\fB2\fR
The command line or a file could not be used.
.SH EXAMPLES
.TP
\fBptxdbg \-\-check kernel.ptx\fR
Report all mistakes in a file.
.TP
\fBptxdbg \-\-batch kernel.ptx\fR
Run a kernel as kernel.ron says, or as well as can be guessed.
.TP
\fBptxdbg \-\-verify \-l a.ron \-l b.ron\fR
Run all launches of both files and compare the buffers.
.SH SEE ALSO
\fBptxdbg\-launch\fR(5)
"#;

#[test]
fn the_manual_page_is_what_the_command_line_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("man/ptxdbg.1");
    let page = manual_page().unwrap();
    if std::env::var_os("PTXDBG_BLESS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(written, page, "the command line has changed: run PTXDBG_BLESS=1 cargo test --test man");
}

fn manual_page() -> std::io::Result<String> {
    let man = clap_mangen::Man::new(ptxdbg::args::command()).date("");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    Ok(String::from_utf8_lossy(&page).into_owned() + ENDING)
}
