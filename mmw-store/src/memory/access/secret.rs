//! The form of a key: `mmw_<id>_<secret><checksum>`, all base62.
//!
//! The checksum lets a program tell a mistyped key without asking, and lets the guard and other
//! scanners recognise a real one.

use mmw_core::env::Entropy;
use mmw_core::ids::KeyId;
use sha2::{Digest as _, Sha256};

/// How a key begins.
const PREFIX: &str = "mmw_";
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const ID_CHARS: usize = 10;
/// 32 random bytes in base62.
const SECRET_CHARS: usize = 43;
/// A CRC-32 in base62.
const CHECKSUM_CHARS: usize = 6;

/// A key that nobody has yet.
pub(super) struct FreshKey {
    /// The public half.
    pub(super) id: KeyId,
    /// The whole key.
    pub(super) whole: String,
}

impl FreshKey {
    /// Draws a key.
    pub(super) fn draw(entropy: &dyn Entropy) -> Self {
        let mut id = [0_u8; 16];
        entropy.fill(&mut id);
        let id = base62(u128::from_be_bytes(id), ID_CHARS);
        let mut secret = [0_u8; 32];
        entropy.fill(&mut secret);
        let (high, low) = secret.split_at(16);
        let half = |bytes: &[u8], chars| {
            base62(
                u128::from_be_bytes(bytes.try_into().expect("half of 32 bytes")),
                chars,
            )
        };
        // 22 digits hold one half of 128 bits, 21 all but two bits of the other.
        let secret = format!("{}{}", half(high, 22), half(low, SECRET_CHARS - 22));
        let body = format!("{PREFIX}{id}_{secret}");
        let whole = format!("{body}{}", checksum(&body));
        let id = KeyId::new(&id).expect("base62 digits make a key id");
        Self { id, whole }
    }
}

fn base62(mut number: u128, n_chars: usize) -> String {
    let mut digits = vec![b'0'; n_chars];
    for digit in digits.iter_mut().rev() {
        *digit = ALPHABET[usize::try_from(number % 62).expect("below 62")];
        number /= 62;
    }
    digits.into_iter().map(char::from).collect()
}

fn checksum(body: &str) -> String {
    base62(u128::from(crc32fast::hash(body.as_bytes())), CHECKSUM_CHARS)
}

/// Returns the id of a whole key if its form and checksum are right.
pub(super) fn key_id(key: &str) -> Option<KeyId> {
    let (id, secret) = key.strip_prefix(PREFIX)?.split_once('_')?;
    let is_whole = secret.len() == SECRET_CHARS + CHECKSUM_CHARS
        && secret.bytes().all(|b| b.is_ascii_alphanumeric());
    if !is_whole {
        return None;
    }
    let (body, sum) = key.split_at(key.len() - CHECKSUM_CHARS);
    (checksum(body) == sum).then(|| KeyId::new(id)).flatten()
}

/// Returns what is kept of a key.
pub(super) fn hash(key: &str) -> [u8; 32] {
    Sha256::digest(key.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Counting;

    impl Entropy for Counting {
        fn fill(&self, bytes: &mut [u8]) {
            for (n, byte) in bytes.iter_mut().enumerate() {
                *byte = u8::try_from((n * 7 + 201) & 0xff).unwrap();
            }
        }
    }

    #[test]
    fn a_key_names_its_id_and_a_slip_is_noticed() {
        let key = FreshKey::draw(&Counting);
        assert_eq!(key_id(&key.whole), Some(key.id.clone()));
        assert!(key.whole.starts_with("mmw_"));
        let mut slipped = key.whole.clone().into_bytes();
        slipped[20] = if slipped[20] == b'x' { b'y' } else { b'x' };
        assert_eq!(key_id(std::str::from_utf8(&slipped).unwrap()), None);
        for bad in [
            "",
            "mmw_",
            "mmw_a_b",
            "mmw_trial",
            &key.whole[..key.whole.len() - 1],
            &format!("{}0", key.whole),
            "mmw_é_é",
        ] {
            assert_eq!(key_id(bad), None, "{bad}");
        }
    }
}
