//! Archives of objects: `lib.a`, and `.lib` on Windows.
//!
//! A file is a sequence of members after 8 magic bytes, each with a header of 60 bytes: a name, and its size in decimal. Long names are
//! in a member called `//` (System V, GNU, Windows) or before the bytes of the member (BSD).

use std::ops::Range;

use super::input::Input;

/// Magic of an archive.
pub const MAGIC: &[u8] = b"!<arch>\n";
/// Magic of a thin archive, which names files instead of containing members.
pub const THIN: &[u8] = b"!<thin>\n";

const HEADER: u64 = 60;
/// The end of a member's header.
const END: &[u8] = b"`\n";
/// Bytes that are read at a time when the next header is searched.
const SEARCH: u64 = 1 << 20;
/// Maximum of damaged members, after which the search ends.
const PROBLEMS_MAX: usize = 100;
/// Maximum bytes of the names of all members.
const NAMES_BYTES: u64 = 64 << 20;

/// A member of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// Its byte range in the file.
    pub bytes: Range<u64>,
}

/// The members of the archive in `region` of `input`, in order, and its defects: offsets and descriptions. After a damaged member the
/// next header is searched; a truncated member has the rest of the file.
pub fn members(input: &mut Input, region: Range<u64>) -> (Vec<Member>, Vec<(u64, String)>) {
    let (mut members, mut problems, mut names) = (Vec::new(), Vec::new(), Vec::new());
    let mut at = region.start + MAGIC.len() as u64;
    while at < region.end {
        match member(input, at..region.end, &mut names) {
            Ok((member, next)) => {
                members.extend(member);
                at = next;
            }
            Err(why) => {
                problems.push((at, why));
                let next = if problems.len() < PROBLEMS_MAX { next_header(input, at + 1..region.end) } else { None };
                if next.is_none() && at + HEADER < region.end {
                    members.push(Member { name: name_of_damaged(input, at, &names), bytes: at + HEADER..region.end });
                }
                at = next.unwrap_or(region.end);
            }
        }
    }
    (members, problems)
}

/// The name of the damaged member with the header at `at`.
fn name_of_damaged(input: &mut Input, at: u64, names: &[u8]) -> String {
    let own = input.read(at..at + 16).unwrap_or_default();
    let name = match own.trim_ascii_end() {
        [b'/', offset @ ..] => decimal(offset).and_then(|offset| long_name(names, offset).ok()),
        [b'#', ..] => None,
        own => Some(text(own.strip_suffix(b"/").unwrap_or(own))),
    };
    name.filter(|name| !name.is_empty()).unwrap_or_else(|| "a damaged member".to_string())
}

/// Offset of the next member's header in `region`, recognized by its end and its size.
fn next_header(input: &mut Input, region: Range<u64>) -> Option<u64> {
    let mut at = region.start;
    while at + HEADER <= region.end {
        let end = region.end.min(at + SEARCH);
        let bytes = input.read(at..end).ok()?;
        let fits = |offset: usize| {
            let header = &bytes[offset..offset + HEADER as usize];
            let left = region.end - at - offset as u64 - HEADER;
            header.ends_with(END) && header.is_ascii() && decimal(&header[48..58]).is_some_and(|size| size <= left)
        };
        if let Some(offset) = (0..=bytes.len() - HEADER as usize).find(|offset| fits(*offset)) {
            return Some(at + offset as u64);
        }
        at = if end == region.end { end } else { end - HEADER + 1 };
    }
    None
}

