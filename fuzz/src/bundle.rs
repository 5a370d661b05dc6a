//! Bundles: any bytes are read as one, and as the archive in one, or refused.

use ptxdbg::container::bundle;

/// What `bytes` hold is no more than there is, under names that lead nowhere else. True if they are the archive of a bundle.
///
/// # Panics
/// It does not hold.
pub fn check(bytes: &[u8]) -> bool {
    let _ = bundle::members_of(bytes);
    let Ok(members) = bundle::members_of(&bundle::packed(bytes)[..]) else { return false };
    let held: u64 = members.iter().map(|(_, bytes)| *bytes).sum();
    assert!(held <= bytes.len() as u64, "{held} bytes in an archive of {}", bytes.len());
    for (name, _) in &members {
        let is_plain = |part: &str| !["", ".", ".."].contains(&part);
        assert!(name.split('/').all(is_plain), "'{name}' leads out of the bundle");
    }
    true
}
