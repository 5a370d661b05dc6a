//! The `asm` statement as a whole: keyword, template, outputs, inputs, clobbers.

use super::cursor::Cursor;
use super::literal;
use super::operand::{Operand, Role};
use super::text::Text;
use crate::base::{Diagnostic, SourceFile, SourceId, Sources, Span};

/// An example of a statement, for messages.
const FORM: &str = r#"asm("add.s32 %0, %1, %2;" : "=r"(x) : "r"(3), "r"(4));"#;
/// The advice on two statements.
const ONE: &str = "one statement at a time; instructions that belong together go into one template, with ';' between them";
/// An example of operands, for messages.
const OPERANDS: &str = r#"outputs : inputs : clobbers, such as "=r"(x) : "r"(3), "r"(4) : "memory""#;

/// Keywords that begin a statement.
const KEYWORDS: &[&str] = &["asm", "__asm__", "__asm"];
/// Qualifiers between keyword and parenthesis.
const QUALIFIERS: &[&str] = &["volatile", "__volatile__", "__volatile", "inline", "__inline__"];

/// An `asm` statement.
#[derive(Clone, Debug)]
pub struct Statement {
    /// The template, with its escapes resolved.
    pub template: Text,
    /// The operands, outputs first.
    pub operands: Vec<Operand>,
    /// True if it has the clobber `"memory"`.
    pub clobbers_memory: bool,
    /// True if it is `volatile`; `None` for a template without `asm`.
    pub volatile: Option<bool>,
}

/// Parses a statement from one text (a whole statement, or the text inside its parentheses) or from two (template and operands). The texts
/// become files of `sources`. There is a statement if and only if no diagnostic is an error.
pub fn read(sources: &mut Sources, texts: &[String]) -> (Option<Statement>, Vec<Diagnostic>) {
    let names = if texts.len() > 1 { ["template", "constraints"] } else { ["asm statement"; 2] };
    let ids: Vec<SourceId> = texts.iter().zip(names).map(|(text, name)| sources.add(SourceFile::new(name, text.as_str()))).collect();
    let mut cursors = texts.iter().zip(&ids).map(|(text, id)| Cursor::new(*id, text));
    let Some(first) = cursors.next() else { return (None, Vec::new()) };
    let mut reader = Reader { operands: Vec::new(), clobbers_memory: false, volatile: None, diags: Vec::new() };
    let template = reader.statement(first, cursors.next());
    let template = template.map_err(|error| reader.diags.push(error)).ok();
    let Reader { operands, clobbers_memory, volatile, diags } = reader;
    let template = template.filter(|_| !diags.iter().any(Diagnostic::is_error));
    (template.map(|template| Statement { template, operands, clobbers_memory, volatile }), diags)
}

/// The parts of a statement read so far.
struct Reader {
    operands: Vec<Operand>,
    clobbers_memory: bool,
    volatile: Option<bool>,
    diags: Vec<Diagnostic>,
}

impl Reader {
    /// Reads the whole statement; returns the template.
    fn statement(&mut self, mut cursor: Cursor<'_>, operands: Option<Cursor<'_>>) -> Result<Text, Diagnostic> {
        let mut ahead = cursor;
        let template = if KEYWORDS.contains(&ahead.word()) && ahead.peek() != Some('.') {
            cursor = ahead;
            self.volatile = Some(qualifiers(&mut cursor)?);
            cursor.expect('(', FORM)?;
            let template = literal::strings(&mut cursor)?;
            self.sections(&mut cursor)?;
            cursor.expect(')', FORM)?;
            cursor.eat(';');
            template
        } else if cursor.peek() == Some('"') || cursor.rest().starts_with("R\"") {
            let template = literal::strings(&mut cursor)?;
            self.sections(&mut cursor)?;
            template
        } else {
            let mut template = Text::new(cursor.source(), cursor.at());
            literal::unescape(cursor.rest(), cursor.at(), &mut template);
            cursor.advance(cursor.rest().len());
            template
        };
        if cursor.peek().is_some() {
            let is_another = KEYWORDS.iter().any(|word| cursor.rest().starts_with(word));
            return Err(cursor.unexpected("nothing more", if is_another { ONE } else { FORM }));
        }
        let Some(mut cursor) = operands else { return Ok(template) };
        if !self.operands.is_empty() {
            let span = Span::new(cursor.source(), 0, cursor.rest().len() as u32);
            return Err(Diagnostic::error("syntax", span, "operands are given twice").with_help("leave the second word out"));
        }
        if !cursor.rest().contains('"') && !cursor.rest().trim().trim_matches(':').trim().is_empty() {
            self.shorthand(&cursor)?;
            return Ok(template);
        }
        if cursor.peek() == Some(':') {
            self.sections(&mut cursor)?;
        } else {
            self.after_colon(&mut cursor)?;
        }
        if cursor.peek().is_some() {
            return Err(cursor.unexpected("',' or ':'", OPERANDS));
        }
        Ok(template)
    }

