//! The parser of the notation of rows (described in `form`), and its named sets of modifiers.

use super::form::{Form, Modifier, ModifierSlot, OperandForm, OperandRole, OperandType, RegisterCount, Row};
use super::{ScalarType, Space};

/// Sets of modifiers that many rows share, written `<name>` in a slot.
#[rustfmt::skip]
const SETS: &[(&str, &str)] = &[
    ("round", ".rn|.rz|.rm|.rp"),
    ("round_single", ".rn|.rz|.rm{1.0,20}|.rp{1.0,20}"),
    ("round_double", ".rn|.rz{1.0,20}|.rm{1.0,20}|.rp{1.0,20}"),
    ("round_int", ".rni|.rzi|.rmi|.rpi"),
    ("cmp_float", ".eq|.ne|.lt|.le|.gt|.ge|.equ|.neu|.ltu|.leu|.gtu|.geu|.num|.nan"),
    ("cmp_unsigned", ".eq|.ne|.lt|.le|.gt|.ge|.lo|.ls|.hi|.hs"),
    ("cmp_signed", ".eq|.ne|.lt|.le|.gt|.ge"),
    ("cmp_bits", ".eq|.ne"),
    ("bool", ".and|.or|.xor"),
    ("int", ".u16|.u32|.u64|.s16|.s32|.s64"),
    ("int8", ".u8|.u16|.u32|.u64|.s8|.s16|.s32|.s64"),
    ("set_to", ".u32|.s32|.f32|.f16{4.2,53}|.bf16{7.8,90}"),
    ("signed8", ".s8|.s16|.s32|.s64"),
    ("unsigned8", ".u8|.u16|.u32|.u64"),
    ("bits", ".b16|.b32|.b64"),
    ("data", ".b16|.b32|.b64|.u16|.u32|.u64|.s16|.s32|.s64|.f32|.f64"),
    ("memory", ".b8|.b16|.b32|.b64|.u8|.u16|.u32|.u64|.s8|.s16|.s32|.s64|.f32|.f64"),
    ("atom_order", ".relaxed{6.0,70}|.acquire{6.0,70}|.release{6.0,70}|.acq_rel{6.0,70}"),
    ("red_order", ".relaxed{6.0,70}|.release{6.0,70}"),
    ("atom_scope", ".cta{5.0,60}|.cluster{7.8,90}|.gpu{5.0,60}|.sys{5.0,60}"),
    ("atom_space", ".global|.shared{1.2,12}|.shared::cta{7.8,20}|.shared::cluster{7.8,90}"),
    ("carry", ".u32|.s32|.u64{4.3,20}|.s64{4.3,20}"),
    ("carried", ".u32|.s32|.u64|.s64"),
    ("scope", ".cta|.cluster{7.8,90}|.gpu|.sys"),
    ("shared", ".shared|.shared::cta{7.8,20}|.shared::cluster{7.8,90}"),
    ("param", ".param|.param::entry{8.3,70}|.param::func{8.3,70}"),
    ("evict", ".L1::evict_normal{7.4,70}|.L1::evict_unchanged{7.4,70}|.L1::evict_first{7.4,70}|.L1::evict_last{7.4,70}|\
        .L1::no_allocate{7.4,70}"),
    ("cop", ".ca{2.0,20}|.cg{2.0,20}|.cs{2.0,20}|.lu{2.0,20}|.cv{2.0,20}"),
    ("vector", ".v2|.v4|.v8"),
    ("evict_l2", ".L2::evict_last{8.8,100}|.L2::evict_normal{8.8,100}|.L2::evict_first{8.8,100}"),
    ("policy", ".L2::evict_last|.L2::evict_normal|.L2::evict_first|.L2::evict_unchanged"),
    ("geometry", ".1d|.2d|.3d|.a1d{2.3,0}|.a2d{2.3,0}|.cube{3.0,20}|.acube{3.0,20}"),
    ("surface", ".1d|.2d|.3d{3.0,20}|.a1d{3.0,20}|.a2d{3.0,20}"),
    ("surface_cop", ".ca|.cg|.cs|.cv"),
    ("bounds", ".trap|.clamp|.zero"),
    ("dims", ".1d|.2d|.3d|.4d|.5d"),
    ("bitwise", ".and|.or|.xor"),
    ("m64k16", ".m64n8k16|.m64n16k16|.m64n24k16|.m64n32k16|.m64n40k16|.m64n48k16|.m64n56k16|.m64n64k16|.m64n72k16|.m64n80k16\
        |.m64n88k16|.m64n96k16|.m64n104k16|.m64n112k16|.m64n120k16|.m64n128k16|.m64n136k16|.m64n144k16|.m64n152k16\
        |.m64n160k16|.m64n168k16|.m64n176k16|.m64n184k16|.m64n192k16|.m64n200k16|.m64n208k16|.m64n216k16|.m64n224k16\
        |.m64n232k16|.m64n240k16|.m64n248k16|.m64n256k16"),
    ("m64k8", ".m64n8k8|.m64n16k8|.m64n24k8|.m64n32k8|.m64n40k8|.m64n48k8|.m64n56k8|.m64n64k8|.m64n72k8|.m64n80k8|.m64n88k8\
        |.m64n96k8|.m64n104k8|.m64n112k8|.m64n120k8|.m64n128k8|.m64n136k8|.m64n144k8|.m64n152k8|.m64n160k8|.m64n168k8\
        |.m64n176k8|.m64n184k8|.m64n192k8|.m64n200k8|.m64n208k8|.m64n216k8|.m64n224k8|.m64n232k8|.m64n240k8|.m64n248k8\
        |.m64n256k8"),
    ("m64k32", ".m64n8k32|.m64n16k32|.m64n24k32|.m64n32k32|.m64n40k32|.m64n48k32|.m64n56k32|.m64n64k32|.m64n72k32|.m64n80k32\
        |.m64n88k32|.m64n96k32|.m64n104k32|.m64n112k32|.m64n120k32|.m64n128k32|.m64n136k32|.m64n144k32|.m64n152k32\
        |.m64n160k32|.m64n168k32|.m64n176k32|.m64n184k32|.m64n192k32|.m64n200k32|.m64n208k32|.m64n216k32|.m64n224k32\
        |.m64n232k32|.m64n240k32|.m64n248k32|.m64n256k32"),
    ("m64k32i", ".m64n8k32|.m64n16k32|.m64n24k32|.m64n32k32|.m64n48k32|.m64n64k32|.m64n80k32|.m64n96k32|.m64n112k32|.m64n128k32\
        |.m64n144k32|.m64n160k32|.m64n176k32|.m64n192k32|.m64n208k32|.m64n224k32|.m64n240k32|.m64n256k32"),
    ("m64k256", ".m64n8k256|.m64n16k256|.m64n24k256|.m64n32k256|.m64n48k256|.m64n64k256|.m64n80k256|.m64n96k256|.m64n112k256\
        |.m64n128k256|.m64n144k256|.m64n160k256|.m64n176k256|.m64n192k256|.m64n208k256|.m64n224k256|.m64n240k256\
        |.m64n256k256"),
    ("m64sp32", ".m64n8k32|.m64n16k32|.m64n24k32|.m64n32k32|.m64n40k32|.m64n48k32|.m64n56k32|.m64n64k32|.m64n72k32|.m64n80k32\
        |.m64n88k32|.m64n96k32|.m64n104k32|.m64n112k32|.m64n120k32|.m64n128k32|.m64n136k32|.m64n144k32|.m64n152k32\
        |.m64n160k32|.m64n168k32|.m64n176k32|.m64n184k32|.m64n192k32|.m64n200k32|.m64n208k32|.m64n216k32|.m64n224k32\
        |.m64n232k32|.m64n240k32|.m64n248k32|.m64n256k32"),
    ("m64sp16", ".m64n8k16|.m64n16k16|.m64n24k16|.m64n32k16|.m64n40k16|.m64n48k16|.m64n56k16|.m64n64k16|.m64n72k16|.m64n80k16\
        |.m64n88k16|.m64n96k16|.m64n104k16|.m64n112k16|.m64n120k16|.m64n128k16|.m64n136k16|.m64n144k16|.m64n152k16\
        |.m64n160k16|.m64n168k16|.m64n176k16|.m64n184k16|.m64n192k16|.m64n200k16|.m64n208k16|.m64n216k16|.m64n224k16\
        |.m64n232k16|.m64n240k16|.m64n248k16|.m64n256k16"),
    ("m64sp64", ".m64n8k64|.m64n16k64|.m64n24k64|.m64n32k64|.m64n40k64|.m64n48k64|.m64n56k64|.m64n64k64|.m64n72k64|.m64n80k64\
        |.m64n88k64|.m64n96k64|.m64n104k64|.m64n112k64|.m64n120k64|.m64n128k64|.m64n136k64|.m64n144k64|.m64n152k64\
        |.m64n160k64|.m64n168k64|.m64n176k64|.m64n184k64|.m64n192k64|.m64n200k64|.m64n208k64|.m64n216k64|.m64n224k64\
        |.m64n232k64|.m64n240k64|.m64n248k64|.m64n256k64"),
    ("m64sp64i", ".m64n8k64|.m64n16k64|.m64n24k64|.m64n32k64|.m64n48k64|.m64n64k64|.m64n80k64|.m64n96k64|.m64n112k64|.m64n128k64\
        |.m64n144k64|.m64n160k64|.m64n176k64|.m64n192k64|.m64n208k64|.m64n224k64|.m64n240k64|.m64n256k64"),
    ("prefetch", ".L2::64B{7.4,75}|.L2::128B{7.4,75}|.L2::256B{7.4,80}"),
];

