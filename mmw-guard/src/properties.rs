//! What always or never holds, checked with secrets that are drawn from the rules themselves.

use mmw_core::draft::Draft;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::string::string_regex;
use proptest::test_runner::TestRunner;

use crate::entropy::shannon;
use crate::rules::{EXAMPLES, Form, RULES, Rule};
use crate::samples::{Sample, drawn, templates};
use crate::shape::{is_example, is_monotone};
use crate::{Guard, Verdict};

/// Texts around a secret that gives itself away: other scripts, quotes, escapes, ends of text.
const NEIGHBOURS: [&str; 10] = [
    "{}",
    "凭证为{}。",
    "ключ {}, и дальше",
    "\"{}\"",
    "`{}`",
    "a\n{}\nb",
    "{\\\"k\\\":\\\"{}\\\"}",
    "x={};",
    "secret%3D{}%26x",
    "(see {})",
];

fn generated(rule: &Rule, generate: &str, runner: &mut TestRunner) -> String {
    if generate.is_empty() {
        return drawn(rule, &mut |n| runner.rng().random_range(0..n));
    }
    let generator = string_regex(generate).unwrap();
    loop {
        let secret = generator.new_tree(runner).unwrap().current();
        // Chance may draw what a rule spares on purpose.
        let fits =
            !is_example(&secret) && !is_monotone(&secret) && shannon(&secret) >= rule.entropy;
        if fits && secret.trim() == secret.trim_end_matches('\n').trim_start() {
            return secret;
        }
    }
}

/// Returns the part of a secret that is still in a text.
fn left<'s>(secret: &'s str, text: &str) -> Option<&'s str> {
    secret
        .split(['\n', '\r'])
        .filter(|line| line.len() >= 16 && !line.starts_with("-----") && !line.contains(": "))
        .chain((!secret.contains('\n')).then_some(secret))
        .find(|part| text.contains(*part))
}

fn check_gone(rule: &Rule, template: &str, secret: &str) {
    let text = template.replacen("{}", secret, 1);
    let (clean, replaced) = Guard::standard().redact(&text);
    assert!(
        left(secret, &clean).is_none(),
        "{}: {text:?} became {clean:?}",
        rule.id
    );
    assert!(!replaced.is_empty(), "{}: {text:?}", rule.id);
    assert_eq!(
        Guard::standard().redact(&clean).0,
        clean,
        "{}: {text:?}",
        rule.id
    );
}

#[test]
fn no_secret_of_a_shipped_rule_is_left_where_its_examples_put_it() {
    let mut runner = TestRunner::deterministic();
    for (rule, examples) in RULES.iter().zip(&EXAMPLES) {
        let templates = if examples.positive.is_empty() {
            templates(rule)
        } else {
            examples
                .positive
                .iter()
                .map(|text| (*text).to_owned())
                .collect()
        };
        // A row with many names has a template for each spelling of them.
        let n_draws = (64 / templates.len().max(1)).clamp(1, 8);
        for template in &templates {
            for _ in 0..n_draws {
                check_gone(
                    rule,
                    template,
                    &generated(rule, examples.generate, &mut runner),
                );
            }
        }
    }
}

#[test]
fn a_secret_that_gives_itself_away_is_found_beside_any_neighbour() {
    let mut runner = TestRunner::deterministic();
    for (rule, examples) in RULES.iter().zip(&EXAMPLES) {
        let gives_itself_away =
            matches!(rule.form, Form::Token { .. }) || examples.positive.contains(&"{}");
        if !gives_itself_away {
            continue;
        }
        for template in NEIGHBOURS {
            for _ in 0..2 {
                check_gone(
                    rule,
                    template,
                    &generated(rule, examples.generate, &mut runner),
                );
            }
        }
    }
}

