//! A file that is not exactly a model is refused, in words, and nothing panics.

use proptest::prelude::*;

use super::testing::{SIZES, bytes};
use super::*;

fn read(bytes: &[u8]) -> Result<ModelFile, FormatError> {
    ModelFile::read(bytes)
}

/// Writes the checksum anew, so that a change meets the checks behind it.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let checksum = crc32fast::hash(&bytes[CHECKED_FROM..]);
    bytes[12..16].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

#[test]
fn what_was_written_is_read_as_it_was() {
    for config in SIZES {
        let file = read(&bytes(&config, 7)).unwrap();
        assert_eq!((file.config(), file.name()), (&config, "small"));
        assert_eq!(file.vocabulary(), testing::vocabulary(config.vocabulary));
        assert!(file.is_intact());
        let sums: &[i32] = file.numbers(Kind::DownSums, config.layers - 1);
        assert_eq!(sums.len(), config.hidden);
    }
}

#[test]
fn every_part_begins_at_a_multiple_of_64() {
    let file = read(&bytes(&SIZES[0], 7)).unwrap();
    assert!(file.parts.iter().all(|part| part.start % ALIGNMENT == 0));
}

fn check(change: impl FnOnce(&mut Vec<u8>), expected: &FormatError) {
    let mut bytes = bytes(&SIZES[0], 7);
    change(&mut bytes);
    assert_eq!(read(&bytes).unwrap_err(), *expected);
}

fn size(what: &'static str, found: usize) -> FormatError {
    FormatError::Size { what, found }
}

#[test]
fn what_is_wrong_is_said() {
    check(|file| file[0] = b'm', &FormatError::Magic);
    check(|file| file.truncate(63), &FormatError::Magic);
    check(|file| file[8] = 2, &FormatError::Version(2));
    check(|file| file[12] ^= 1, &FormatError::Checksum);
    check(
        |file| *file.last_mut().unwrap() ^= 1,
        &FormatError::Checksum,
    );
    check(|file| file[20] = 33, &size("hidden", 33));
    check(|file| file[28] = 0, &size("heads", 0));
    check(|file| file[40] = 65, &size("window", 65));
    check(|file| file[44] = 2, &FormatError::Pooling(2));
    check(|file| file[51] = 0x7f, &FormatError::Epsilon);
    check(|file| file[52] = 1, &size("the number of parts", 1));
    check(|file| file[56] = 0, &size("the name", 0));
    check(|file| file[64] = 1, &FormatError::Part(0));
    check(|file| file[64 + 32 + 16] ^= 1, &FormatError::Part(1));
}

#[test]
fn a_file_too_short_or_too_long_is_refused() {
    let whole = bytes(&SIZES[0], 7);
    let wanted = whole.len();
    for found in [wanted - 1, wanted + 1] {
        let mut file = whole.clone();
        file.resize(found, 0);
        assert_eq!(
            read(&file).unwrap_err(),
            FormatError::Length { found, wanted }
        );
    }
}

#[test]
fn sizes_beyond_any_memory_are_refused_before_anything_is_read() {
    let mut config = SIZES[0];
    config.vocabulary = 1 << 20;
    config.hidden = 4096;
    let told = write(&config, &[b"x".to_vec(), b"x".to_vec()]).unwrap_err();
    assert!(
        matches!(
            told,
            FormatError::Size {
                what: "the sum of all parts in bytes",
                ..
            }
        ),
        "{told}"
    );
}

#[test]
fn a_text_that_is_none_is_refused() {
    let mut file = bytes(&SIZES[0], 7);
    let at = read(&file).unwrap().parts[0].start;
    file[at] = 0xff;
    assert_eq!(read(&sealed(file)).unwrap_err(), FormatError::Text);
}

proptest! {
    #[test]
    fn arbitrary_bytes_are_never_a_model(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(read(&bytes).is_err());
    }

    #[test]
    fn an_arbitrary_head_never_panics(head in proptest::collection::vec(any::<u8>(), 48), small: bool) {
        let mut file = bytes(&SIZES[0], 7);
        // Every other time only low bytes, so that sizes are near their limits.
        for (at, byte) in head.into_iter().enumerate() {
            file[16 + at] = if small && at % 4 > 1 { 0 } else { byte };
        }
        let _ = read(&sealed(file));
    }

    #[test]
    fn a_changed_byte_is_always_found(at: prop::sample::Index, by in 1_u8..) {
        let mut file = bytes(&SIZES[0], 7);
        let at = at.index(file.len());
        file[at] ^= by;
        prop_assert!(read(&file).is_err());
    }

    /// Beyond the checksum: what is read after such a change is a model, or it is refused.
    #[test]
    fn a_change_in_head_or_table_is_found_without_the_checksum(
        at in 16_usize..64 + 34 * 32,
        by in 1_u8..,
    ) {
        let mut file = bytes(&SIZES[0], 7);
        file[at] ^= by;
        let read = read(&sealed(file));
        // Two fields leave everything where it lies: the window and what is added to a variance.
        let leaves_all = (40..44).contains(&at) || (44..52).contains(&at) || (28..32).contains(&at);
        prop_assert!(read.is_err() || leaves_all, "byte {at} by {by}");
    }
}