/// Parses `row`.
///
/// # Panics
/// If the row does not follow the notation, which the tests of the table exclude.
pub(super) fn read(row: &'static Row) -> Form {
    let (words, operands) = row.syntax.split_once(char::is_whitespace).unwrap_or((row.syntax, ""));
    let end = words.find(['.', '-', '(', '[']).unwrap_or(words.len());
    let (opcode, rest) = words.split_at(end);
    let any_modifiers = rest.ends_with(".*");
    let slots = slots(rest.trim_end_matches(".*"));
    let operands = operands.trim();
    let any_operands = operands == "...";
    let operands =
        if any_operands { Vec::new() } else { split_operands(operands).map(|(text, optional)| operand(text, optional)).collect() };
    Form { row, opcode, slots, any_modifiers, operands, any_operands }
}

/// Parses the slots in `-name.modifier(.a|.b)[.c]`.
fn slots(mut rest: &'static str) -> Vec<ModifierSlot> {
    let mut slots = Vec::new();
    while let Some(first) = rest.chars().next() {
        let (inner, end, required) = match first {
            '(' => (&rest[1..], ')', true),
            '[' => (&rest[1..], ']', false),
            _ => {
                let end = rest[1..].find(['.', '-', '(', '[']).map_or(rest.len(), |at| at + 1);
                slots.push(ModifierSlot { modifiers: vec![modifier(&rest[..end])], required: true, in_name: first == '-' });
                rest = &rest[end..];
                continue;
            }
        };
        let close = inner.find(end).unwrap_or_else(|| fault("unclosed place in", rest));
        let in_name = inner.starts_with('-');
        slots.push(ModifierSlot { modifiers: inner[..close].split('|').flat_map(modifiers).collect(), required, in_name });
        rest = &inner[close + 1..];
    }
    slots
}

