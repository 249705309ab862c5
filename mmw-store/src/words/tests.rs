//! Words: what finds what, and what holds for any text.

use std::collections::BTreeSet;

use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization as _;
use unicode_segmentation::UnicodeSegmentation as _;

use super::*;

fn words_of(text: &str) -> BTreeSet<String> {
    let document = document(&[text]);
    document.text.split(' ').map(str::to_owned).collect()
}

/// All that a query asks for, wholes aside, is in the record.
#[track_caller]
fn finds(record: &str, text: &str) {
    let (words, query) = (words_of(record), query(text));
    assert!(query.leaves().next().is_some(), "{text}: no words");
    for word in query.leaves() {
        assert!(words.contains(word), "{text}: {word} is not in {words:?}");
    }
}

/// The record has even the whole identifier.
#[track_caller]
fn finds_whole(record: &str, text: &str) {
    let (words, query) = (words_of(record), query(text));
    assert!(!query.wholes.is_empty(), "{text} is no identifier");
    for word in &query.words {
        assert!(words.contains(word), "{text}: {word} is not in {words:?}");
    }
}

#[track_caller]
fn misses(record: &str, text: &str) {
    let (words, query) = (words_of(record), query(text));
    assert!(
        query.leaves().any(|word| !words.contains(word)),
        "{text}: {:?} is in {words:?}",
        query.words
    );
}

#[test]
fn sentences_find_what_they_are_about() {
    let record = "staging is deployed with the systemd unit `app-staging`";
    finds(record, "how do we deploy the staging unit?");
    finds(record, "Deploying to STAGING");
    finds(record, "systemd units");
    misses(record, "production");
    assert_eq!(
        query("how do we deploy the staging server").words,
        ["deploy", "stage", "server"]
    );
    assert_eq!(query("who is it?").words, ["who", "is", "it"]);
}

#[test]
fn identifiers_are_found_whole_and_by_part() {
    for (record, whole, parts) in [
        ("the unit app-staging runs", "app-staging", "app staging"),
        ("see foo/bar.rs.", "foo/bar.rs", "foo bar rs bar.rs"),
        ("we use gpt-4o here", "gpt-4o", "gpt 4o GPT"),
        ("written in C++, mostly", "C++", "c"),
        ("written in C#.", "c#", "c"),
        ("on .NET 8", ".NET", "net"),
        ("fixed by TS-1234", "ts-1234", "1234 TS"),
        ("ssh user@host please", "user@host", "host user"),
        (
            "mail bob.smith@example.com",
            "bob.smith@example.com",
            "example.com smith",
        ),
        ("3 GB/s of it", "GB/s", "gb"),
        ("since v1.2.3 it works", "v1.2.3", "1.2.3 1.2 v1"),
        ("on 2026-03-14 we met", "2026-03-14", "2026 2026-03"),
        ("at 2026-03-14T10:00:00Z", "2026-03-14", "2026"),
        ("call snake_case_name()", "snake_case_name", "snake name"),
        (
            "at src/main.rs:42 it fails",
            "src/main.rs:42",
            "main.rs src/main.rs 42",
        ),
        (
            "use mmw_store::Memory;",
            "mmw_store::memory",
            "mmw_store memory store",
        ),
        ("git push --no-verify", "--no-verify", "verify no-verify"),
        (
            "in docs/deploy.md#Staging-Area",
            "docs/deploy.md#staging-area",
            "docs/deploy.md area",
        ),
        (
            "see https://github.com/foo/bar-baz?tab=readme now",
            "https://github.com/foo/bar-baz",
            "foo/bar-baz github.com bar baz readme github.com/foo/bar-baz https",
        ),
        (
            "in ~/.config/app-x/settings.toml",
            ".config/app-x/settings.toml",
            "app-x .config config settings.toml",
        ),
        (
            "C:\\Users\\me\\notes.txt",
            "Users\\me\\notes.txt",
            "me/notes.txt",
        ),
        (
            "@scope/pkg-name@1.2.3",
            "@scope/pkg-name",
            "pkg-name pkg 1.2.3",
        ),
        ("重跑gen-itgc后", "gen-itgc", "itgc"),
        ("развёрнут app-staging-ом", "app-staging-ом", "staging"),
    ] {
        finds_whole(record, whole);
        for part in parts.split(' ') {
            finds(record, part);
        }
    }
}

