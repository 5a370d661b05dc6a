//! Modules.

use std::ffi::{CString, c_char};
use std::slice;

use ptxdbg::api::Module;

use crate::error::{Failure, Status, guarded};
use crate::memory::ADDRESSES;
use crate::text::{c_text, text_at};

/// `ptxdbg_module`
pub struct CModule {
    pub(crate) module: Module,
    kernels: Vec<CString>,
}

impl CModule {
    fn of(module: Module) -> Self {
        let kernels = module.kernels().map(c_text).collect();
        Self { module, kernels }
    }
}

/// Reads PTX whose kernels run on the memory of the process.
pub fn read(name: &str, text: &str) -> Result<Module, Failure> {
    Module::from_text_avoiding(name, text, ADDRESSES).map_err(|error| Failure::refused(Status::InvalidModule, &error))
}

/// `ptxdbg_module_create`
///
/// # Safety
/// `name` is a text, `text` points to `length` bytes, `module` to a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_module_create(
    name: *const c_char,
    text: *const c_char,
    length: usize,
    module: *mut *mut CModule,
) -> Status {
    guarded(|| {
        if text.is_null() || module.is_null() {
            return Err(Failure::argument("a null pointer"));
        }
        // SAFETY: the caller says so.
        let (name, bytes) = unsafe { (text_at(name, "the name")?, slice::from_raw_parts(text.cast::<u8>(), length)) };
        let text = str::from_utf8(bytes).map_err(|_| Failure::argument("the PTX is not UTF-8"))?;
        let made = Box::new(CModule::of(read(name.unwrap_or("module.ptx"), text)?));
        // SAFETY: the caller says so.
        unsafe { *module = Box::into_raw(made) };
        Ok(())
    })
}

/// `ptxdbg_module_free`
///
/// # Safety
/// `module` is null, or came from [`ptxdbg_module_create`] and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_module_free(module: *mut CModule) {
    if !module.is_null() {
        // SAFETY: the caller says so.
        drop(unsafe { Box::from_raw(module) });
    }
}

/// `ptxdbg_module_kernel_count`
///
/// # Safety
/// `module` is null or a module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_module_kernel_count(module: *const CModule) -> usize {
    // SAFETY: the caller says so.
    unsafe { module.as_ref() }.map_or(0, |module| module.kernels.len())
}

/// `ptxdbg_module_kernel_name`
///
/// # Safety
/// `module` is null or a module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_module_kernel_name(module: *const CModule, index: usize) -> *const c_char {
    // SAFETY: the caller says so.
    let module = unsafe { module.as_ref() };
    module.and_then(|module| module.kernels.get(index)).map_or(std::ptr::null(), |name| name.as_ptr())
}
