//! The formatting of numbers by `printf`.

use super::format::Spec;

/// An integer: `%d %i %o %u %x %X`. Padded with zeros, but not with spaces.
pub fn integer(spec: Spec, value: u64) -> String {
    let signed = matches!(spec.ty, b'd' | b'i');
    let unused = 64 - spec.bits;
    let (negative, magnitude) = if signed {
        let value = (value << unused) as i64 >> unused;
        (value < 0, value.unsigned_abs())
    } else {
        (false, value << unused >> unused)
    };
    let digits = match spec.ty {
        b'o' => format!("{magnitude:o}"),
        b'x' => format!("{magnitude:x}"),
        b'X' => format!("{magnitude:X}"),
        _ => magnitude.to_string(),
    };
    let digits = if magnitude == 0 && spec.precision == Some(0) { String::new() } else { digits };
    let digit_count = spec.precision.unwrap_or(0) as usize;
    let digits = format!("{}{digits}", "0".repeat(digit_count.saturating_sub(digits.len())));
    let prefix = match spec.ty {
        b'x' if spec.alternate && magnitude != 0 => "0x",
        b'X' if spec.alternate && magnitude != 0 => "0X",
        b'o' if spec.alternate && !digits.starts_with('0') => "0",
        _ if signed => sign(spec, negative),
        _ => "",
    };
    zero_filled(spec, prefix, &digits, spec.precision.is_none())
}

/// A float: `%e %E %f %F %g %G %a %A`.
pub fn float(spec: Spec, value: f64) -> String {
    let sign = sign(spec, value.is_sign_negative());
    let text = if value.is_nan() {
        "nan".to_string()
    } else if value.is_infinite() {
        "inf".to_string()
    } else {
        finite(spec, value.abs())
    };
    let (prefix, digits) = text.strip_prefix("0x").map_or((sign.to_string(), &*text), |digits| (format!("{sign}0x"), digits));
    let filled = zero_filled(spec, &prefix, digits, value.is_finite());
    if spec.ty.is_ascii_uppercase() { filled.to_ascii_uppercase() } else { filled }
}

fn finite(spec: Spec, value: f64) -> String {
    match spec.ty.to_ascii_lowercase() {
        b'f' => fixed(value, spec.precision.unwrap_or(6), spec.alternate),
        b'e' => scientific(value, spec.precision.unwrap_or(6), spec.alternate),
        b'g' => shortest(value, spec.precision.unwrap_or(6).max(1), spec.alternate),
        _ => hexadecimal(value, spec.precision, spec.alternate),
    }
}

fn sign(spec: Spec, negative: bool) -> &'static str {
    match (negative, spec.plus, spec.space) {
        (true, ..) => "-",
        (false, true, _) => "+",
        (false, false, true) => " ",
        (false, false, false) => "",
    }
}

/// The prefix and the digits, with padding zeros between them if the specification has `0` and `allowed` is true.
fn zero_filled(spec: Spec, prefix: &str, digits: &str, allowed: bool) -> String {
    let zeros = if spec.zero && !spec.left && allowed { (spec.width as usize).saturating_sub(prefix.len() + digits.len()) } else { 0 };
    format!("{prefix}{}{digits}", "0".repeat(zeros))
}

/// `12.500000`
fn fixed(value: f64, precision: u32, point: bool) -> String {
    let text = format!("{value:.*}", precision as usize);
    if point && precision == 0 { text + "." } else { text }
}

/// `1.250000e+01`
fn scientific(value: f64, precision: u32, point: bool) -> String {
    let text = format!("{value:.*e}", precision as usize);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let point = if point && precision == 0 { "." } else { "" };
    format!("{mantissa}{point}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.unsigned_abs())
}

/// `%g`: the shorter form with `digits` digits, without trailing zeros unless `keep` is true.
fn shortest(value: f64, digits: u32, keep: bool) -> String {
    let text = scientific(value, digits - 1, keep);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let power: i32 = exponent.parse().unwrap_or(0);
    if power < -4 || power >= digits as i32 {
        return if keep { text } else { format!("{}e{exponent}", without_zeros(mantissa)) };
    }
    let decimals = (digits as i32 - 1 - power).max(0) as u32;
    let text = fixed(value, decimals, keep);
    if keep { text } else { without_zeros(&text).to_string() }
}

fn without_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// `0x1.8p+1`
fn hexadecimal(value: f64, precision: Option<u32>, point: bool) -> String {
    const FRACTION: u32 = 52;
    const BIAS: i32 = 1023;
    let bits = value.to_bits();
    let (field, fraction) = ((bits >> FRACTION) as i32, bits & ((1 << FRACTION) - 1));
    let exponent = if value == 0.0 { 0 } else { field.max(1) - BIAS };
    let mut mantissa = fraction | u64::from(field != 0) << FRACTION;
    let digits = precision.unwrap_or(13);
    if digits < 13 {
        // Rounds to nearest, ties to even.
        let dropped = FRACTION - 4 * digits;
        let half = 1_u64 << (dropped - 1);
        let odd = mantissa >> dropped & 1;
        mantissa = (mantissa + half - 1 + odd) >> dropped << dropped;
    }
    let mut fraction_digits = format!("{:013x}", mantissa & ((1 << FRACTION) - 1));
    match precision {
        None => fraction_digits.truncate(fraction_digits.trim_end_matches('0').len()),
        Some(digits) if digits < 13 => fraction_digits.truncate(digits as usize),
        Some(digits) => fraction_digits += &"0".repeat(digits as usize - 13),
    }
    let point = if fraction_digits.is_empty() && !point { "" } else { "." };
    format!("0x{}{point}{fraction_digits}p{exponent:+}", mantissa >> FRACTION)
}
