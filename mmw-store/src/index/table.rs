//! Which records of a workspace are known, and where their vectors are.
//!
//! Records are numbered densely, so pages of a fixed size are smaller and faster than a map, and
//! numbers that lie far apart cost a page each, not all that lies between.

use std::collections::BTreeMap;
use std::ops::Range;

use super::block::Slot;

/// Records in a page.
const PAGE: u32 = 256;

/// In place of a slot: the record is not known.
const UNKNOWN: Slot = Slot::MAX;
/// In place of a slot: the record is known and has no vector.
const NONE: Slot = Slot::MAX - 1;
/// In place of a slot: the record has several vectors.
const SEVERAL: Slot = Slot::MAX - 2;

/// Bytes of what a page has for its records.
const PAGE_BYTES: usize = PAGE as usize * (size_of::<i64>() + size_of::<Slot>());

#[derive(Debug)]
struct Page {
    // Apart from the counts: these are read of every page when records are counted or sampled.
    numbers: Box<[i64; PAGE as usize]>,
    slots: Box<[Slot; PAGE as usize]>,
    n_known: usize,
    /// Of them, those with a vector.
    n_findable: usize,
}

/// The records of a workspace.
#[derive(Debug, Default)]
pub(super) struct Table {
    pages: BTreeMap<u32, Page>,
    /// The vectors of records that have several.
    several: BTreeMap<u32, Box<[Slot]>>,
}

impl Table {
    /// Returns the number of a record's vectors.
    pub(super) fn number_of(&self, sequence: u32) -> Option<i64> {
        let page = self.pages.get(&(sequence / PAGE))?;
        let at = (sequence % PAGE) as usize;
        (page.slots[at] != UNKNOWN).then_some(page.numbers[at])
    }

    /// Returns where a record's vectors are: nowhere if it is not known or has none.
    pub(super) fn slots_of(&self, sequence: u32) -> &[Slot] {
        let Some(page) = self.pages.get(&(sequence / PAGE)) else {
            return &[];
        };
        let at = (sequence % PAGE) as usize;
        match page.slots[at] {
            UNKNOWN | NONE => &[],
            SEVERAL => self.several.get(&sequence).map_or(&[], |slots| slots),
            _ => &page.slots[at..=at],
        }
    }

    /// Makes a record known that was not.
    pub(super) fn insert(&mut self, sequence: u32, number: i64, slots: &[Slot]) {
        let page = self.pages.entry(sequence / PAGE).or_insert_with(|| Page {
            numbers: Box::new([0; PAGE as usize]),
            slots: Box::new([UNKNOWN; PAGE as usize]),
            n_known: 0,
            n_findable: 0,
        });
        let at = (sequence % PAGE) as usize;
        page.numbers[at] = number;
        page.slots[at] = match slots {
            [] => NONE,
            [slot] => *slot,
            _ => SEVERAL,
        };
        page.n_known += 1;
        page.n_findable += usize::from(!slots.is_empty());
        if slots.len() > 1 {
            self.several.insert(sequence, slots.into());
        }
    }

    /// Forgets a record and returns where its vectors are, the last place first; nothing if it was not
    /// known.
    pub(super) fn remove(&mut self, sequence: u32) -> Option<Vec<Slot>> {
        self.number_of(sequence)?;
        let mut slots = self.slots_of(sequence).to_vec();
        slots.sort_unstable_by(|a, b| b.cmp(a));
        let key = sequence / PAGE;
        let page = self.pages.get_mut(&key)?;
        page.slots[(sequence % PAGE) as usize] = UNKNOWN;
        page.n_known -= 1;
        page.n_findable -= usize::from(!slots.is_empty());
        if page.n_known == 0 {
            self.pages.remove(&key);
        }
        self.several.remove(&sequence);
        Some(slots)
    }

    /// Notes that a record's vector is somewhere else.
    pub(super) fn moved(&mut self, sequence: u32, from: Slot, to: Slot) {
        let several = self.several.get_mut(&sequence);
        let slots = match (several, self.pages.get_mut(&(sequence / PAGE))) {
            (Some(several), _) => &mut several[..],
            (None, Some(page)) => std::slice::from_mut(&mut page.slots[(sequence % PAGE) as usize]),
            (None, None) => &mut [],
        };
        for slot in slots.iter_mut().filter(|slot| **slot == from) {
            *slot = to;
        }
    }

    /// Returns how many records of a range are known.
    pub(super) fn n_known(&self, range: &Range<u32>) -> usize {
        self.count(range, |page| page.n_known, |slot| slot != UNKNOWN)
    }

    /// Returns how many records of a range have a vector.
    pub(super) fn n_findable(&self, range: &Range<u32>) -> usize {
        self.count(range, |page| page.n_findable, is_findable)
    }

    fn count(
        &self,
        range: &Range<u32>,
        whole: impl Fn(&Page) -> usize,
        counts: impl Fn(Slot) -> bool,
    ) -> usize {
        let pages = self.pages_in(range);
        let counted = pages.map(|(_, within, page)| {
            if within.len() == PAGE as usize {
                whole(page)
            } else {
                let slots = &page.slots[within];
                slots.iter().filter(|slot| counts(**slot)).count()
            }
        });
        counted.sum()
    }

    /// Returns those records of a range that have a vector and are at these places among all that
    /// have, counted from 0. The places ascend.
    pub(super) fn findable_at(&self, range: &Range<u32>, places: &[usize]) -> Vec<u32> {
        let mut places = places.iter().copied().peekable();
        let mut found = Vec::new();
        let mut passed = 0;
        for (first, within, page) in self.pages_in(range) {
            let Some(next) = places.peek() else {
                break;
            };
            // Pages without a place are passed over, or a large workspace would take long.
            if within.len() == PAGE as usize && *next >= passed + page.n_findable {
                passed += page.n_findable;
                continue;
            }
            // Where each has one, as nearly everywhere, places are records.
            if within.len() == PAGE as usize && page.n_findable == within.len() {
                let end = passed + page.n_findable;
                while let Some(place) = places.next_if(|place| *place < end) {
                    found.push(first + (place - passed) as u32);
                }
                passed = end;
                continue;
            }
            for at in within.filter(|at| is_findable(page.slots[*at])) {
                if places.next_if_eq(&passed).is_some() {
                    found.push(first + at as u32);
                }
                passed += 1;
            }
        }
        found
    }

    /// Returns the pages of a range that is not empty: the first record of each, and which part of it
    /// is in the range.
    fn pages_in(&self, range: &Range<u32>) -> impl Iterator<Item = (u32, Range<usize>, &Page)> {
        let pages = self
            .pages
            .range(range.start / PAGE..range.end.div_ceil(PAGE));
        pages.map(|(key, page)| {
            let first = key * PAGE;
            let at = |sequence: u32| sequence.saturating_sub(first).min(PAGE) as usize;
            (first, at(range.start)..at(range.end), page)
        })
    }

    /// Returns how many bytes of memory are held, about.
    pub(super) fn n_bytes(&self) -> usize {
        let several = self
            .several
            .values()
            .map(|slots| size_of_val(&**slots) + 32);
        self.pages.len() * (PAGE_BYTES + size_of::<Page>() + 24) + several.sum::<usize>()
    }
}

fn is_findable(slot: Slot) -> bool {
    slot != UNKNOWN && slot != NONE
}