/// The modifier or the set of modifiers that `text` denotes.
fn modifiers(text: &'static str) -> Vec<Modifier> {
    match text.strip_prefix('<') {
        None => vec![modifier(text)],
        Some(name) => {
            let name = name.trim_end_matches('>');
            let set = SETS.iter().find(|set| set.0 == name).unwrap_or_else(|| fault("no set called", name));
            set.1.split('|').map(modifier).collect()
        }
    }
}

/// PTX version and target that a modifier needs unless a row says otherwise.
const NEEDS: &[(&str, (&str, &str))] = &[("ftz", ("1.4", "0"))];

/// Parses `.relaxed{6.0,70}`.
fn modifier(text: &'static str) -> Modifier {
    let text = text.strip_prefix(['.', '-']).unwrap_or_else(|| fault("no dot before", text));
    let (text, needs) = text.split_once('{').unwrap_or((text, ""));
    let usual = NEEDS.iter().find(|row| row.0 == text).map_or(("0.0", "0"), |row| row.1);
    let (ptx, sm) = needs.trim_end_matches('}').split_once(',').unwrap_or(usual);
    let (major, minor) = ptx.split_once('.').unwrap_or((ptx, "0"));
    let number = |digits: &str| digits.parse().unwrap_or_else(|_| fault("no number in", digits));
    Modifier { text, ty: ScalarType::from_word(text), ptx: (number(major) as u8, number(minor) as u8), sm: number(sm) }
}

/// The operands of `d, [a], b[, c]`, each with true if it is optional.
fn split_operands(text: &'static str) -> impl Iterator<Item = (&'static str, bool)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches([',', ' ']);
        let optional = rest.starts_with("[,");
        rest = if optional { rest[2..].trim_start() } else { rest };
        let end = operand_end(rest);
        let text = rest[..end].trim();
        rest = &rest[end..];
        rest = if optional { rest.strip_prefix(']').unwrap_or_else(|| fault("unclosed operand before", rest)) } else { rest };
        (!text.is_empty()).then_some((text, optional))
    })
}