#[test]
fn spellings_of_one_name_find_each_other() {
    for (record, text) in [
        ("camelCaseName", "camelcasename"),
        ("camelCaseName", "case name"),
        ("camelCaseName", "camelCaseName"),
        ("GitHub and PostgreSQL", "github postgresql"),
        ("HTTPServer", "http server"),
        ("the app-staging unit", "appStaging"),
        ("multi-agent", "multiagent"),
        ("e-mail", "email"),
        ("it's broken", "it's"),
        ("it’s Bob’s laptop", "Bob's"),
        ("BOB'S laptop", "bob"),
        ("don't panic", "dont panic"),
        ("O'Brien", "obrien"),
        ("#tag", "tag"),
        ("tag", "#tag"),
        ("the app\u{2011}staging", "app-staging"),
        ("Rust™", "rust"),
        ("version 1.2.3", "v1.2.3"),
        ("v1.2.3-rc2", "1.2.3 v1.2"),
        ("/home/me/src/main.rs", "src/main.rs"),
        ("docker'ом", "docker"),
    ] {
        finds(record, text);
    }
    finds_whole("/home/me/src/main.rs", "src/main.rs");
    finds_whole("version 1.2.3", "1.2.3");
    misses("C code", "Ruby");
}

#[test]
fn scripts_without_spaces_are_found_by_one_and_two_characters() {
    for (record, text) in [
        ("内存泄漏修复", "泄漏"),
        ("资料库迁移前一定要先备份", "备份"),
        ("資料庫的設備", "資料庫"),
        ("資料庫的設備", "設備"),
        ("결제 서비스가 느리다", "결제"),
        ("결제 서비스가 느리다", "서비스"),
        ("读书笔记", "书"),
        ("データベースを移行する", "移行"),
        ("ﾃﾞｰﾀベース", "データ"),
        ("ขอบคุณ", "คุณ"),
        ("重跑gen-itgc后", "重跑"),
        ("第3章", "3"),
        ("修复bug", "bug"),
    ] {
        finds(record, text);
    }
    misses("内存泄漏修复", "漏泄");
    misses("内存泄漏修复", "书");
    assert_eq!(query("泄漏").words, ["泄漏"]);
    assert_eq!(query("书").words, ["书"]);
}

#[test]
fn one_text_in_two_unicode_forms_has_the_same_words() {
    for text in [
        "결제 서비스",
        "café",
        "Ångström",
        "й ё",
        "ﾃﾞｰﾀ",
        "の\u{3099}",
    ] {
        let (nfc, nfd): (String, String) = (text.nfc().collect(), text.nfd().collect());
        assert_eq!(document(&[&nfc]), document(&[&nfd]), "{text}");
        assert_eq!(query(&nfc), query(&nfd), "{text}");
    }
    finds("Ｃｌｏｕｄ", "cloud");
    finds("cloud", "Ｃｌｏｕｄ");
    finds("café, naïve, Straße, Łódź", "cafe naive strasse lodz");
    finds("cafe", "CAFÉ");
    finds("pass\u{200b}word zero\u{200d}width", "password zerowidth");
    finds("ΚΑΛΗΜΈΡΑ κόσμος", "καλημερα ΚΟΣΜΟΣ");
}

#[test]
fn russian_inflections_are_found() {
    for (record, text) in [
        ("ошибка при сборке", "ошибки"),
        ("ошибка при сборке", "ошибок"),
        ("ошибок нет", "ошибку"),
        ("развёртывание на сервере", "развертывания"),
        ("ёлка", "елка"),
        ("за\u{301}мок", "замок"),
        ("настройки", "настроек"),
        ("переменные окружения", "переменная окружение"),
    ] {
        finds(record, text);
    }
    // `й` is a letter of its own.
    misses("йод", "иод");
    // Stems don't reach from a verb to the noun made of it: that is for meaning to find.
    misses("развёртывание", "развернуть");
}

