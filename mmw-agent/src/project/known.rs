//! Which memory a project goes on with when it becomes known by another name.
//!
//! A name is a remote, a git directory or a folder; a place is what stays when that changes. The memory
//! of a place stays its memory: if what it is known by now has none yet, the new name leads to the old
//! memory from then on, here and in every other clone of it. If both have one, nothing is mixed: the one
//! of the new name is taken, and the other is told, for a person to decide.
//!
//! The rules are pure: what a memory holds is asked through a function.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The most places that are known; the one that was noted first goes first.
const MAX_PLACES: usize = 4_096;

/// The most memories of earlier names that are told of one place.
const MAX_FORMER: usize = 8;

/// What names lead to, and what places were known by.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Known {
    /// Memories of names that do not lead to the memory of the same name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    names: BTreeMap<String, String>,
    /// The places, in the order in which they were noted.
    #[serde(default)]
    places: Vec<Place>,
}

/// What is known of a place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Place {
    path: String,
    /// Tells the folder itself, wherever it is moved; unknown on some systems.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stamp: Option<Stamp>,
    /// What it was known by when it was last looked at.
    name: String,
    /// Memories that it had under other names and that were not taken along.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    former: Vec<String>,
}

/// What tells a folder from any other one that is or ever was on this computer: device, number, and the
/// moment in which it was made, since numbers are given again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    pub(crate) device: u64,
    pub(crate) number: u64,
    pub(crate) made_ns: u64,
}

/// A project as it is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Here {
    /// Its place.
    pub(crate) place: String,
    /// The stamp of that folder.
    pub(crate) stamp: Option<Stamp>,
    /// What it is known by.
    pub(crate) name: String,
    /// Places that it would have had before it became a repository, or while it was one.
    pub(crate) was: Vec<String>,
}

/// What is asked about the world.
pub(crate) trait World<E> {
    /// Returns how much the memory of that name holds: records and what waits for review.
    ///
    /// # Errors
    /// If it can't be told.
    fn holds(&mut self, name: &str) -> Result<u64, E>;

    /// Tells whether nothing is at that path any more.
    fn is_gone(&mut self, path: &str) -> bool;
}

/// Which memory is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Settled {
    /// The memory's name in the store.
    pub(crate) name: String,
    /// Other memories that this place had under earlier names.
    pub(crate) former: Vec<String>,
}

impl Known {
    /// Returns which memory a name leads to.
    fn memory_of(&self, name: &str) -> String {
        self.names.get(name).map_or(name, String::as_str).to_owned()
    }

    fn place(&self, path: &str) -> Option<&Place> {
        self.places.iter().find(|place| place.path == path)
    }

    /// Returns the memory of a place that is known by the same name as ever.
    pub(crate) fn same_as_ever(&self, here: &Here) -> Option<Settled> {
        let place = self.place(&here.place)?;
        let is_same = place.name == here.name && (place.stamp == here.stamp);
        is_same.then(|| self.settled(here, &place.former))
    }

    fn settled(&self, here: &Here, former: &[String]) -> Settled {
        let name = self.memory_of(&here.name);
        Settled {
            former: former.iter().filter(|it| **it != name).cloned().collect(),
            name,
        }
    }

    /// Decides which memory a place goes on with, and notes what it is known by.
    ///
    /// # Errors
    /// What `world` runs into; nothing is noted then.
    pub(crate) fn settle<E>(
        &mut self,
        here: &Here,
        world: &mut impl World<E>,
    ) -> Result<Settled, E> {
        let (came_from, mut former) = self.former(here, world);
        let own = self.memory_of(&here.name);
        former.retain(|name| *name != own);
        let mut holding = Vec::new();
        for name in former {
            if holding.len() < MAX_FORMER && world.holds(&name)? > 0 {
                holding.push(name);
            }
        }
        let goes_on = !holding.is_empty() && world.holds(&own)? == 0;
        // Whatever comes to the path that a memory is named by and has left is another project.
        let left = came_from
            .as_ref()
            .filter(|moved| goes_on && moved.name == moved.path && moved.path != here.name);
        let left = match left {
            Some(moved) => Some((moved.path.clone(), self.unused(&moved.path, world)?)),
            None => None,
        };
        if goes_on {
            let memory = holding.remove(0);
            self.lead(&here.name, memory);
        }
        if let Some(moved) = came_from {
            self.places.retain(|place| place.path != moved.path);
        }
        if let Some((path, name)) = left {
            self.lead(&path, name);
        }
        self.note(here, holding.clone());
        Ok(self.settled(here, &holding))
    }

    /// Has a name lead to a memory, because a person wants it so.
    pub(crate) fn choose(&mut self, here: &Here, memory: &str) {
        self.lead(&here.name, memory.to_owned());
        self.note(here, Vec::new());
    }

    fn lead(&mut self, name: &str, memory: String) {
        if name == memory {
            self.names.remove(name);
        } else {
            self.names.insert(name.to_owned(), memory);
        }
    }

