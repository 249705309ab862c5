//! Rule files as users write them: what they find, what they spare, and how they are refused.

use std::sync::Arc;

use mmw_core::draft::Draft;
use mmw_core::record::FactKey;
use proptest::prelude::*;

use super::*;
use crate::{Guard, Verdict};

/// Reads a file and returns what it finds: value and rule.
fn found<'t>(rules: &CustomRules, text: &'t str) -> Vec<(&'t str, String)> {
    let found = rules.find(text).into_iter();
    found
        .map(|(span, rule)| (&text[span], rules.id(rule).to_owned()))
        .collect()
}

#[track_caller]
fn check(file: &str, text: &str, values: &[&str]) {
    let rules = CustomRules::parse(file).unwrap();
    rules.compile().unwrap();
    let found = found(&rules, text);
    let found: Vec<&str> = found.iter().map(|(value, _)| *value).collect();
    assert_eq!(found, values, "{text}");
}

#[track_caller]
fn refused(file: &str, sentence: &str) {
    let told = CustomRules::parse(file).unwrap_err().to_string();
    assert_eq!(told, sentence);
}

const TICKET: &str = r#"
title = "rules of acme"
[[rules]]
id = "acme-ticket"
description = "Ticket of the build farm"
regex = '''(?i)\bacme[-_](ticket|pass)[-_]([a-z0-9]{8,})\b'''
secretGroup = 2
keywords = ["acme"]
tags = ["farm"]
"#;

#[test]
fn a_rule_finds_its_group_where_its_keyword_stands() {
    check(
        TICKET,
        "Acme_ticket_0a1b2c3d, acme-pass-99887766x",
        &["0a1b2c3d", "99887766x"],
    );
    check(TICKET, "acne_ticket_0a1b2c3d", &[]);
    // Without a group that is named: the first that took part, or the whole match.
    let file = "[[rules]]\nid='a'\nregex='x(\\d*)y(\\d+)|z\\d'";
    check(file, "xy7 x5y6 z8", &["7", "5", "z8"]);
}

#[test]
fn entropy_lists_and_words_spare() {
    let file = r#"
[[rules]]
id = "key"
regex = '''key=(\w+)'''
keywords = ["key="]
entropy = 2.0
[[rules.allowlists]]
condition = "AND"
regexTarget = "line"
regexes = ['''^#''']
stopwords = ["sample"]
[[rules.allowlists]]
regexes = ['''^\${?[A-Z]+''', '''^REPLACE''']
[allowlist]
paths = ['''\.lock$''']
stopwords = ["dontcare"]
"#;
    check(file, "key=aaaaaaaa", &[]);
    check(file, "key=a1b2c3d4", &["a1b2c3d4"]);
    check(file, "# key=a1b2sample", &[]);
    check(file, "key=a1b2sample", &["a1b2sample"]);
    check(file, "x\n# key=a1b2sample\n", &[]);
    check(file, "key=REPLACEa1b2", &[]);
    check(file, "key=a1b2DontCare", &[]);
}

#[test]
fn a_list_of_the_file_may_name_its_rules() {
    let file = r#"
[[rules]]
id = "a"
regex = "a-(\\w+)"
[[rules]]
id = "b"
regex = "b-(\\w+)"
[[allowlists]]
targetRules = ["a"]
regexes = ["test"]
"#;
    check(file, "a-test1 b-test1", &["test1"]);
}

#[test]
fn a_filter_takes_back_what_it_understands() {
    let file = r#"
filter = '''containsAny(finding["secret"], ["014df517"])'''
[[rules]]
id = "tok"
regex = '''tok_(\w+)'''
keywords = ["tok_"]
confidence = "high"
filter = '''entropy(finding["secret"]) < 2.0 || tokenRatio(finding["secret"]) >= 2.5
|| matchesAny(finding["secret"], [`EXAMPLE$`])'''
validate = "http.get()"
"#;
    check(
        file,
        "tok_aaaa tok_a1b2c3 tok_a1b2EXAMPLE tok_014df517",
        &["a1b2c3"],
    );
    let rules = CustomRules::parse(file).unwrap();
    assert_eq!(
        rules.warnings(),
        ["filters that are understood in part: what is not takes no match back: rule `tok`"]
    );
}