/// The end of the first operand of `rest`: a comma, the closing bracket, or the start of the next optional operand.
fn operand_end(rest: &str) -> usize {
    let mut depth = 0;
    for (at, c) in rest.char_indices() {
        match c {
            '[' if rest[at..].starts_with("[,") => return at,
            '[' => depth += 1,
            ']' if depth == 0 => return at,
            ']' => depth -= 1,
            ',' if depth == 0 => return at,
            _ => {}
        }
    }
    rest.len()
}

/// Parses `d:+`, `[!]c:pred`, `p[|q]`, `[a]`.
fn operand(text: &'static str, optional: bool) -> OperandForm {
    let (text, with) = text.split_once(":with.").map_or((text, None), |(text, word)| (text, Some(word)));
    let (head, annotations) = text.split_once(':').unwrap_or((text, ""));
    let negatable = head.starts_with("[!]");
    let head = head.trim_start_matches("[!]");
    let address = head.starts_with('[');
    let pair = head.contains('|').then(|| !head.ends_with(']'));
    let name = head.trim_start_matches('[').split(['[', ']', '|', ',']).next().unwrap_or(head);
    let role = if address {
        OperandRole::Address
    } else if matches!(name, "d" | "p" | "q") {
        OperandRole::Dest
    } else {
        OperandRole::Source
    };
    let predicate = pair.is_some() || matches!(name, "p" | "q");
    let ty = if predicate && name != "d" { OperandType::Fixed(ScalarType::Pred) } else { OperandType::Last };
    let mut operand = OperandForm {
        name,
        role,
        ty,
        wider: false,
        register_only: false,
        constant_only: false,
        values: Vec::new(),
        multiple: None,
        range: None,
        special: false,
        address_of: false,
        registers: None,
        space: None,
        narrow: false,
        vector: false,
        sink: name == "p" && pair.is_some(),
        sink_only: false,
        or_predicate: false,
        or_descriptor: false,
        negatable,
        pair,
        optional,
        only_with: with,
    };
    for annotation in annotations.split(':').filter(|annotation| !annotation.is_empty()) {
        annotate(&mut operand, annotation);
    }
    operand
}

fn annotate(operand: &mut OperandForm, annotation: &'static str) {
    match annotation {
        "2x" => operand.ty = OperandType::Double,
        "t1" => operand.ty = OperandType::Nth(0),
        "t2" => operand.ty = OperandType::Nth(1),
        "+" => operand.wider = true,
        "imm" => operand.constant_only = true,
        "reg" => operand.register_only = true,
        "vec" => operand.vector = true,
        "special" => operand.special = true,
        "addr" => operand.address_of = true,
        "_" => operand.sink = true,
        "__" => (operand.sink, operand.sink_only) = (true, true),
        "or-pred" => operand.or_predicate = true,
        "narrow" => operand.narrow = true,
        "in.global" => operand.space = Some(Space::Global),
        "in.shared" => operand.space = Some(Space::Shared),
        "in.cluster" => operand.space = Some(Space::SharedCluster),
        "xd" => operand.registers = Some(RegisterCount::Dimensions(0)),
        "xn2" => operand.registers = Some(RegisterCount::Columns(2)),
        "xn4" => operand.registers = Some(RegisterCount::Columns(4)),
        "or-desc" => operand.or_descriptor = true,
        "xd-2" => operand.registers = Some(RegisterCount::Dimensions(2)),
        "label" => operand.role = OperandRole::Label,
        "any" => operand.role = OperandRole::Any,
        other if other.starts_with('x') => {
            operand.registers =
                Some(RegisterCount::Fixed(other[1..].parse().unwrap_or_else(|_| fault("no number of registers in", other))));
        }
        other if other.starts_with('=') => {
            operand.constant_only = true;
            operand.values = other[1..].split('|').map(|value| value.parse().unwrap_or_else(|_| fault("no number in", other))).collect();
        }
        other if other.starts_with('*') => {
            operand.multiple = Some(other[1..].parse().unwrap_or_else(|_| fault("no number in", other)));
        }
        other if other.starts_with(|c: char| c.is_ascii_digit()) && other.contains('-') => {
            let bounds = other.split_once('-').and_then(|(low, high)| Some((low.parse().ok()?, high.parse().ok()?)));
            operand.range = bounds.or_else(|| fault("no range in", other));
        }
        other => {
            let ty = ScalarType::from_word(other).unwrap_or_else(|| fault("no annotation called", other));
            operand.ty = OperandType::Fixed(ty);
        }
    }
}

/// Panics on a row that does not follow the notation.
#[expect(clippy::panic, reason = "the rows are part of the program, and a test reads them all")]
fn fault(what: &str, text: &str) -> ! {
    panic!("instruction table: {what} '{text}'")
}