    fn note(&mut self, here: &Here, former: Vec<String>) {
        self.places.retain(|place| place.path != here.place);
        if self.places.len() >= MAX_PLACES {
            self.places.remove(0);
        }
        self.places.push(Place {
            path: here.place.clone(),
            stamp: here.stamp,
            name: here.name.clone(),
            former,
        });
    }

    /// Returns the memories that a place had under other names, the likeliest first, and the place that it
    /// was moved from.
    fn former<E>(&self, here: &Here, world: &mut impl World<E>) -> (Option<Place>, Vec<String>) {
        let known = self.place(&here.place);
        let moved = self.places.iter().find(|place| {
            known.is_none()
                && place.stamp.is_some()
                && place.stamp == here.stamp
                && world.is_gone(&place.path)
        });
        let mut memories = Vec::new();
        for place in known.into_iter().chain(moved) {
            memories.push(self.memory_of(&place.name));
            memories.extend(place.former.iter().cloned());
        }
        // Without a note, what it was known by is still told by where it is.
        if known.is_none() {
            let places = here.was.iter().chain([&here.place]);
            for path in places {
                let name = self.place(path).map(|place| self.memory_of(&place.name));
                memories.extend(name);
                memories.push(self.memory_of(path));
            }
        }
        let mut seen = std::collections::HashSet::new();
        memories.retain(|name| seen.insert(name.clone()));
        (moved.cloned(), memories)
    }

