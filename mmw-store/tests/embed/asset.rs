//! The committed model file is the one that was made from the published weights.

use std::path::{Path, PathBuf};

use mmw_store::embed::{Embedder, ModelFile};
use sha2::{Digest, Sha256};

fn asset(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("assets")
        .join(name)
}

#[test]
fn the_file_has_the_checksum_that_lies_beside_it() {
    let bytes = std::fs::read(asset("minilm-l6-v2.mmw")).unwrap();
    let digest = Sha256::digest(&bytes);
    let found: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let written = std::fs::read_to_string(asset("minilm-l6-v2.mmw.sha256")).unwrap();
    assert_eq!(written, format!("{found}  minilm-l6-v2.mmw\n"));
}

#[test]
fn the_file_is_intact_and_has_the_sizes_of_the_model() {
    let bytes = std::fs::read(asset("minilm-l6-v2.mmw")).unwrap();
    let read = ModelFile::read(&bytes).unwrap();
    let model = super::model();
    assert_eq!(model.file().config(), read.config());
    assert_eq!(model.file().checksum(), read.checksum());
    let config = read.config();
    let sizes = [
        config.vocabulary,
        config.hidden,
        config.layers,
        config.heads,
    ];
    assert_eq!(sizes, [30_522, 384, 6, 12]);
    assert_eq!(
        (config.intermediate, config.positions, config.window),
        (1_536, 512, 256)
    );
    assert!(model.model().name.starts_with("all-MiniLM-L6-v2@"));
}

#[test]
fn the_licence_and_the_notice_lie_beside_it() {
    let licence = std::fs::read_to_string(asset("LICENSE")).unwrap();
    assert!(licence.contains("Apache License") && licence.contains("Version 2.0, January 2004"));
    let notice = std::fs::read_to_string(asset("NOTICE")).unwrap();
    assert!(notice.contains("all-MiniLM-L6-v2") && notice.contains("changed"));
}
