//! Made-up notes whose words are as unevenly common as those of a language (Zipf).

/// Different words of the vocabulary.
const N_WORDS: usize = 30_000;
/// How steeply words become rare.
const ZIPF_EXPONENT: f64 = 1.05;

/// A source of numbers that is the same in every run (splitmix64).
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.roll() % n as u64).expect("below n")
    }

    #[allow(clippy::cast_precision_loss, reason = "a random fraction")]
    fn fraction(&mut self) -> f64 {
        (self.roll() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The notes, each as numbers of words.
pub(crate) struct Corpus {
    words: Vec<String>,
    notes: Vec<Vec<usize>>,
    /// How many notes have each word.
    n_having: Vec<usize>,
}

impl Corpus {
    pub(crate) fn new(n_notes: usize) -> Self {
        let mut dice = Dice::new(42);
        let words: Vec<String> = (0..N_WORDS).map(spell).collect();
        let mut steps = Vec::with_capacity(N_WORDS);
        let mut sum = 0.0;
        #[allow(clippy::cast_precision_loss, reason = "small numbers")]
        for rank in 1..=N_WORDS {
            sum += (rank as f64 + 2.7).powf(-ZIPF_EXPONENT);
            steps.push(sum);
        }
        let mut n_having = vec![0; N_WORDS];
        let notes = (0..n_notes)
            .map(|_| {
                let n = 8 + dice.below(23);
                let note: Vec<usize> = (0..n)
                    .map(|_| {
                        let at = dice.fraction() * sum;
                        steps.partition_point(|step| *step < at).min(N_WORDS - 1)
                    })
                    .collect();
                let mut distinct = note.clone();
                distinct.sort_unstable();
                distinct.dedup();
                for word in distinct {
                    n_having[word] += 1;
                }
                note
            })
            .collect();
        Self {
            words,
            notes,
            n_having,
        }
    }

    /// Returns the text of a note.
    pub(crate) fn text(&self, n: usize) -> String {
        let words: Vec<&str> = self.notes[n]
            .iter()
            .map(|word| self.words[*word].as_str())
            .collect();
        words.join(" ")
    }

    /// Returns a query of 2 to 4 words of one note, the rarest of them in at most `rarest` notes.
    pub(crate) fn query_with_a_rare_word(&self, dice: &mut Dice, rarest: usize) -> String {
        self.query(dice, |n_having| {
            n_having.iter().min().is_some_and(|least| *least <= rarest)
        })
    }

    /// Returns a query of 2 to 4 words of one note, all of them in at least `commonest` notes.
    pub(crate) fn query_of_common_words(&self, dice: &mut Dice, commonest: usize) -> String {
        self.query(dice, |n_having| n_having.iter().all(|n| *n >= commonest))
    }

    fn query(&self, dice: &mut Dice, fits: impl Fn(&[usize]) -> bool) -> String {
        loop {
            let note = &self.notes[dice.below(self.notes.len())];
            let mut chosen: Vec<usize> = (0..2 + dice.below(3))
                .map(|_| note[dice.below(note.len())])
                .collect();
            chosen.sort_unstable();
            chosen.dedup();
            let n_having: Vec<usize> = chosen.iter().map(|word| self.n_having[*word]).collect();
            if chosen.len() >= 2 && fits(&n_having) {
                let words: Vec<&str> = chosen
                    .iter()
                    .map(|word| self.words[*word].as_str())
                    .collect();
                return words.join(" ");
            }
        }
    }
}

/// Spells a number as a word that no stemmer shortens.
fn spell(mut n: usize) -> String {
    const SYLLABLES: [&str; 20] = [
        "ba", "ko", "ru", "mi", "zu", "ta", "vo", "ni", "pe", "lo", "ga", "du", "fi", "ho", "ju",
        "ka", "mo", "pa", "ri", "so",
    ];
    let mut word = String::new();
    for _ in 0..4 {
        word.push_str(SYLLABLES[n % SYLLABLES.len()]);
        n /= SYLLABLES.len();
    }
    word.push('k');
    word
}