    /// Returns a name like this one that nothing was saved under.
    fn unused<E>(&self, name: &str, world: &mut impl World<E>) -> Result<String, E> {
        let mut nth = 2_u32;
        loop {
            let candidate = format!("{name}#{nth}");
            let is_taken = self.names.values().any(|memory| *memory == candidate);
            if !is_taken && world.holds(&candidate)? == 0 {
                return Ok(candidate);
            }
            nth += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{HashMap, HashSet};
    use std::convert::Infallible;

    /// A computer with repositories on it.
    #[derive(Default)]
    struct Computer {
        known: Known,
        held: HashMap<String, u64>,
        gone: HashSet<String>,
    }

    impl World<Infallible> for (&HashMap<String, u64>, &HashSet<String>) {
        fn holds(&mut self, name: &str) -> Result<u64, Infallible> {
            Ok(self.0.get(name).copied().unwrap_or(0))
        }
        fn is_gone(&mut self, path: &str) -> bool {
            self.1.contains(path)
        }
    }

    fn at(place: &str, name: &str) -> Here {
        Here {
            place: place.to_owned(),
            stamp: None,
            name: name.to_owned(),
            was: Vec::new(),
        }
    }

    impl Computer {
        /// Starts the agent in a place; returns the memory that it works on.
        fn start(&mut self, here: &Here) -> Settled {
            if let Some(settled) = self.known.same_as_ever(here) {
                return settled;
            }
            let Ok(settled) = self.known.settle(here, &mut (&self.held, &self.gone));
            settled
        }

        /// Starts the agent in a place and saves something.
        fn save(&mut self, here: &Here) -> String {
            let name = self.start(here).name;
            *self.held.entry(name.clone()).or_default() += 1;
            name
        }
    }

    #[test]
    fn a_first_remote_goes_on_with_the_memory_here_and_in_a_new_clone() {
        let mut computer = Computer::default();
        let before = at("/api/.git", "/api/.git");
        assert_eq!(computer.save(&before), "/api/.git");
        let after = at("/api/.git", "h/acme/api");
        assert_eq!(computer.save(&after), "/api/.git");
        assert_eq!(
            computer.start(&at("/clone/.git", "h/acme/api")).name,
            "/api/.git"
        );
        assert_eq!(computer.start(&before).name, "/api/.git");
    }

    #[test]
    fn a_memory_from_before_places_were_noted_is_found_too() {
        let mut computer = Computer::default();
        computer.held.insert("/api/.git".to_owned(), 3);
        computer.held.insert("/notes".to_owned(), 1);
        assert_eq!(
            computer.start(&at("/api/.git", "h/acme/api")).name,
            "/api/.git"
        );
        let mut became = at("/notes/.git", "/notes/.git");
        became.was = vec!["/notes".to_owned()];
        assert_eq!(computer.start(&became).name, "/notes");
    }

    #[test]
    fn two_memories_are_never_mixed_and_the_other_one_is_told() {
        let mut computer = Computer::default();
        computer.save(&at("/clone/.git", "h/acme/api"));
        computer.save(&at("/api/.git", "/api/.git"));
        let here = at("/api/.git", "h/acme/api");
        let both = Settled {
            name: "h/acme/api".to_owned(),
            former: vec!["/api/.git".to_owned()],
        };
        assert_eq!(computer.start(&here), both);
        assert_eq!(computer.start(&here), both, "and again");
        computer.known.choose(&here, "/api/.git");
        let chosen = Settled {
            name: "/api/.git".to_owned(),
            former: Vec::new(),
        };
        assert_eq!(computer.start(&here), chosen);
        let clone = computer.start(&at("/clone/.git", "h/acme/api"));
        assert_eq!(clone.name, "/api/.git");
    }

    #[test]
    fn a_name_under_which_nothing_was_saved_is_no_memory() {
        let mut computer = Computer::default();
        computer.start(&at("/clone/.git", "h/acme/api"));
        computer.save(&at("/api/.git", "/api/.git"));
        let here = at("/api/.git", "h/acme/api");
        assert_eq!(computer.start(&here).name, "/api/.git");
        assert_eq!(
            computer.start(&at("/clone/.git", "h/acme/api")).name,
            "/api/.git"
        );
    }

    #[test]
    fn a_fork_goes_on_with_what_was_known_and_other_clones_stay() {
        let mut computer = Computer::default();
        computer.save(&at("/one/.git", "h/acme/api"));
        computer.save(&at("/two/.git", "h/acme/api"));
        let fork = at("/one/.git", "h/ann/api");
        assert_eq!(computer.save(&fork), "h/acme/api");
        assert_eq!(
            computer.start(&at("/two/.git", "h/acme/api")).name,
            "h/acme/api"
        );
        computer.known.choose(&fork, "h/ann/api");
        assert_eq!(computer.save(&fork), "h/ann/api");
        assert_eq!(computer.start(&fork).former, Vec::<String>::new());
        assert_eq!(
            computer.start(&at("/two/.git", "h/acme/api")).name,
            "h/acme/api"
        );
    }

    fn stamped(place: &str, number: u64) -> Here {
        Here {
            stamp: Some(Stamp {
                device: 1,
                number,
                made_ns: number,
            }),
            ..at(place, place)
        }
    }

    #[test]
    fn a_moved_repository_keeps_its_memory_and_what_comes_to_its_old_place_has_its_own() {
        let mut computer = Computer::default();
        computer.save(&stamped("/a/.git", 7));
        computer.gone.insert("/a/.git".to_owned());
        assert_eq!(computer.save(&stamped("/b/.git", 7)), "/a/.git");
        computer.gone.clear();
        let newcomer = stamped("/a/.git", 8);
        assert_eq!(computer.save(&newcomer), "/a/.git#2");
        assert_eq!(computer.start(&stamped("/b/.git", 7)).name, "/a/.git");
        assert_eq!(computer.start(&newcomer).name, "/a/.git#2");
    }

    #[test]
    fn a_repository_that_is_moved_and_moved_back_keeps_its_memory() {
        let mut computer = Computer::default();
        computer.save(&stamped("/a/.git", 7));
        computer.gone.insert("/a/.git".to_owned());
        assert_eq!(computer.save(&stamped("/b/.git", 7)), "/a/.git");
        computer.gone = ["/b/.git".to_owned()].into();
        assert_eq!(computer.save(&stamped("/a/.git", 7)), "/a/.git");
    }

    #[test]
    fn a_copy_is_a_project_of_its_own() {
        let mut computer = Computer::default();
        computer.save(&stamped("/a/.git", 7));
        assert_eq!(computer.start(&stamped("/b/.git", 8)).name, "/b/.git");
        // And so is one with the same number while the first is still there: a mount elsewhere.
        assert_eq!(computer.start(&stamped("/c/.git", 7)).name, "/c/.git");
    }

    #[test]
    fn places_are_bounded() {
        let mut computer = Computer::default();
        for nth in 0..MAX_PLACES + 3 {
            let place = format!("/{nth}");
            computer.start(&at(&place, &place));
        }
        assert_eq!(computer.known.places.len(), MAX_PLACES);
    }

    proptest::proptest! {
        /// Never: work on a memory that no name of this place ever led to, while nobody chooses.
        #[test]
        fn the_memory_of_a_place_is_one_that_its_names_led_to(
            steps in proptest::collection::vec((0..3_usize, 0..4_usize, proptest::bool::ANY), 1..24),
        ) {
            let mut computer = Computer::default();
            let mut of_name: HashMap<String, HashSet<String>> = HashMap::new();
            let mut had: HashMap<usize, HashSet<String>> = HashMap::new();
            for (place, name, saves) in steps {
                let path = format!("/{place}/.git");
                let name = if name == 3 { path.clone() } else { format!("h/{name}") };
                let here = at(&path, &name);
                let before = computer.held.clone();
                let settled = computer.start(&here);
                of_name.entry(name.clone()).or_insert_with(|| [name.clone()].into());
                let names = had.entry(place).or_default();
                names.insert(name.clone());
                let led_to = |name: &String| of_name[name].contains(&settled.name);
                proptest::prop_assert!(names.iter().any(led_to), "{settled:?} at {here:?}");
                of_name.entry(name).or_default().insert(settled.name);
                proptest::prop_assert_eq!(before, computer.held.clone());
                if saves {
                    computer.save(&here);
                }
            }
        }
    }
}