#[test]
fn another_form_does_not_hide_a_token() {
    let mut runner = TestRunner::deterministic();
    for rule in RULES
        .iter()
        .filter(|rule| matches!(rule.form, Form::Token { .. }))
    {
        let secret = generated(rule, "", &mut runner);
        for (form, hidden) in [
            (
                "full width",
                hide(&secret, |c| char::from_u32(u32::from(c) + 0xfee0)),
            ),
            ("zero width", {
                let mut hidden = secret.clone();
                hidden.insert(secret.len() / 2, '\u{200b}');
                hidden
            }),
            (
                "references",
                secret
                    .chars()
                    .map(|c| format!("&#{};", u32::from(c)))
                    .collect(),
            ),
            (
                "escapes",
                secret
                    .chars()
                    .map(|c| format!("\\u{:04x}", u32::from(c)))
                    .collect(),
            ),
            (
                "percent",
                secret.bytes().map(|b| format!("%{b:02X}")).collect(),
            ),
            (
                "percent twice",
                secret.bytes().map(|b| format!("%25{b:02x}")).collect(),
            ),
            (
                "escapes in escapes",
                secret
                    .chars()
                    .map(|c| format!("\\\\u{:04x}", u32::from(c)))
                    .collect(),
            ),
            (
                "escapes in braces",
                secret
                    .chars()
                    .map(|c| format!("\\u{{{:x}}}", u32::from(c)))
                    .collect(),
            ),
            (
                "octal",
                secret.bytes().map(|b| format!("\\{b:03o}")).collect(),
            ),
            (
                "references without semicolons",
                secret
                    .chars()
                    .map(|c| format!("&#{}", u32::from(c)))
                    .collect(),
            ),
            (
                "accents",
                secret.chars().flat_map(|c| [c, '\u{301}']).collect(),
            ),
            (
                "zero bytes",
                secret.chars().flat_map(|c| [c, '\0']).collect(),
            ),
            ("color", {
                let mut hidden = secret.clone();
                hidden.insert_str(secret.len() / 2, "\u{1b}[1;31m");
                hidden
            }),
            ("a sum", {
                let mut hidden = secret.clone();
                hidden.insert_str(secret.len() / 2, "\" +\n    \"");
                hidden
            }),
        ] {
            let text = format!("see {hidden} there");
            let (clean, _) = Guard::standard().redact(&text);
            assert!(!clean.contains(&hidden), "{}: {form}: {clean}", rule.id);
        }
    }
}

#[test]
fn a_value_goes_where_another_field_writes_it_otherwise() {
    let secret = "q7Rz!mW2pL";
    let percent = "q7Rz%21mW2pL";
    let escaped = "q7Rz\\u0021mW2pL";
    let mut draft = Draft::new(&format!("the password is {secret}, escaped {escaped}")).unwrap();
    draft.label = Some(format!("https://a.example/x?y={percent}"));
    match Guard::standard().screen(draft) {
        Verdict::Allow(screened) => {
            let said = format!("{:?}", screened.draft());
            assert!(!said.contains("mW2pL"), "{said}");
        }
        other => panic!("{other:?}"),
    }
}

fn hide(secret: &str, other: impl Fn(char) -> Option<char>) -> String {
    secret
        .chars()
        .map(|c| {
            if c.is_ascii_graphic() {
                other(c).unwrap_or(c)
            } else {
                c
            }
        })
        .collect()
}

