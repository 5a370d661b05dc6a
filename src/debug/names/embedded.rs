//! The source text that a compiler wrote into the PTX: `nvcc -src-in-ptx` puts the lines of the source before the instructions made
//! from them, as comments like `//saxpy.cu:12     y[i] = a * x[i];`.

use std::path::Path;

/// Lines that a source text may have; a number past it is no line of a program.
const LINES: usize = 1 << 20;

/// The source text called `name` as far as the PTX text `ptx` holds it: what it does not hold is an empty line. None if it holds none.
pub fn embedded(ptx: &str, name: &str) -> Option<String> {
    let name = Path::new(name).file_name()?.to_str()?;
    let mut lines: Vec<&str> = Vec::new();
    for (number, text) in ptx.lines().filter_map(|line| source_line(line, name)) {
        if lines.len() < number {
            lines.resize(number, "");
        }
        lines[number - 1] = text;
    }
    (!lines.is_empty()).then(|| lines.join("\n") + "\n")
}

/// The number, from 1, and the text of the line that a comment holds.
fn source_line<'a>(comment: &'a str, name: &str) -> Option<(usize, &'a str)> {
    let rest = comment.strip_prefix("//")?.strip_prefix(name)?.strip_prefix(':')?;
    let (number, text) = rest.split_once(' ')?;
    let number = number.parse().ok().filter(|number| (1..=LINES).contains(number))?;
    Some((number, text))
}

#[cfg(test)]
mod tests {
    use super::embedded;

    const PTX: &str = "\
//two.cu:3 __global__ void k(int *p)
\t.loc\t1 3 0
//two.cu:5     p[0] = 1;
\tmov.u32 %r1, 1; //two.cu:6 is no line of its own
//one.cu:1 int other;
//two.cu:0 nothing
//two.cu:99999999999999999999 nothing
//two.cu:x nothing
";

    #[test]
    fn lines_stand_where_their_numbers_say() {
        let text = embedded(PTX, "/somewhere/two.cu");
        assert_eq!(text.as_deref(), Some("\n\n__global__ void k(int *p)\n\n    p[0] = 1;\n"));
    }

    #[test]
    fn a_text_that_is_not_there_is_none() {
        assert_eq!(embedded(PTX, "three.cu"), None);
        assert_eq!(embedded(PTX, ""), None);
    }
}
