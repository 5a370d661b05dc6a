//! zstd frames, one after the other: bytes are packed in pieces, each into a frame of its own, and read as if there were one.

use std::io::{self, BufRead, Read, Write};

use ruzstd::decoding::{FrameDecoder, StreamingDecoder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

/// What a zstd frame begins with (RFC 8878, 3.1.1).
pub const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Bytes of a piece.
const PIECE: usize = 4 << 20;
/// Bytes of a piece that show whether it can be packed.
const SAMPLE: usize = 16 << 10;
/// A piece is packed if a sample of it becomes shorter by this part at least, and stored as it is otherwise: packing noise takes long.
const SAVED_PART: usize = 16;

/// What `R` holds in frames.
pub struct Frames<R: BufRead> {
    /// None between two frames, and after the last one.
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
    StreamingDecoder::new_with_decoder(source, FrameDecoder::new()).map_err(io::Error::other)
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while let Some(decoder) = &mut self.decoder {
            let count = decoder.read(into)?;
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

/// The frames with `bytes` in them.
pub fn packed(bytes: &[u8]) -> Vec<u8> {
    bytes.chunks(PIECE).chain(bytes.is_empty().then_some(bytes)).flat_map(packed_piece).collect()
}

/// The frame with `piece` in it.
fn packed_piece(piece: &[u8]) -> Vec<u8> {
    let sample = &piece[..piece.len().min(SAMPLE)];
    let is_noise = || compress_to_vec(sample, CompressionLevel::Fastest).len() > SAMPLE - SAMPLE / SAVED_PART;
    let is_stored = sample.len() == SAMPLE && is_noise();
    compress_to_vec(piece, if is_stored { CompressionLevel::Uncompressed } else { CompressionLevel::Fastest })
}

/// Packs what is written to it into frames.
pub struct Packer<W: Write> {
    into: W,
    piece: Vec<u8>,
    /// Whether a frame was written: there is at least one.
    has_frame: bool,
}

impl<W: Write> Packer<W> {
    /// A packer whose frames go to `into`.
    pub fn new(into: W) -> Self {
        Self { into, piece: Vec::new(), has_frame: false }
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// Those of what it writes to.
    pub fn finish(mut self) -> io::Result<()> {
        if !self.piece.is_empty() || !self.has_frame {
            self.pack()?;
        }
        self.into.flush()
    }

    fn pack(&mut self) -> io::Result<()> {
        self.into.write_all(&packed_piece(&self.piece))?;
        self.piece.clear();
        self.has_frame = true;
        Ok(())
    }
}

impl<W: Write> Write for Packer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(PIECE - self.piece.len());
        self.piece.extend_from_slice(&bytes[..taken]);
        if self.piece.len() == PIECE {
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
    fn pieces_are_read_as_one() {
        let mut random = 1_u32;
        let noise: Vec<u8> = std::iter::repeat_with(|| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 24) as u8
        })
        .take(PIECE + 5)
        .collect();
        for bytes in [Vec::new(), vec![7], vec![0; 3 * PIECE], vec![0; PIECE], noise] {
            let mut written = Vec::new();
            let mut packer = Packer::new(&mut written);
            packer.write_all(&bytes).unwrap();
            packer.finish().unwrap();
            assert!(unpacked(&written).unwrap() == bytes && written == packed(&bytes), "{}", bytes.len());
        }
        assert!(packed(&vec![0; 3 * PIECE]).len() < 10_000);
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
