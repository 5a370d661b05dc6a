//! While the kernel runs.

use std::time::{Duration, Instant};

use super::*;

#[test]
fn control_c_stops_a_run_and_what_was_typed_meanwhile_is_kept() {
    let mut pty = opened(ENDLESS);
    pty.send("continue\r");
    pty.wait_for("Ctrl-C stops");
    pty.send("print 6 * 7\rprint 5");
    // The panes follow the run: time goes on in them.
    let first = panes(&pty);
    pty.wait("panes that move", |screen| rows(screen)[..16] != first);
    pty.send(CTRL_C);
    pty.wait("what was typed meanwhile", |screen| {
        let contents = screen.contents();
        contents.contains("interrupted") && contents.contains("42") && contents.trim_end().ends_with(") print 5")
    });
    pty.send("5\r");
    pty.wait_for("55");
}

#[test]
fn a_run_says_how_far_it_is() {
    let mut pty = opened(ENDLESS);
    pty.send("continue\r");
    pty.wait("ticks, blocks, rate, elapsed", |screen| {
        let contents = screen.contents();
        ["t=", "block 1 of 1", "ticks/s", " s  Ctrl-C stops"].iter().all(|part| contents.contains(part))
    });
    pty.send(CTRL_C);
    pty.wait("nothing of it afterwards", |screen| !screen.contents().contains("ticks/s") && screen.contents().contains("interrupted"));
}

/// Ten milliseconds on a machine with nothing else to do; half of several tries is measured, since this one may be busy.
#[test]
fn control_c_is_quick() {
    let mut pty = opened(ENDLESS);
    let mut times: Vec<Duration> = (0..9).map(|_| interrupted(&mut pty)).collect();
    times.sort();
    assert!(times[0] < Duration::from_millis(10), "{times:?}");
    assert!(times[4] < Duration::from_millis(25), "{times:?}");
}

/// How long it takes from Ctrl-C to the end of the run.
fn interrupted(pty: &mut Pty) -> Duration {
    pty.send("continue\r");
    pty.wait_for("Ctrl-C stops");
    let begun = Instant::now();
    pty.send(CTRL_C);
    pty.wait_closely("the end of the run", |screen| !screen.contents().contains("Ctrl-C stops"));
    begun.elapsed()
}

#[test]
fn panes_are_drawn_twenty_times_a_second() {
    let mut pty = opened(ENDLESS);
    pty.send("continue\r");
    pty.wait_for("Ctrl-C stops");
    let (before, begun) = (pty.written().len(), Instant::now());
    std::thread::sleep(Duration::from_secs(2));
    let (written, passed) = (pty.written(), begun.elapsed().as_secs_f64());
    let frames = written[before..].windows(8).filter(|bytes| *bytes == b"\x1b[?2026h").count();
    assert!(frames > 0 && frames as f64 <= passed * 20.0 + 2.0, "{frames} frames in {passed} s");
    pty.send(CTRL_C);
    pty.wait_for("interrupted");
}

/// The kernel's own count of what the process had of a processor.
#[cfg(target_os = "linux")]
#[test]
fn a_prompt_that_waits_costs_nothing() {
    let pty = opened(WALK);
    let spent = || {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", pty.process())).unwrap();
        let stats = tasks.map(|task| std::fs::read_to_string(task.unwrap().path().join("schedstat")).unwrap());
        stats.map(|stat| stat.split(' ').next().unwrap().parse::<u64>().unwrap()).sum::<u64>()
    };
    std::thread::sleep(Duration::from_millis(500));
    let (before, written, begun) = (spent(), pty.written().len(), Instant::now());
    std::thread::sleep(Duration::from_secs(4));
    let share = (spent() - before) as f64 / begun.elapsed().as_nanos() as f64;
    assert!(share < 0.002, "{} % of a processor", share * 100.0);
    assert_eq!(pty.written().len(), written);
}