#[test]
fn rules_without_effect_here_are_left_out() {
    let file = r#"
[extend]
useDefault = true
disabledRules = ["aws"]
[[rules]]
id = "only-a-path"
path = '''\.p12$'''
[[rules]]
id = "helper"
regex = "h(\\d)"
skipReport = true
[[rules]]
id = "needs-more"
regex = "n(\\d)"
required = [{ id = "helper" }]
"#;
    check(file, "h1 n2", &["2"]);
    let rules = CustomRules::parse(file).unwrap();
    assert_eq!(rules.len(), 1);
    let warnings = rules.warnings().join("\n");
    for part in ["useDefault", "disabledRules", "only-a-path", "required"] {
        assert!(warnings.contains(part), "{warnings}");
    }
}

#[test]
fn neighbours_in_another_script_are_left_whole() {
    let file = "[[rules]]\nid='k'\nregex='key=([^ ]+)'\nkeywords=['key=']";
    check(file, "凭证key=a1é2。x 结束", &["a1é2。x"]);
    let file = "[[rules]]\nid='k'\nregex='key=([^ ]{3})'\nkeywords=['key=']";
    check(file, "key=éé", &["éé"]);
}

#[test]
fn a_malformed_file_is_refused_with_place_and_remedy() {
    refused("[[rules]\n", "line 1: unclosed array table, expected `]`");
    refused(
        "[[rules]]\nid = 'a'\nregx = 'b'\n",
        "line 3: unknown field `regx`",
    );
    refused("[[rules]]\nregex = 'b'\n", "line 1: missing field `id`");
    refused("[[rules]]\nid = 'a'\n", "line 2: rule `a`: has no regex");
    refused(
        "[[rules]]\nid = 'a'\nregex = 'a(?=b)'\n",
        "line 3: rule `a`, regex: look-around, including look-ahead and look-behind, is not supported",
    );
    refused(
        "[[rules]]\nid = 'a'\nregex = 'a(b)'\nsecretGroup = 2\n",
        "line 4: rule `a`, secretGroup: the regex has 1 groups",
    );
    refused(
        "[[rules]]\nid = 'a'\nregex = 'x'\n[[rules]]\nid = 'a'\nregex = 'y'\n",
        "line 5: rule `a`: there is another rule of this id: rename one of them",
    );
    refused(
        "[[rules]]\nid = 'a]b'\nregex = 'x'\n",
        "line 2: rule `a]b`: the id stands in placeholders: 1 to 48 letters, digits, `-`, `_` or `.`",
    );
    refused(
        "[[rules]]\nid = 'a'\nregex = 'x'\nentropy = 9\n",
        "line 2: rule `a`, entropy: must be from 0 to 8 bits per byte",
    );
    refused(
        "[[rules]]\nid = 'a'\nregex = 'x'\n[[rules.allowlists]]\ncondition = 'XOR'\n",
        "line 5: rule `a`, allow-list, condition: must be OR or AND",
    );
    refused(
        "[[rules]]\nid = 'a'\nregex = 'x'\n[rules.allowlist]\nregexTarget = 'file'\n",
        "line 5: rule `a`, allow-list, regexTarget: must be secret, match or line",
    );
    refused(
        "[extend]\npath = 'base.toml'\n",
        "line 2: extend.path: other files are not read: put the rules into one file",
    );
    refused(
        "[[rules]]\nid = 'a'\nregex = 'x'\nfilter = 'matchesAny(secret, [`(`])'\n",
        "line 4: rule `a`, filter: in `matchesAny`, `(`: unclosed group",
    );
}

#[test]
fn what_is_too_much_is_refused_with_its_limit() {
    let rules = |n: usize| {
        (0..n)
            .map(|n| format!("[[rules]]\nid = 'r{n}'\nregex = 'x'\nkeywords = ['k']\n"))
            .collect::<String>()
    };
    assert_eq!(
        CustomRules::parse(&rules(load::MAX_RULES)).unwrap().len(),
        load::MAX_RULES
    );
    let over = rules(load::MAX_RULES + 1);
    refused(
        &over,
        "the file's rules: 2001, and at most 2000 are taken. Leave out what is not needed",
    );
    let without = rules(load::MAX_WITHOUT_KEYWORDS + 1).replace("keywords = ['k']", "");
    let told = CustomRules::parse(&without).unwrap_err().to_string();
    assert!(
        told.starts_with("the file's rules without keywords: 65"),
        "{told}"
    );
    let long = "#".repeat(load::MAX_FILE_BYTES + 1);
    let told = CustomRules::parse(&long).unwrap_err().to_string();
    assert!(told.starts_with("the file's bytes: 2097153"), "{told}");
    let large = CustomRules::parse("[[rules]]\nid='a'\nregex='(?:[a-z]{900}){900}'").unwrap();
    let told = large.compile().unwrap_err().to_string();
    assert!(
        told.starts_with("rule `a`, regex: takes more than"),
        "{told}"
    );
}

