//! The two doors through which time and randomness come in.
//!
//! `clippy.toml` forbids the operating system's clock and randomness everywhere; programs open the
//! doors with the `system` feature, tests with a fixed clock and a seed.

use crate::ids::ID_ENTROPY_BYTES;
use crate::time::Timestamp;

/// Tells the time.
pub trait Clock: Send + Sync {
    /// Returns the present moment.
    fn now(&self) -> Timestamp;
}

/// Gives random bytes.
pub trait Entropy: Send + Sync {
    /// Fills the buffer with unpredictable bytes.
    fn fill(&self, bytes: &mut [u8]);

    /// Returns the random half of one id.
    fn id_bytes(&self) -> [u8; ID_ENTROPY_BYTES] {
        let mut bytes = [0; ID_ENTROPY_BYTES];
        self.fill(&mut bytes);
        bytes
    }
}

#[cfg(feature = "system")]
#[allow(clippy::disallowed_methods, reason = "this module is the door itself")]
mod system {
    use std::time::{SystemTime, UNIX_EPOCH};

    use super::{Clock, Entropy, Timestamp};

    /// The operating system's clock.
    #[derive(Debug, Clone, Copy, Default)]
    pub struct SystemClock;

    impl Clock for SystemClock {
        fn now(&self) -> Timestamp {
            let ms = match SystemTime::now().duration_since(UNIX_EPOCH) {
                Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
                Err(before) => -i64::try_from(before.duration().as_millis()).unwrap_or(i64::MAX),
            };
            Timestamp::from_ms(ms)
        }
    }

    /// The operating system's randomness.
    #[derive(Debug, Clone, Copy, Default)]
    pub struct SystemEntropy;

    impl Entropy for SystemEntropy {
        fn fill(&self, bytes: &mut [u8]) {
            getrandom::fill(bytes).expect("the operating system gives random bytes");
        }
    }
}

#[cfg(feature = "system")]
pub use system::{SystemClock, SystemEntropy};
