//! Sequences of zstd frames: bytes are compressed in chunks, each to one frame, and read as one stream.

use std::io::{self, BufRead, Read, Write};

use ruzstd::decoding::{FrameDecoder, StreamingDecoder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

/// Magic of a zstd frame (RFC 8878, 3.1.1).
pub const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Bytes of a chunk.
const CHUNK: usize = 4 << 20;
/// Bytes of a chunk that are compressed first to see if compression saves anything.
const SAMPLE: usize = 16 << 10;
/// A chunk is compressed if its sample becomes shorter by at least this fraction, otherwise stored: compressing noise is slow.
const SAVED_FRACTION: usize = 16;

/// The decompressed content of frames in `R`.
pub struct Frames<R: BufRead> {
    /// `None` between two frames, and after the last one.
    decoder: Option<StreamingDecoder<R, FrameDecoder>>,
}

impl<R: BufRead> Frames<R> {
    /// # Errors
    /// `source` does not begin with a frame.
    pub fn new(source: R) -> io::Result<Self> {
        Ok(Self { decoder: Some(frame(source)?) })
    }
}

fn frame<R: BufRead>(source: R) -> io::Result<StreamingDecoder<R, FrameDecoder>> {
    StreamingDecoder::new_with_decoder(source, FrameDecoder::new()).map_err(|error| damaged(io::Error::other(error)))
}

/// An error of the decoder as a user reads it.
fn damaged(error: io::Error) -> io::Error {
    io::Error::new(error.kind(), "it is cut off or damaged")
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while let Some(decoder) = &mut self.decoder {
            let count = decoder.read(into).map_err(damaged)?;
            if count > 0 || into.is_empty() {
                return Ok(count);
            }
            if decoder.decoder.get_checksum_from_data() != decoder.decoder.get_calculated_checksum() {
                return Err(io::Error::other("the checksum at its end is that of other bytes"));
            }
            let Some(decoder) = self.decoder.take() else { break };
            let mut source = decoder.into_inner();
            let next = source.fill_buf()?;
            if next.is_empty() {
                break;
            }
            if !next.starts_with(&MAGIC[..next.len().min(MAGIC.len())]) {
                return Err(io::Error::other("after its end there are bytes that belong to nothing"));
            }
            self.decoder = Some(frame(source)?);
        }
        Ok(0)
    }
}

/// The frames with the content `bytes`.
pub fn packed(bytes: &[u8]) -> Vec<u8> {
    bytes.chunks(CHUNK).chain(bytes.is_empty().then_some(bytes)).flat_map(packed_chunk).collect()
}

/// The frame with the content `chunk`.
fn packed_chunk(chunk: &[u8]) -> Vec<u8> {
    let sample = &chunk[..chunk.len().min(SAMPLE)];
    let is_noise = || compress_to_vec(sample, CompressionLevel::Fastest).len() > SAMPLE - SAMPLE / SAVED_FRACTION;
    let is_stored = sample.len() == SAMPLE && is_noise();
    compress_to_vec(chunk, if is_stored { CompressionLevel::Uncompressed } else { CompressionLevel::Fastest })
}

/// Compresses the bytes that are written to it into frames.
pub struct Packer<W: Write> {
    into: W,
    chunk: Vec<u8>,
    /// True after a frame was written: there is at least one.
    has_frame: bool,
}

impl<W: Write> Packer<W> {
    /// A packer whose frames go to `into`.
    pub fn new(into: W) -> Self {
        Self { into, chunk: Vec::new(), has_frame: false }
    }

    /// Writes the last frame.
    ///
    /// # Errors
    /// An error of the underlying writer.
    pub fn finish(mut self) -> io::Result<()> {
        if !self.chunk.is_empty() || !self.has_frame {
            self.pack()?;
        }
        self.into.flush()
    }

    fn pack(&mut self) -> io::Result<()> {
        self.into.write_all(&packed_chunk(&self.chunk))?;
        self.chunk.clear();
        self.has_frame = true;
        Ok(())
    }
}

impl<W: Write> Write for Packer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(CHUNK - self.chunk.len());
        self.chunk.extend_from_slice(&bytes[..taken]);
        if self.chunk.len() == CHUNK {
            self.pack()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unpacked(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        Frames::new(bytes)?.read_to_end(&mut all).map(|_| all)
    }

    #[test]
    fn frames_are_read_as_one() {
        let mut random = 1_u32;
        let noise: Vec<u8> = std::iter::repeat_with(|| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 24) as u8
        })
        .take(CHUNK + 5)
        .collect();
        for bytes in [Vec::new(), vec![7], vec![0; 3 * CHUNK], vec![0; CHUNK], noise] {
            let mut written = Vec::new();
            let mut packer = Packer::new(&mut written);
            packer.write_all(&bytes).unwrap();
            packer.finish().unwrap();
            assert!(unpacked(&written).unwrap() == bytes && written == packed(&bytes), "{}", bytes.len());
        }
        assert!(packed(&vec![0; 3 * CHUNK]).len() < 10_000);
    }

    #[test]
    fn bytes_after_the_end_are_refused() {
        let frame = packed(b"abc");
        assert_eq!(unpacked(&[frame.clone(), frame.clone()].concat()).unwrap(), b"abcabc");
        for rest in [&b"\0"[..], b"x", b"\x28", b"PK\x03\x04", &MAGIC] {
            assert!(unpacked(&[&frame, rest].concat()).is_err(), "{rest:?}");
        }
    }
}
