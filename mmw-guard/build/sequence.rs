//! Reads the form of a token: a plain sequence of literals and classes with counts, written as a
//! regular expression. Such a form is matched without an engine and in one direction.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

/// The upper count of a run that has none.
const UNLIMITED: u32 = u32::MAX;

/// One part of a sequence.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// These bytes.
    Bytes(Vec<u8>),
    /// `min` to `max` bytes of a set.
    Run { set: [u64; 4], min: u32, max: u32 },
}

/// Reads a form.
pub(crate) fn parse(form: &str) -> Result<Vec<Part>, String> {
    let hir = ParserBuilder::new()
        .unicode(false)
        .utf8(false)
        .build()
        .parse(form)
        .map_err(|trouble| format!("`{form}`: {trouble}"))?;
    let mut parts = Vec::new();
    collect(&hir, &mut parts).map_err(|why| format!("`{form}`: {why}"))?;
    for pair in parts.windows(2) {
        if let [Part::Run { set, min, max }, next] = pair
            && min != max
        {
            let meets = match next {
                Part::Bytes(bytes) => has(set, bytes[0]),
                Part::Run { set: next, .. } => set.iter().zip(next).any(|(a, b)| a & b != 0),
            };
            if meets {
                return Err(format!(
                    "`{form}`: what follows a class with an open count must not belong to it"
                ));
            }
        }
    }
    if parts.is_empty() {
        return Err("the form is empty".to_owned());
    }
    Ok(parts)
}

fn has(set: &[u64; 4], byte: u8) -> bool {
    set[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1
}

fn collect(hir: &Hir, parts: &mut Vec<Part>) -> Result<(), String> {
    match hir.kind() {
        HirKind::Concat(all) => all.iter().try_for_each(|one| collect(one, parts)),
        HirKind::Literal(literal) => {
            if let Some(Part::Bytes(bytes)) = parts.last_mut() {
                bytes.extend_from_slice(&literal.0);
            } else {
                parts.push(Part::Bytes(literal.0.to_vec()));
            }
            Ok(())
        }
        HirKind::Class(class) => {
            parts.push(Part::Run {
                set: set(class)?,
                min: 1,
                max: 1,
            });
            Ok(())
        }
        HirKind::Repetition(repetition) => {
            let set = match repetition.sub.kind() {
                HirKind::Class(class) => set(class)?,
                HirKind::Literal(literal) if literal.0.len() == 1 => {
                    let mut set = [0; 4];
                    insert(&mut set, literal.0[0]);
                    set
                }
                _ => return Err("only a class or one character may be repeated".to_owned()),
            };
            parts.push(Part::Run {
                set,
                min: repetition.min,
                max: repetition.max.unwrap_or(UNLIMITED),
            });
            Ok(())
        }
        _ => Err("must be a plain sequence of characters and classes".to_owned()),
    }
}

fn insert(set: &mut [u64; 4], byte: u8) {
    set[usize::from(byte >> 6)] |= 1 << (byte & 63);
}

fn set(class: &Class) -> Result<[u64; 4], String> {
    let mut set = [0; 4];
    match class {
        Class::Bytes(class) => {
            for range in class.ranges() {
                for byte in range.start()..=range.end() {
                    insert(&mut set, byte);
                }
            }
        }
        Class::Unicode(class) => {
            for range in class.ranges() {
                for c in range.start()..=range.end() {
                    let byte = u8::try_from(c).ok().filter(u8::is_ascii);
                    insert(&mut set, byte.ok_or("a class may hold ASCII only")?);
                }
            }
        }
    }
    Ok(set)
}
