//! PTX as a row of words: what is needed to see which kernels a module has without reading it as a whole.

/// The words of a PTX text: names with their dots and percent signs, numbers, and single signs. Comments and strings are left out.
pub struct Words<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Words<'a> {
    /// The words of `text`.
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Where the words end that were taken so far.
    pub fn position(&self) -> usize {
        self.at
    }

    /// The next word, which stays the next one.
    pub fn peek(&mut self) -> Option<&'a str> {
        let at = self.at;
        let word = self.next();
        self.at = at;
        word
    }

    fn skip_past(&mut self, end: &str) {
        self.at = self.text[self.at..].find(end).map_or(self.text.len(), |found| self.at + found + end.len());
    }

    /// Skips white space, comments and strings.
    fn skip(&mut self) {
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(self.at..) {
                Some([b'/', b'/', ..]) => self.skip_past("\n"),
                Some([b'/', b'*', ..]) => {
                    self.at += 2;
                    self.skip_past("*/");
                }
                Some([b'"', ..]) => {
                    self.at += 1;
                    self.skip_past("\"");
                }
                Some([byte, ..]) if byte.is_ascii_whitespace() => self.at += 1,
                Some(_) | None => return,
            }
        }
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        self.skip();
        let rest = &self.text[self.at..];
        let length = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'%' | b'.')).count();
        let length = if length > 0 { length } else { rest.chars().next()?.len_utf8() };
        self.at += length;
        Some(&rest[..length])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_strings_are_no_words() {
        let text = "ld.global [%rd1+4]; // no\n/* no */ .file 1 \"a b\" §x /* open";
        let words: Vec<&str> = Words::new(text).collect();
        assert_eq!(words, ["ld.global", "[", "%rd1", "+", "4", "]", ";", ".file", "1", "§", "x"]);
    }
}
