//! The library as the driver loads it, which does so as a program begins to use it (`CUDA_INJECTION64_PATH`): CUPTI then calls back at the
//! driver's functions, also where a program comes to these in a way that no replacement sees.

#![allow(non_snake_case, reason = "the name is the driver's")]

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::path::PathBuf;
use std::ptr;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::callbacks::CALLS;
use crate::driver::Status;
use crate::hooks;
use crate::parent;
use crate::state::Entered;
use crate::symbols;

/// Names of CUPTI's library, and where CUDA has it.
const NAMES: [&str; 3] = ["libcupti.so.13", "libcupti.so.12", "libcupti.so"];
const FOLDERS: [&str; 2] = ["extras/CUPTI/lib64", "lib64"];
/// Callbacks of the driver's functions.
const DRIVER_API: c_uint = 1;
/// What CUPTI answers where there is a subscriber already.
const TWO_SUBSCRIBERS: c_int = 39;
/// Numbers of functions at most.
const NUMBERS: usize = 2048;
/// Before a call; after it is anything else.
const ENTER: c_uint = 0;

/// `CUpti_CallbackData`, as far as it is used.
#[repr(C)]
struct CallbackData {
    site: c_uint,
    function: *const c_char,
    params: *const c_void,
    status: *const Status,
}

type Callback = unsafe extern "C" fn(*mut c_void, c_uint, c_uint, *const CallbackData);
type Subscribe = unsafe extern "C" fn(*mut *mut c_void, Callback, *mut c_void) -> c_int;
type Enable = unsafe extern "C" fn(c_uint, *mut c_void, c_uint, c_uint) -> c_int;
type NameOf = unsafe extern "C" fn(c_uint, c_uint, *mut *const c_char) -> c_int;

/// The functions that are followed, by CUPTI's numbers: an index into [`CALLS`] and 1 more, or 0.
static FOLLOWED: [AtomicU8; NUMBERS] = [const { AtomicU8::new(0) }; NUMBERS];

thread_local! {
    /// The launch that this thread is in, with the place of its parameters, by which its end is known.
    static ENTERED: RefCell<Option<(usize, Entered)>> = const { RefCell::new(None) };
}

/// Called by the driver once it has loaded the library.
#[unsafe(no_mangle)]
pub extern "C" fn InitializeInjection() -> c_int {
    if parent::is_there()
        && !hooks::are_called()
        && let Err(why) = subscribe()
    {
        parent::report(&["say", &format!("calls of the program are not seen: {why}")]);
    }
    1
}

fn subscribe() -> Result<(), String> {
    let library = cupti()
        .ok_or("they do not come to a preloaded library, and CUPTI (libcupti.so) is not found: name its folder in LD_LIBRARY_PATH")?;
    let found = |name: &CStr| Some(symbols::of_library(library, name)).filter(|function| !function.is_null());
    let lacks = "CUPTI lacks a function";
    let subscribe = found(c"cuptiSubscribe").ok_or(lacks)?;
    let enable = found(c"cuptiEnableCallback").ok_or(lacks)?;
    let name_of = found(c"cuptiGetCallbackName").ok_or(lacks)?;
    // SAFETY: the functions of these names have these types.
    let (subscribe, enable, name_of) = unsafe {
        (
            std::mem::transmute::<*mut c_void, Subscribe>(subscribe),
            std::mem::transmute::<*mut c_void, Enable>(enable),
            std::mem::transmute::<*mut c_void, NameOf>(name_of),
        )
    };
    let mut subscriber = ptr::null_mut();
    // SAFETY: the result is written to a variable that lives on.
    match unsafe { subscribe(&mut subscriber, called, ptr::null_mut()) } {
        0 => {}
        TWO_SUBSCRIBERS => {
            return Err("two subscribers: another tool in the program, such as a profiler, is called back by CUPTI, which allows one: \
                        run the program without it"
                .to_string());
        }
        status => return Err(format!("CUPTI answers {status} to a subscriber")),
    }
    let mut count = 0;
    for number in 1..NUMBERS {
        let mut name = ptr::null();
        // SAFETY: as above; the names of CUPTI last.
        let name = unsafe { (name_of(DRIVER_API, number as c_uint, &mut name) == 0 && !name.is_null()).then(|| CStr::from_ptr(name)) };
        let Some(index) = name.and_then(|name| CALLS.iter().position(|call| call.name == name)) else { continue };
        if let (Some(followed), Ok(index)) = (FOLLOWED.get(number), u8::try_from(index + 1)) {
            followed.store(index, Ordering::Release);
        }
        // SAFETY: the subscriber is the one that was made.
        count += usize::from(unsafe { enable(1, subscriber, DRIVER_API, number as c_uint) } == 0);
    }
    if count == 0 { Err("CUPTI calls back for none of the driver's functions".to_string()) } else { Ok(()) }
}

/// CUPTI: that of the program, if it has loaded one, or that of the system.
fn cupti() -> Option<*mut c_void> {
    let open = |path: &str, is_loaded: bool| {
        let path = CString::new(path).ok()?;
        Some(symbols::open(&path, is_loaded)).filter(|library| !library.is_null())
    };
    let homes = ["CUDA_HOME", "CUDA_PATH"].iter().filter_map(std::env::var_os).map(PathBuf::from);
    let homes = homes.chain([PathBuf::from("/usr/local/cuda")]);
    let mut files = homes.flat_map(|home| FOLDERS.map(|folder| home.join(folder).join("libcupti.so").display().to_string()));
    let loaded = NAMES.iter().find_map(|name| open(name, true));
    loaded.or_else(|| NAMES.iter().find_map(|name| open(name, false))).or_else(|| files.find_map(|path| open(&path, false)))
}

/// Called before and after a function of the driver.
unsafe extern "C" fn called(_: *mut c_void, _: c_uint, number: c_uint, data: *const CallbackData) {
    let index = FOLLOWED.get(number as usize).map_or(0, |followed| followed.load(Ordering::Acquire));
    let call = usize::from(index).checked_sub(1).and_then(|index| CALLS.get(index));
    // SAFETY: CUPTI gives the data of the call.
    let (Some(call), Some(data)) = (call, unsafe { data.as_ref() }) else { return };
    if data.params.is_null() {
        return;
    }
    let place = data.params as usize;
    if data.site == ENTER {
        let Some(enter) = call.enter else { return };
        // SAFETY: the parameters are those of this function.
        if let Some(entered) = unsafe { enter(data.params) } {
            // A thread that ends launches nothing more.
            let _ = ENTERED.try_with(|within| within.replace(Some((place, entered))));
        }
        return;
    }
    // SAFETY: after a call there is its answer.
    let status = unsafe { data.status.as_ref() }.copied().unwrap_or(0);
    if let Some(leave) = call.leave {
        // SAFETY: as above.
        unsafe { leave(data.params, status) };
    }
    let _ = ENTERED.try_with(|within| {
        let is_it = within.borrow().as_ref().is_some_and(|(known, _)| *known == place);
        let entered = if is_it { within.take() } else { None };
        if let Some((_, entered)) = entered {
            entered.leave(status);
        }
    });
}