#[test]
fn nothing_of_a_negative_example_is_taken() {
    let mut failures = Vec::new();
    for (rule, examples) in RULES.iter().zip(&EXAMPLES) {
        for text in examples.negative {
            for hit in crate::secrets::find(
                &crate::beside::Beside::of(&crate::Policy::default()),
                text,
                false,
            ) {
                failures.push((rule.id, RULES[hit.rule].id, text, &text[hit.span]));
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn a_prefix_or_a_name_alone_is_no_secret() {
    let gives_itself_away =
        |rule: &&Rule| matches!(rule.form, Form::Token { .. } | Form::Nearby { .. });
    for rule in RULES.iter().filter(gives_itself_away) {
        // A longer beginning is a good part of a secret already.
        for keyword in rule.keywords.iter().filter(|keyword| keyword.len() < 16) {
            for text in [
                format!("tokens start with {keyword} and are long"),
                (*keyword).to_owned(),
                format!("{keyword}xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"),
                format!("{keyword}YOUR_TOKEN_HERE"),
                format!("{keyword}<your-token>"),
            ] {
                let (clean, replaced) = Guard::standard().redact(&text);
                assert_eq!(clean, text, "{}: {replaced:?}", rule.id);
            }
        }
    }
}

#[test]
fn samples_are_found() {
    for Sample { rule, secret, text } in crate::samples::samples(7, 400) {
        let (clean, _) = Guard::standard().redact(&text);
        assert!(
            left(&secret, &clean).is_none(),
            "{rule}: {text:?} became {clean:?}"
        );
    }
}

/// Texts that are full of what rules look for.
fn suspicious() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "password",
        "is",
        "пароль",
        "密码",
        " ",
        ": ",
        "=",
        "\"",
        "'",
        "`",
        "hunter2",
        "[REDACTED:",
        "[REDACTED:jwt]",
        "]",
        "jwt",
        "-----BEGIN RSA PRIVATE KEY-----",
        "-----END RSA PRIVATE KEY-----",
        "\n",
        "\\n",
        "ghp_",
        "a1B2c3D4e5F6g7H8i9J0",
        "API_KEY",
        "://",
        "u:",
        "@",
        "host",
        "AKIA",
        "%3D",
        "&quot;",
        "\u{200b}",
        "ｐａｓｓ",
        "é",
        "。",
        "--password ",
        "curl -u ",
        "<private>",
        "</private>",
        "Bearer ",
        "cookie",
        "\u{1}",
        "${X}",
        "****",
        "eyJ",
        ".",
        "\\u0041",
        "aGVsbG8gcGFzc3dvcmQ6IGh1bnRlcjIgaGVsbG8gd29ybGQ=",
    ]);
    prop::collection::vec(pieces, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn redacting_twice_is_redacting_once(text in suspicious()) {
        let (once, _) = Guard::standard().redact(&text);
        let (twice, replaced) = Guard::standard().redact(&once);
        prop_assert_eq!(&twice, &once);
        prop_assert!(replaced.is_empty());
    }

    #[test]
    fn arbitrary_text_never_panics_and_settles(text in any::<String>()) {
        let (once, _) = Guard::standard().redact(&text);
        prop_assert_eq!(&Guard::standard().redact(&once).0, &once);
    }

    #[test]
    fn screening_never_panics_and_a_second_time_changes_nothing(
        text in prop_oneof![any::<String>(), suspicious()],
        label in prop::option::of(suspicious()),
    ) {
        let Ok(mut draft) = Draft::new(&text) else { return Ok(()) };
        draft.label = label;
        let once = match Guard::standard().screen(draft) {
            Verdict::Allow(screened) | Verdict::Quarantine(screened, _) => screened,
            Verdict::Reject(_) => return Ok(()),
        };
        match Guard::standard().screen(once.draft().clone()) {
            Verdict::Allow(twice) | Verdict::Quarantine(twice, _) => {
                prop_assert_eq!(twice.draft(), once.draft());
                prop_assert!(twice.replaced().is_empty());
            }
            Verdict::Reject(rejection) => prop_assert!(false, "{}", rejection),
        }
    }

    #[test]
    fn text_without_secrets_is_left_byte_for_byte(words in prop::collection::vec("[a-zа-я\u{4e00}-\u{4e20} ,.\n\u{200d}😀]{0,12}", 0..30)) {
        let text = words.join(" ");
        prop_assert_eq!(Guard::standard().redact(&text), (text.clone(), Vec::new()));
    }
}
