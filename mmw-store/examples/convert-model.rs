//! Makes a model file of a published folder: `convert-model FOLDER NAME FILE`.
//!
//! `cargo xtask model` makes the built-in model with it.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, name, file] = &arguments[..] else {
        return Err("usage: convert-model FOLDER NAME FILE".into());
    };
    let (folder, file) = (Path::new(folder), PathBuf::from(file));
    let bytes = mmw_store::embed::convert(name, |part| fs::read(folder.join(part)).ok())?;
    fs::write(file, bytes)?;
    Ok(())
}
