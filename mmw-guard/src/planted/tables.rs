//! The words and phrases of `rules/planted/`, as the build lowered them: nothing is read or built
//! when a program starts.

/// How a word stands in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Reading {
    /// As it is.
    #[default]
    Plain,
    /// With letters of another script that look alike.
    LookAlike,
    /// With digits and signs for letters.
    Respelled,
    /// In single letters.
    Spaced,
    /// With its letters moved by thirteen.
    Rotated,
    /// Turned around.
    Reversed,
    /// Behind an encoding: base64, hexadecimal, character references, tag characters.
    Encoded,
}

/// A word that patterns name. What it has lies in lists without pointers.
#[derive(Debug)]
pub(super) struct Word {
    text: u32,
    length: u8,
    n_elements: u8,
    n_begins: u8,
    /// The reading in which the word says this.
    pub(super) reading: Reading,
    /// Whether more letters may follow.
    pub(super) is_stem: bool,
    elements: u16,
    begins: u16,
    /// A bit for each element, by its number modulo 64.
    pub(super) mask: u64,
}

impl Word {
    /// Returns the word of a place in the vocabulary.
    pub(super) fn at(place: u16) -> &'static Self {
        &VOCABULARY[usize::from(place)]
    }

    /// Returns the word in small letters; a name with `@` for what is no word.
    pub(super) fn text(&self) -> &'static str {
        let from = self.text as usize;
        &TEXTS[from..from + usize::from(self.length)]
    }

    /// Returns the patterns that are tried where it stands.
    pub(super) fn begins(&self) -> &'static [u16] {
        list(self.begins, self.n_begins)
    }

    /// Tells whether a pattern may be tried where it stands.
    pub(super) const fn is_anchor(&self) -> bool {
        self.n_begins > 0
    }

    /// Tells whether an element of patterns takes it.
    pub(super) fn takes(&self, element: u16) -> bool {
        list(self.elements, self.n_elements).contains(&element)
    }
}

fn list(from: u16, length: u8) -> &'static [u16] {
    let from = usize::from(from);
    &NUMBERS[from..from + usize::from(length)]
}

/// A rule: what it means that one of its patterns stands in a text.
#[derive(Debug, PartialEq)]
pub(super) struct Rule {
    /// The name that findings carry. Never changed once released.
    pub(super) id: &'static str,
    /// Rules of one family count once.
    pub(super) family: &'static str,
    /// What it adds to the score.
    pub(super) weight: f32,
    /// Whether no ordinary sentence of developers says it.
    pub(super) strong: bool,
    /// Whether a negation or a mention before it takes it back.
    pub(super) damped: bool,
    /// The reason, as the end of "because …".
    pub(super) why: &'static str,
}

/// One step of a pattern.
#[derive(Debug)]
pub(super) struct Step {
    /// The element that a word has to belong to.
    pub(super) element: u16,
    /// How many other words may stand before it.
    pub(super) gap: u8,
}

/// A sequence of words.
#[derive(Debug)]
pub(super) struct Pattern {
    first: u16,
    length: u8,
    /// The step at whose words matching begins: the rarest.
    pub(super) anchor: u8,
    /// The index of its rule.
    pub(super) rule: u16,
}

impl Pattern {
    /// Returns its steps in order.
    pub(super) fn steps(&self) -> &'static [Step] {
        let from = usize::from(self.first);
        &STEPS[from..from + usize::from(self.length)]
    }
}

include!(concat!(env!("OUT_DIR"), "/planted.rs"));
