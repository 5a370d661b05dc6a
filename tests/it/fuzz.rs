//! What the fuzzers of `fuzz` hold, on numbers that have no pattern: it needs no fuzzer, and is the same in every run.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a property that does not hold fails")]

use crate::common::random_numbers;
use crate::properties::instruction::{Bond, EDITIONS, FORMS};
use crate::properties::{kernel, machine, mistakes, sema};
use arbitrary::Unstructured;

/// Bytes without a pattern, `count` times between 1 and `length` of them.
fn random_bytes(count: usize, length: usize) -> impl Iterator<Item = Vec<u8>> {
    let mut random = random_numbers();
    (0..count).map(move |_| {
        let length = 1 + random.next().unwrap() as usize % length;
        (0..length).map(|_| random.next().unwrap() as u8).collect()
    })
}

#[test]
fn modules_with_mistakes_are_judged() {
    assert!(mistakes::MODULES.len() > 50, "{}", mistakes::MODULES.len());
    let mut accepted = 0;
    for bytes in random_bytes(400, 60) {
        let Ok(text) = mistakes::module(&mut Unstructured::new(&bytes)) else { continue };
        accepted += usize::from(sema::check(&text));
    }
    assert!((20..380).contains(&accepted), "{accepted} modules with mistakes were accepted");
}

#[test]
fn modules_without_mistakes_are_programs() {
    for text in mistakes::MODULES.iter() {
        assert!(sema::check(text), "{text}");
    }
}

/// A form that could never be written rightly would never be tried.
#[test]
fn every_form_is_written_as_the_assembler_wants_it() {
    let bytes: Vec<u8> = random_bytes(20, 400).flatten().collect();
    let mut never = Vec::new();
    for (edition, forms) in EDITIONS.iter().zip(FORMS.iter()) {
        for form in &forms[Bond::Time as usize] {
            let kernel = kernel::kernel_of(&mut Unstructured::new(&bytes), *edition, &[form], Bond::Time);
            if kernel.map_or(0, |kernel| kernel.written - kernel.refused) == 0 {
                never.push((edition.sm, form.row.syntax));
            }
        }
    }
    assert!(never.is_empty(), "{never:#?}");
}

#[test]
fn random_kernels_run_alike_in_every_way() {
    let (mut kernels, mut written, mut refused) = (0, 0, 0);
    for bytes in random_bytes(300, 600) {
        let Ok((more, wrong)) = machine::check(&mut Unstructured::new(&bytes)) else { continue };
        (kernels, written, refused) = (kernels + 1, written + more, refused + wrong);
    }
    assert!(kernels > 200, "{kernels} kernels");
    assert!(written > 10 * kernels, "{written} instructions in {kernels} kernels");
    assert!(refused * 5 < written, "{refused} of {written} instructions were refused");
}
