//! Lines by their numbers: `L10`, `L10-L40`, `L10-40`.

use std::ops::Range;

/// Returns the first and the last line that a fragment names, counted from 1; nothing if it is no
/// such fragment.
pub(super) fn numbers(fragment: &str) -> Option<(usize, usize)> {
    let number = |text: &str| {
        let digits = text.strip_prefix(['L', 'l']).unwrap_or(text);
        let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        digits.parse::<usize>().ok().filter(|n| plain && *n > 0)
    };
    if !fragment.starts_with(['L', 'l']) {
        return None;
    }
    let (first, last) = match fragment.split_once('-') {
        Some((first, last)) => (number(first)?, number(last)?),
        None => (number(fragment)?, number(fragment)?),
    };
    (first <= last).then_some((first, last))
}

/// Returns the lines, counted from 0. They must all be there: a fact about lines that the file does
/// not have is anchored to nothing.
pub(super) fn find(fragment: &str, n_lines: usize) -> Option<Range<usize>> {
    let (first, last) = numbers(fragment)?;
    (last <= n_lines).then(|| first - 1..last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_in_the_forms_that_links_have() {
        for (fragment, expected) in [
            ("L10", Some((10, 10))),
            ("L10-L40", Some((10, 40))),
            ("L10-40", Some((10, 40))),
            ("l3-l4", Some((3, 4))),
            ("L40-L10", None),
            ("L0", None),
            ("10-40", None),
            ("L", None),
            ("L1x", None),
            ("L+1", None),
            ("Lines", None),
            ("L99999999999999999999999", None),
        ] {
            assert_eq!(numbers(fragment), expected, "{fragment}");
        }
    }

    #[test]
    fn lines_that_the_file_does_not_have_are_no_part_of_it() {
        assert_eq!(find("L2-L3", 3), Some(1..3));
        assert_eq!(find("L2-L4", 3), None);
        assert_eq!(find("L1", 0), None);
    }
}
