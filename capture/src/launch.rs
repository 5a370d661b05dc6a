//! A launch as the program asks for it.

use std::ffi::{c_uint, c_void};

use crate::driver::{Attribute, Driver, Handle, LaunchConfig, STREAM_PER_THREAD};

/// What `extra` begins an entry with: its end, a pointer to the bytes of the parameters, how many these are.
const END: usize = 0;
const BYTES: usize = 1;
const SIZE: usize = 2;
/// Bytes of the parameters of a kernel at most.
const BYTES_MAX: usize = 1 << 15;

/// Offset and bytes of each parameter.
pub type ParamBytes = Vec<(usize, Vec<u8>)>;

/// A launch. Pointers are the program's, and hold while it waits for the launch.
#[derive(Clone, Copy)]
pub struct Launch {
    /// The function or kernel.
    pub function: Handle,
    /// Blocks in x, y and z.
    pub grid: [c_uint; 3],
    /// Threads of a block in x, y and z.
    pub block: [c_uint; 3],
    /// Blocks of a cluster in x, y and z, if the launch says so.
    pub cluster: Option<[c_uint; 3]>,
    /// Bytes of dynamic shared memory.
    pub shared: c_uint,
    /// Whether the whole grid is resident at once.
    pub cooperative: bool,
    /// The stream that it is put on.
    pub stream: Handle,
    /// A pointer to each parameter.
    params: *const *const c_void,
    /// The bytes of all parameters instead.
    extra: *const *const c_void,
}

impl Launch {
    /// A launch of which nothing else is said.
    pub fn new(
        function: Handle,
        grid: [c_uint; 3],
        block: [c_uint; 3],
        shared: c_uint,
        stream: Handle,
        params: *const *const c_void,
        extra: *const *const c_void,
    ) -> Self {
        Self { function, grid, block, cluster: None, shared, cooperative: false, stream, params, extra }
    }

    /// What a configuration says.
    ///
    /// # Safety
    /// It has as many attributes as it says.
    pub unsafe fn configured(config: &LaunchConfig, function: Handle, params: *const *const c_void, extra: *const *const c_void) -> Self {
        let mut launch = Self::new(function, config.grid, config.block, config.shared, config.stream, params, extra);
        let count = if config.attributes.is_null() { 0 } else { config.count as usize };
        for index in 0..count {
            // SAFETY: there are as many.
            let attribute = unsafe { &*config.attributes.add(index) };
            let [x, y, z, ..] = attribute.value;
            match attribute.id {
                Attribute::COOPERATIVE => launch.cooperative = x != 0,
                Attribute::CLUSTER => launch.cluster = Some([x, y, z]),
                _ => {}
            }
        }
        launch
    }

    /// The same, whose whole grid is resident at once.
    pub fn cooperative(self) -> Self {
        Self { cooperative: true, ..self }
    }

    /// The same, by a function for which stream 0 is that of the thread.
    pub fn of_thread(self, is_per_thread: bool) -> Self {
        let is_default = is_per_thread && self.stream.is_null();
        Self { stream: if is_default { STREAM_PER_THREAD as Handle } else { self.stream }, ..self }
    }

    /// Offset and bytes of each parameter.
    ///
    /// # Errors
    /// Why they are not known.
    pub fn param_bytes(&self, driver: &Driver) -> Result<ParamBytes, &'static str> {
        let layout = driver.params(self.function).ok_or("the driver is older than CUDA 12.4 and does not say what parameters it has")?;
        let end = layout.iter().map(|(offset, size)| offset.saturating_add(*size)).max().unwrap_or(0);
        if end > BYTES_MAX {
            return Err("its parameters have more bytes than a kernel can have");
        }
        if layout.is_empty() {
            return Ok(Vec::new());
        }
        match self.packed() {
            Some((bytes, size)) if end <= size => {
                // SAFETY: the program says how many bytes are there.
                Ok(layout.iter().map(|(offset, size)| (*offset, unsafe { copied(bytes.add(*offset), *size) })).collect())
            }
            Some(_) => Err("its parameters have fewer bytes than the kernel takes"),
            None if self.params.is_null() => Err("its parameters are not given"),
            None => {
                // SAFETY: the driver takes as many pointers as the kernel has parameters, each to as many bytes.
                let value = |index: usize, size: usize| unsafe { copied((*self.params.add(index)).cast(), size) };
                Ok(layout.iter().enumerate().map(|(index, (offset, size))| (*offset, value(index, *size))).collect())
            }
        }
    }

    /// The bytes of all parameters, where the program gives them so.
    fn packed(&self) -> Option<(*const u8, usize)> {
        if self.extra.is_null() {
            return None;
        }
        let (mut bytes, mut size, mut place) = (None, None, self.extra);
        loop {
            // SAFETY: the list is pairs up to the end that it says.
            let (key, value) = unsafe { ((*place) as usize, place.add(1)) };
            match key {
                // SAFETY: as above.
                BYTES => bytes = Some(unsafe { (*value).cast::<u8>() }),
                // SAFETY: as above; the size is given by its address.
                SIZE => size = Some(unsafe { *(*value).cast::<usize>() }),
                END => return bytes.zip(size),
                _ => return None,
            }
            // SAFETY: as above.
            place = unsafe { place.add(2) };
        }
    }
}

/// A copy of `size` bytes at `from`.
///
/// # Safety
/// They are there.
unsafe fn copied(from: *const u8, size: usize) -> Vec<u8> {
    if from.is_null() {
        return vec![0; size];
    }
    // SAFETY: the caller says so.
    unsafe { std::slice::from_raw_parts(from, size) }.to_vec()
}
