//! Findings with their texts, in C's representation.

use std::ffi::{CString, c_char};
use std::ptr;

use ptxdbg::api::{FindingText, Severity, SideText, text};

use crate::text::{c_text, pointer};

/// `ptxdbg_side`
#[repr(C)]
pub struct CSide {
    place: *const c_char,
    source: *const c_char,
    instruction: *const c_char,
    tick: u64,
    block: [u32; 3],
    warp: u32,
    lanes: u32,
}

/// `ptxdbg_finding`
#[repr(C)]
pub struct CFinding {
    id: *const c_char,
    severity: i32,
    message: *const c_char,
    memory: *const c_char,
    why: *const c_char,
    fix: *const c_char,
    text: *const c_char,
    count: u64,
    first: *const CSide,
    second: *const CSide,
}

/// A finding, with the heap data that it points to, which does not move with it.
pub struct OwnedFinding {
    /// C's representation.
    pub c: Box<CFinding>,
    _texts: Vec<CString>,
    _sides: [Option<Box<CSide>>; 2],
}

/// Texts with stable addresses.
#[derive(Default)]
struct Texts(Vec<CString>);

impl Texts {
    fn keep(&mut self, text: &str) -> *const c_char {
        let text = c_text(text);
        // The bytes of a text are on the heap, so the list may grow.
        let at = pointer(Some(&text));
        self.0.push(text);
        at
    }

    fn keep_some(&mut self, text: Option<&str>) -> *const c_char {
        text.map_or(ptr::null(), |text| self.keep(text))
    }

    fn side(&mut self, side: &SideText) -> Box<CSide> {
        let site = &side.site;
        Box::new(CSide {
            place: self.keep(&site.place),
            source: self.keep_some(site.source.as_deref()),
            instruction: self.keep(&site.statement),
            tick: site.time.0,
            block: site.block,
            warp: site.warp,
            lanes: site.lanes.bits(),
        })
    }
}

impl OwnedFinding {
    /// The texts of a finding.
    pub fn of(finding: &FindingText) -> Self {
        let mut texts = Texts::default();
        let sides = [&finding.first, &finding.second].map(|side| side.as_ref().map(|side| texts.side(side)));
        let [first, second] = sides.each_ref().map(|side| side.as_deref().map_or(ptr::null(), ptr::from_ref));
        let c = Box::new(CFinding {
            id: texts.keep(finding.id.word()),
            severity: match finding.severity {
                Severity::Note => 0,
                Severity::Warning => 1,
                Severity::Error => 2,
            },
            message: texts.keep(&finding.message),
            memory: texts.keep_some(finding.memory.as_ref().map(|memory| memory.name.as_str())),
            why: texts.keep(&finding.why),
            fix: texts.keep(&finding.fix),
            text: texts.keep(&text::finding(finding)),
            count: finding.count,
            first,
            second,
        });
        Self { c, _texts: texts.0, _sides: sides }
    }
}

// SAFETY: it owns the data that the pointers refer to, which never changes.
unsafe impl Send for OwnedFinding {}
// SAFETY: as above.
unsafe impl Sync for OwnedFinding {}