#[test]
fn no_text_is_syntax() {
    for (text, words) in [
        ("foo\"bar", "foo bar"),
        ("b,c", "b c"),
        ("a,b", "b"),
        ("why?", "whi"),
        ("TODO: fix", "todo fix"),
        ("say \"hi", "say hi"),
        ("(python", "python"),
        ("foo AND bar", "foo bar"),
        ("NEAR(", "near"),
        ("install.sh | bash", "install.sh instal sh bash"),
        ("*", ""),
        ("^x", "x"),
        ("", ""),
        (" \t\n", ""),
        ("?!", ""),
        ("NOT", "not"),
        ("-", ""),
        ("...", ""),
        ("\0a\u{7f}b", "b"),
        ("://", ""),
        ("_", ""),
        ("to-do", "to-do to do"),
        ("GB/s", "gb/s gb s"),
        ("gateway/run.py", "gateway/run.py run.py gateway run py"),
        ("app-staging app-staging", "app-staging app stage"),
    ] {
        assert_eq!(query(text).words.join(" "), words, "{text}");
    }
}

#[test]
fn a_long_word_is_found_by_itself_and_by_nothing_else() {
    let long = "a1".repeat(200);
    let other = format!("{}b1", "a1".repeat(199));
    finds(&format!("key {long}."), &long);
    misses(&long, &other);
    finds(&"д1".repeat(100), &"д1".repeat(100));
    let blob = "TWFuIGlzIGRpc3Rpbmd1aXNoZWQsIG5vdCBvbmx5IGJ5IGhpcyByZWFzb24/".repeat(40);
    let n_words = words_of(&blob).len();
    assert!(n_words < 60, "{n_words} words of {} bytes", blob.len());
    finds_whole(&blob, &blob[..blob.len() - 1]);
}

#[test]
fn a_query_is_bounded() {
    let many: Vec<String> = (0..=MAX_QUERY_WORDS).map(|n| format!("w{n}")).collect();
    let cut = query(&many.join(" "));
    assert_eq!((cut.words.len(), cut.is_cut), (MAX_QUERY_WORDS, true));
    let full = query(&many[1..].join(" "));
    assert_eq!((full.words.len(), full.is_cut), (MAX_QUERY_WORDS, false));

    let long = query(&"word ".repeat(10_000));
    assert_eq!(
        (long.words.join(" "), long.is_cut),
        ("word".to_owned(), true)
    );
    assert!(query(&"д".repeat(25_000)).is_cut);
    assert!(!query(&" ".repeat(MAX_QUERY_BYTES)).is_cut);
}

#[test]
fn what_is_counted_is_counted_once_per_place() {
    let document = document(&["the app-staging unit", "unit 书店"]);
    assert_eq!(document.length, 7, "the app staging unit unit 书 店");
    let count = |word: &str| {
        let at = document
            .counts
            .binary_search_by_key(&fingerprint(word), |(id, _)| *id);
        at.map_or(0, |at| document.counts[at].1)
    };
    assert_eq!(count("unit"), 2);
    assert_eq!(count("app-staging"), 1);
    assert_eq!(count("书店"), 1);
    assert_eq!(count("absent"), 0);
    let often = super::document(&[&"x ".repeat(70_000)]);
    assert_eq!((often.counts[0].1, often.length), (u16::MAX, 70_000));
    assert_eq!(super::document(&[]), LexicalDoc::default());
}

#[test]
fn fingerprints_and_hashes_never_change() {
    assert_eq!(fingerprint(""), 0x811c_9dc5);
    assert_eq!(fingerprint("a"), 0xe40c_292c);
    assert_eq!(fingerprint("foobar"), 0xbf9c_f968);
    assert_eq!(fingerprint("app-staging"), 0xade0_fe08);
    assert_eq!(
        query(&"x1".repeat(50)).words,
        ["x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x~1cd677d226a939cd"]
    );
}