    /// Reads `: outputs : inputs : clobbers`, each of which can be missing.
    fn sections(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Diagnostic> {
        if cursor.eat(':') { self.after_colon(cursor) } else { Ok(()) }
    }

    fn after_colon(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Diagnostic> {
        self.operands(cursor, true)?;
        if cursor.eat(':') {
            self.operands(cursor, false)?;
        }
        if cursor.eat(':') {
            self.clobbers(cursor)?;
        }
        Ok(())
    }

    fn operands(&mut self, cursor: &mut Cursor<'_>, is_output: bool) -> Result<(), Diagnostic> {
        if matches!(cursor.peek(), None | Some(':' | ')')) {
            return Ok(());
        }
        loop {
            self.operand(cursor, is_output)?;
            if !cursor.eat(',') {
                return Ok(());
            }
        }
    }

    /// Reads `"=r"(x)`, and `[name]` before it, which is ignored. A wrong constraint is reported, and reading continues.
    fn operand(&mut self, cursor: &mut Cursor<'_>, is_output: bool) -> Result<(), Diagnostic> {
        if cursor.eat('[') {
            cursor.word();
            cursor.expect(']', "[name] \"r\"(x)")?;
        }
        if !matches!(cursor.peek(), Some('"' | 'R')) {
            return Err(cursor.unexpected("an asm operand", OPERANDS));
        }
        let constraint = literal::strings(cursor)?;
        cursor.expect('(', "the expression stands in parentheses after the constraint: \"r\"(x)")?;
        let start = cursor.at();
        cursor.balanced();
        let expression = cursor.since(start);
        cursor.expect(')', "the expression ends with ')'")?;
        match Operand::new((constraint.as_str(), constraint.whole()), expression, is_output) {
            Ok(operand) => self.operands.push(Operand { span: constraint.whole().to(cursor.since(start).1), ..operand }),
            Err(error) => self.diags.push(error),
        }
        Ok(())
    }

    fn clobbers(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Diagnostic> {
        if matches!(cursor.peek(), None | Some(')')) {
            return Ok(());
        }
        loop {
            if cursor.peek() != Some('"') {
                return Err(cursor.unexpected("a register to clobber", "\"memory\" is the only one"));
            }
            let name = literal::strings(cursor)?;
            match name.as_str() {
                "memory" => self.clobbers_memory = true,
                "cc" => self.clobber_error(&name, "the clobber \"cc\" is not supported in device code".to_string()),
                other => self.clobber_error(&name, format!("unknown register name \"{other}\"")),
            }
            if !cursor.eat(',') {
                return Ok(());
            }
        }
    }

    fn clobber_error(&mut self, name: &Text, message: String) {
        let help = "device code can clobber \"memory\" alone: registers of its own are declared inside { }";
        self.diags.push(Diagnostic::error("clobber", name.whole(), message).with_help(help));
    }

    /// Reads the shorthand `=r, r=3, r=4`: constraint letters with values instead of expressions. A `:` may separate outputs from inputs.
    fn shorthand(&mut self, cursor: &Cursor<'_>) -> Result<(), Diagnostic> {
        let (text, source) = (cursor.rest(), cursor.source());
        let at = |part: &str| (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize) as u32;
        let span = |part: &str| Span::new(source, at(part), at(part) + part.len() as u32);
        for part in shorthand_operands(text) {
            let letters = part.trim_start_matches(['=', '+', '&']);
            let head = part.len() - letters.len();
            let length = letters.find('=').unwrap_or(letters.len());
            let constraint = part.get(..head + length).unwrap_or_default().trim_end();
            let value = letters.get(length + 1..).map(str::trim);
            if value == Some("") {
                return Err(Diagnostic::error("syntax", span(part), "the value is missing").with_help("r=3, f=1.5, l=u32[32]=iota"));
            }
            let is_output = part.starts_with(['=', '+']);
            if is_output && self.operands.iter().any(|operand| operand.role == Role::Input) {
                self.diags.push(Diagnostic::error("constraint", span(part), "outputs stand before inputs").with_help("=r, r=3, r=4"));
                continue;
            }
            let value = value.map(|value| (value, span(value)));
            match Operand::shorthand((constraint, span(constraint)), value, is_output) {
                Ok(operand) => self.operands.push(operand),
                Err(error) => self.diags.push(error),
            }
        }
        Ok(())
    }
}

/// Skips the qualifiers between keyword and parenthesis; true if `volatile` is among them.
fn qualifiers(cursor: &mut Cursor<'_>) -> Result<bool, Diagnostic> {
    let mut is_volatile = false;
    loop {
        cursor.skip_blank();
        let start = cursor.at();
        let word = cursor.word();
        if word.is_empty() {
            return Ok(is_volatile);
        }
        is_volatile |= word.contains("volatile");
        if !QUALIFIERS.contains(&word) {
            let error = Diagnostic::error("syntax", cursor.since(start).1, format!("'{word}' cannot stand here"));
            return Err(error.with_help("asm volatile(\"…\");"));
        }
    }
}

/// The operands of the shorthand. They are separated by colons, and by commas that a letter follows: a comma in a list of numbers does not
/// separate.
fn shorthand_operands(text: &str) -> Vec<&str> {
    let begins = |rest: &str| {
        let constraint = rest.trim_start().trim_start_matches(['=', '+', '&']);
        let is_numeric = constraint.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '.'));
        !is_numeric || constraint.len() < rest.trim_start().len()
    };
    let mut parts = Vec::new();
    let (mut start, mut depth) = (0, 0_u32);
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let has_value = text.get(start..at).is_some_and(|part| part.trim_start().trim_start_matches(['=', '+', '&']).contains('='));
        let separates = c == ':' || c == ',' && (!has_value || begins(text.get(at + 1..).unwrap_or_default()));
        if depth == 0 && separates {
            parts.push(text.get(start..at).unwrap_or_default().trim());
            start = at + 1;
        }
    }
    parts.push(text.get(start..).unwrap_or_default().trim());
    parts.into_iter().filter(|part| !part.is_empty()).collect()
}
