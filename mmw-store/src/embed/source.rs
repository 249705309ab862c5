//! Where a model comes from: it is part of the program, or a file that somebody names.

use std::path::{Path, PathBuf};

use super::{FormatError, Instructions, LocalModel, ModelFile};

/// A file could not be opened as a model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The file can't be read.
    #[error("the model file {} can't be read", path.display())]
    Read {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is no model.
    #[error("{} is no model that this program can use", path.display())]
    Format {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: FormatError,
    },
}

impl LocalModel {
    /// Opens a model file: what [`super::convert`] writes.
    ///
    /// # Errors
    /// [`OpenError`] says whether the file can't be read or is no model.
    pub fn open(path: &Path, instructions: Instructions) -> Result<Self, OpenError> {
        let bytes = std::fs::read(path).map_err(|source| OpenError::Read {
            path: path.to_owned(),
            source,
        })?;
        ModelFile::read(&bytes)
            .and_then(|file| Self::new(file, instructions))
            .map_err(|source| OpenError::Format {
                path: path.to_owned(),
                source,
            })
    }
}

#[cfg(feature = "embedded-model")]
mod built_in {
    use super::{FormatError, Instructions, LocalModel, ModelFile};

    /// Bytes that lie as the model file asks for; a plain `include_bytes!` may lie anywhere.
    #[repr(C, align(64))]
    struct Aligned<B: ?Sized>(B);

    static FILE: &Aligned<[u8]> = &Aligned(*include_bytes!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/assets/minilm-l6-v2.mmw"
    )));

    impl LocalModel {
        /// Returns the model that is part of the program: all-MiniLM-L6-v2, 384 dimensions, English.
        /// Where its weights come from and their licence: `assets/NOTICE`.
        ///
        /// The weights stay where the system mapped the program, once for all processes; each call
        /// makes a vocabulary of its own (about 2 MB), so keep what it returns.
        ///
        /// # Errors
        /// [`FormatError`] if the program was built with another file than the tests saw, or for a
        /// processor whose numbers are the other way round.
        pub fn built_in(instructions: Instructions) -> Result<Self, FormatError> {
            Self::new(ModelFile::of_program(&FILE.0)?, instructions)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::format::testing::{SIZES, bytes};
    use super::*;

    #[test]
    fn a_file_is_opened_and_one_that_is_none_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("small.mmw");
        let open = || LocalModel::open(&path, Instructions::Best);
        let told = open().unwrap_err();
        assert!(matches!(told, OpenError::Read { .. }) && told.to_string().contains("small.mmw"));
        std::fs::write(&path, "none").unwrap();
        let told = open().unwrap_err();
        assert!(matches!(told, OpenError::Format { .. }) && told.to_string().contains("small.mmw"));
        std::fs::write(&path, bytes(&SIZES[0], 3)).unwrap();
        assert!(open().is_ok());
    }
}
