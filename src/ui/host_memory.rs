//! The memory of the host, compared with the memory limit of a run.

use std::path::Path;

use crate::debug::format_bytes;

/// The note at the start if the host has less memory than the simulated state may take; `None` if it has enough, or if its memory is
/// unknown.
pub fn note(limit: u64) -> Option<String> {
    let host = host_bytes(&read("/proc/meminfo"), &read("/sys/fs/cgroup/memory.max"))?;
    (host < limit).then(|| {
        let (host, limit) = (format_bytes(host), format_bytes(limit));
        format!("this machine has {host} of memory, less than the {limit} that a run may take: --memory-limit lowers that\n")
    })
}

fn read(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// The total memory in `meminfo`, or the limit of the control group if that is lower.
fn host_bytes(meminfo: &str, group: &str) -> Option<u64> {
    let total = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:")?.strip_suffix("kB")?.trim().parse::<u64>().ok());
    let total = total.and_then(|kilobytes| kilobytes.checked_mul(1 << 10));
    let group = group.trim().parse::<u64>().ok();
    total.into_iter().chain(group).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lower_of_host_memory_and_control_group_is_used() {
        let meminfo = "MemTotal:       16318480 kB\nMemFree:         1318480 kB\n";
        assert_eq!(host_bytes(meminfo, "max\n"), Some(16_318_480 << 10));
        assert_eq!(host_bytes(meminfo, "1048576\n"), Some(1 << 20));
        assert_eq!(host_bytes("", ""), None);
    }

    #[test]
    fn there_is_no_note_if_the_memory_is_enough() {
        assert_eq!(note(1), None);
    }
}