/// Text of everything that has a rule of its own.
fn ruled_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-zA-Z0-9]{1,6}",
        3 => "[-_./\\\\:@#+'~ ,]{1,3}",
        2 => "[а-яА-ЯёЁ]{1,8}",
        1 => "[éüßÅıİœﬁ\u{301}\u{308}\u{200b}\u{200d}’\u{2011}]{1,3}",
        1 => "[内存泄漏データ결제กุ書\u{1100}\u{1161}\u{11a8}]{1,5}",
        1 => "v[0-9]\\.[0-9]{1,2}|2026-03-14|https://a\\.b/c|C\\+\\+|\\.NET|it's",
        1 => "[ ]",
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// The same with anything else in between.
fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![ruled_text(), any::<String>()];
    prop::collection::vec(piece, 0..4).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn every_part_between_spaces_finds_its_text(text in any_text()) {
        let words = words_of(&text);
        for part in text.split_whitespace() {
            for word in query(part).words {
                prop_assert!(words.contains(&word), "{part:?}: {word:?} is not in {words:?}");
            }
        }
    }

    #[test]
    fn every_dictionary_word_finds_its_text(text in ruled_text()) {
        // Invisible characters are borders to the standard, and nothing to people.
        let text = normal::normal(&text);
        let words = words_of(&text);
        for part in text.unicode_words() {
            for word in query(part).leaves() {
                prop_assert!(words.contains(word), "{part:?}: {word:?} is not in {words:?}");
            }
        }
    }

    #[test]
    fn documents_are_in_form(texts in prop::collection::vec(any_text(), 0..4)) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let found = document(&texts);
        prop_assert_eq!(&found, &document(&texts));
        prop_assert!(found.counts.is_sorted_by(|a, b| a.0 < b.0));
        prop_assert!(found.counts.iter().all(|(_, n)| *n > 0));
        let words: Vec<&str> = found.text.split(' ').filter(|_| !found.text.is_empty()).collect();
        prop_assert_eq!(words.iter().collect::<BTreeSet<_>>().len(), words.len());
        let terms: BTreeSet<TermId> = words.iter().map(|word| fingerprint(word)).collect();
        prop_assert!(terms.into_iter().eq(found.counts.iter().map(|(id, _)| *id)));
        for word in words {
            prop_assert!(!word.is_empty() && word.len() <= MAX_WORD_BYTES, "{word:?}");
            prop_assert!(word.chars().all(|c| WORD_PUNCTUATION.contains(c)
                || (!c.is_ascii() && !c.is_control() && !c.is_whitespace())
                || c.is_ascii_lowercase() || c.is_ascii_digit()), "{word:?}");
        }
    }

    #[test]
    fn queries_are_in_form(text in any_text()) {
        let found = query(&text);
        prop_assert_eq!(&found, &query(&text));
        prop_assert!(found.words.len() <= MAX_QUERY_WORDS);
        prop_assert_eq!(found.words.iter().collect::<BTreeSet<_>>().len(), found.words.len());
        prop_assert!(found.wholes.is_sorted_by(|a, b| a < b));
        prop_assert!(found.wholes.iter().all(|nth| *nth < found.words.len()));
        prop_assert!(found.is_cut || found.words.is_empty() || found.leaves().next().is_some());
    }

    #[test]
    fn unicode_forms_and_case_make_no_difference(text in any_text()) {
        let nfd: String = text.nfd().collect();
        prop_assert_eq!(document(&[&text.nfc().collect::<String>()]), document(&[&nfd]));
        prop_assert_eq!(query(&text.nfc().collect::<String>()), query(&nfd));
        if text.is_ascii() {
            prop_assert_eq!(query(&text).words, query(&text.to_ascii_uppercase()).words);
        }
    }
}

#[test]
fn names_are_what_nobody_writes_for_a_word_of_a_language() {
    let names = |text: &str| -> Vec<String> {
        let query = query(text);
        query
            .names
            .iter()
            .map(|nth| query.words[*nth].clone())
            .collect()
    };
    assert_eq!(
        names("why does parcelHandlerCache fail?"),
        ["parcelhandlercach"]
    );
    assert_eq!(names("E1042 on db2"), ["e1042", "db2"]);
    assert_eq!(names("read src/main.rs now"), ["src/main.rs", "main.rs"]);
    assert_eq!(
        names("Why does PostgreSQL fail in 2026 at NASA?"),
        ["postgresql"]
    );
    assert_eq!(names("how is staging deployed"), Vec::<String>::new());
}