fn guard(file: &str) -> Guard {
    Guard::standard().with_rules(Arc::new(CustomRules::parse(file).unwrap()))
}

#[test]
fn the_guard_replaces_what_a_file_finds_in_every_reading() {
    let guard = guard(TICKET);
    let hidden = [
        "acme_ticket_0a1b2c3d",
        "acme_tic\u{200b}ket_0a1b2c3d",
        "ａｃｍｅ_ticket_0a1b2c3d",
        r#"{\"t\": \"acme\u005fticket_0a1b2c3d\"}"#,
        "t%3Dacme_ticket_0a1b2c3d%0A",
    ];
    for text in hidden {
        let (clean, replaced) = guard.redact(text);
        assert!(!clean.contains("0a1b2c3d"), "{clean}");
        assert_eq!(replaced[0].rule, "acme-ticket", "{text}");
    }
    let (clean, _) = guard.redact("acme_ticket_0a1b2c3d, later 0a1b2c3d");
    assert_eq!(
        clean,
        "acme_ticket_[REDACTED:acme-ticket], later [REDACTED:acme-ticket]"
    );
    assert_eq!(Guard::standard().redact(hidden[0]).0, hidden[0]);
}

#[test]
fn a_rule_of_a_file_never_replaces_one_of_the_guard() {
    let file =
        "[[rules]]\nid = 'password'\nregex = 'zzz[0-9]{4}'\n[allowlist]\nstopwords = ['hunter']";
    let guard = guard(file);
    assert_eq!(guard.redact("pw: hunter2").0, "pw: [REDACTED:password]");
    assert_eq!(guard.redact("x zzz1234").0, "x [REDACTED:password]");
    let rules = CustomRules::parse(file).unwrap();
    let warnings = rules.warnings();
    assert!(warnings[0].contains("same id"), "{warnings:?}");
}

#[test]
fn a_name_is_refused_for_a_rule_of_a_file_even_lower_cased() {
    let guard = guard("[[rules]]\nid = 'farm'\ndescription = 'farm key'\nregex = 'FARM[0-9]{6}'\n");
    let mut draft = Draft::new("about the farm").unwrap();
    draft.fact_key = FactKey::new("key farm123456").ok();
    let Verdict::Reject(rejection) = guard.screen(draft) else {
        panic!("it passed");
    };
    assert_eq!(rejection.rule, "farm");
    assert!(
        rejection.reason.contains("(farm key)"),
        "{}",
        rejection.reason
    );
}

#[test]
fn another_file_makes_another_revision() {
    let standard = Guard::standard().revision();
    let one = guard(TICKET).revision();
    assert_ne!(one, standard);
    assert_ne!(one, guard("").revision());
    assert_eq!(one, guard(TICKET).revision());
}

#[test]
fn an_empty_file_adds_nothing() {
    let rules = CustomRules::parse("").unwrap();
    assert!(rules.is_empty());
    assert_eq!(rules.find("anything"), []);
    assert_eq!(rules.id(3), "");
}

proptest! {
    #[test]
    fn finding_never_panics_and_spans_are_of_the_text(text in "(acme[-_]|ticket|key=|é|\u{200b}|。|[a-z0-9]|\n| ){0,60}") {
        let file = format!("{TICKET}\n[[rules]]\nid='k'\nregex='key=([^ ]+)'\n[[rules.allowlists]]\nregexTarget='line'\nregexes=['zzz']");
        let rules = CustomRules::parse(&file).unwrap();
        for (span, rule) in rules.find(&text) {
            prop_assert!(text.get(span).is_some_and(|value| !value.is_empty()));
            prop_assert!(rule < rules.len());
        }
    }

    #[test]
    fn redacting_twice_is_redacting_once(
        text in "(acme_ticket_|acme-pass-|key=|\\[REDACTED:(acme-ticket|greedy|password)\\]|pw: |[a-z0-9]{1,9}|[ ,.é\u{200b}\n\"]){1,20}"
    ) {
        let greedy = "[[rules]]\nid = 'greedy'\nregex = 'key=(.*)'\n[[rules]]\nid = 'odd'\nregex = '[^ ]*9[^ ]*'\nentropy = 2.5";
        let guard = guard(&format!("{TICKET}\n{greedy}"));
        let (once, _) = guard.redact(&text);
        let (twice, replaced) = guard.redact(&once);
        prop_assert_eq!(&once, &twice, "{:?}", replaced);
    }

    #[test]
    fn reading_never_panics(text in "(\\[\\[rules\\]\\]|id|regex|=|'|\"|\n|[a-z({\\[])*") {
        let _ = CustomRules::parse(&text);
    }
}