/// The member with its header at the start of `region`, unless it is an index of the archive, and the offset of the next one.
fn member(input: &mut Input, region: Range<u64>, names: &mut Vec<u8>) -> Result<(Option<Member>, u64), String> {
    let (at, left) = (region.start, region.end - region.start);
    if left < HEADER {
        return Err(format!("{left} bytes are left, and the header of a member has {HEADER}"));
    }
    let header = input.read(at..at + HEADER)?;
    if !header.ends_with(END) {
        return Err("this is not the header of a member".to_string());
    }
    let size = decimal(&header[48..58]).ok_or("the size of the member is no number")?;
    let start = at + HEADER;
    let end = start.checked_add(size).filter(|end| *end <= region.end);
    let end = end.ok_or_else(|| format!("the member says that it has {size} bytes, and {} are left", left - HEADER))?;
    let own = header[..16].trim_ascii_end();
    let mut bytes = start..end;
    let name = match own {
        b"/" | b"/SYM64/" | b"__.SYMDEF" | b"__.SYMDEF SORTED" => None,
        b"//" => {
            *names = input.read(start..end.min(start + NAMES_BYTES))?;
            None
        }
        [b'/', offset @ ..] if decimal(offset).is_some() => Some(long_name(names, decimal(offset).unwrap_or(0))?),
        [b'#', b'1', b'/', length @ ..] => {
            let length = decimal(length).filter(|length| *length <= size.min(NAMES_BYTES));
            let length = length.ok_or("the length of the member's name is wrong")?;
            bytes.start += length;
            Some(text(&input.read(start..start + length)?))
        }
        own => Some(text(own.strip_suffix(b"/").unwrap_or(own))),
    };
    let is_table = name.as_deref().is_some_and(|name| name.starts_with("__.SYMDEF"));
    let member = name.filter(|_| !is_table).map(|name| Member { name, bytes });
    Ok((member, end + end % 2))
}

/// The name at `offset` of the member with long names: up to `/`, a line's end or a zero.
fn long_name(names: &[u8], offset: u64) -> Result<String, String> {
    let from = usize::try_from(offset).ok().and_then(|offset| names.get(offset..));
    let from = from.filter(|from| !from.is_empty()).ok_or_else(|| format!("there is no long name at {offset}"))?;
    let end = from.iter().position(|byte| matches!(byte, b'\n' | 0)).unwrap_or(from.len());
    Ok(text(from[..end].strip_suffix(b"/").unwrap_or(&from[..end])))
}

fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

fn decimal(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits.trim_ascii()).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(name: &str, size: usize) -> String {
        format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 0, 0, 0, 644)
    }

    type Read = Vec<(String, Vec<u8>)>;

    fn names(bytes: &[u8]) -> (Read, Vec<(u64, String)>) {
        let mut input = Input::of_bytes(bytes.to_vec());
        let (members, problems) = members(&mut input, 0..bytes.len() as u64);
        (members.into_iter().map(|member| (member.name, input.read(member.bytes).unwrap())).collect(), problems)
    }

    #[test]
    fn names_are_read_in_every_way_there_is() {
        let long = "a_rather_long_name_of_an_object.o/\nother.obj\0";
        let parts = [
            "!<arch>\n".to_string(),
            header("/", 4) + "\0\0\0\0",
            header("//", long.len()) + long + if long.len() % 2 == 1 { "\n" } else { "" },
            header("short.o/", 3) + "abc\n",
            header("/0", 2) + "de",
            header("/35", 2) + "fg",
            header("#1/8", 11) + "bsd.o\0\0\0hij\n",
        ];
        let (found, problem) = names(parts.concat().as_bytes());
        let expected = [("short.o", "abc"), ("a_rather_long_name_of_an_object.o", "de"), ("other.obj", "fg"), ("bsd.o", "hij")]
            .map(|(name, bytes)| (name.to_string(), bytes.as_bytes().to_vec()));
        assert_eq!((found, problem), (expected.to_vec(), Vec::new()));
    }

    #[test]
    fn what_lies_around_damage_is_kept() {
        let text = ["!<arch>\n".to_string(), header("a.o/", 2) + "ab", header("b.o/", 99) + "cd"].concat();
        let (found, problems) = names(text.as_bytes());
        assert_eq!(found, [("a.o".to_string(), b"ab".to_vec()), ("b.o".to_string(), b"cd".to_vec())]);
        assert_eq!(problems, [(70, "the member says that it has 99 bytes, and 2 are left".to_string())]);
        assert_eq!(names(b"!<arch>\nabc").1, [(8, "3 bytes are left, and the header of a member has 60".to_string())]);
        let text = ["!<arch>\n".to_string(), header("a.o/", 2).replace('`', "x") + "ab", header("b.o/", 2) + "cd"].concat();
        let (found, problems) = names(text.as_bytes());
        assert_eq!(found, [("b.o".to_string(), b"cd".to_vec())]);
        assert_eq!(problems, [(8, "this is not the header of a member".to_string())]);
    }
}
