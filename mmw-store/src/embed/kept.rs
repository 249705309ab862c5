//! The vectors of a record as bytes, for a store that only keeps them.

use super::Bytes8;

/// The bytes of a vector's factor.
const SCALE_BYTES: usize = 4;

/// Returns the pieces of a record as bytes: for each its factor (`f32`, little-endian) and a byte a
/// dimension.
#[must_use]
pub fn pack(pieces: &[Bytes8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for piece in pieces {
        bytes.extend_from_slice(&piece.scale.to_le_bytes());
        bytes.extend(piece.values.iter().map(|value| value.cast_unsigned()));
    }
    bytes
}

/// Returns the pieces that [`pack`] made bytes of; nothing if the bytes are none of so many dimensions.
#[must_use]
pub fn unpack(bytes: &[u8], dimensions: usize) -> Option<Vec<Bytes8>> {
    let mut pieces = Vec::with_capacity(bytes.len() / (SCALE_BYTES + dimensions));
    let mut rest = bytes;
    while !rest.is_empty() {
        let (scale, after) = rest.split_first_chunk()?;
        let (values, after) = after.split_at_checked(dimensions)?;
        let scale = f32::from_le_bytes(*scale);
        if !scale.is_finite() {
            return None;
        }
        pieces.push(Bytes8 {
            scale,
            values: values.iter().map(|value| value.cast_signed()).collect(),
        });
        rest = after;
    }
    Some(pieces)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_does_not_fit_the_dimensions_is_no_vector() {
        let piece = Bytes8 {
            scale: 0.5,
            values: Box::new([1, -1, 127]),
        };
        let bytes = pack(&[piece]);
        assert_eq!(unpack(&bytes, 2), None);
        assert_eq!(unpack(&bytes[1..], 3), None);
        assert_eq!(unpack(&f32::NAN.to_le_bytes(), 0), None);
        assert_eq!(unpack(&[], 3), Some(Vec::new()));
    }

    proptest! {
        #[test]
        fn pieces_read_back_as_they_were_kept(
            pieces in proptest::collection::vec((any::<i16>(), any::<[i8; 5]>()), 0..4),
        ) {
            let pieces: Vec<Bytes8> = pieces
                .into_iter()
                .map(|(scale, values)| Bytes8 { scale: f32::from(scale), values: Box::new(values) })
                .collect();
            prop_assert_eq!(unpack(&pack(&pieces), 5), Some(pieces));
        }

        #[test]
        fn no_bytes_break_the_reading(bytes: Vec<u8>, dimensions in 0_usize..40) {
            let _ = unpack(&bytes, dimensions);
        }
    }
}
