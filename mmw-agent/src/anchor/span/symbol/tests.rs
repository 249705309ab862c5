//! Blocks in the languages that people write most.

use super::*;

/// Returns the only block that begins with the words, or how many there are.
fn part(fragment: &str, text: &'static str) -> Result<String, usize> {
    let lines: Vec<&str> = text.lines().collect();
    match all(fragment, &lines).as_slice() {
        [range] => Ok(lines[range.clone()].join("\n")),
        several => Err(several.len()),
    }
}

fn is(fragment: &str, text: &'static str, expected: &str) {
    assert_eq!(part(fragment, text).as_deref(), Ok(expected), "{fragment}");
}

const RUST: &str = "\
use std::io;

/// Deploys.
#[must_use]
pub(crate) async fn deploy(to: &str) -> bool
where
    bool: Sized,
{
    let x = \"
not indented
\";

    x == 1
}

fn deploy_all() {}

struct Cart {
    items: u8,
}

struct Unit;

impl<T> Cart {
    fn add(&mut self) {
        self.items += 1;
        add(1);
    }
}
";

#[test]
fn a_block_of_braces_reaches_to_its_closing_one() {
    let deploy = part("fn deploy", RUST).unwrap();
    assert!(
        deploy.starts_with("/// Deploys.") && deploy.ends_with("x == 1\n}"),
        "{deploy}"
    );
    is("fn deploy_all", RUST, "fn deploy_all() {}");
    is("struct Cart", RUST, "struct Cart {\n    items: u8,\n}");
    is("struct Unit", RUST, "struct Unit;");
    let add = "    fn add(&mut self) {\n        self.items += 1;\n        add(1);\n    }";
    for fragment in ["fn add", "add", "add()", "fn  add()"] {
        is(fragment, RUST, add);
    }
    is("Cart::add", RUST, add);
    is("Cart.add()", RUST, add);
    assert_eq!(part("Cart::deploy", RUST), Err(0));
    assert!(part("impl Cart", RUST).unwrap().ends_with("    }\n}"));
    assert_eq!(part("impl<T> Cart", RUST), part("impl Cart", RUST));
}

const PYTHON: &str = "\
import os

class Cart:
    # adds
    @checked
    def add(self,
            item):
        \"\"\"Adds

not indented
        \"\"\"

        self.items.append(item)

    def drop(self):
        pass

def main():
    Cart().add(1)
";

#[test]
fn a_block_by_indentation_reaches_to_the_next_line_of_its_depth() {
    let add = part("def add", PYTHON).unwrap();
    assert!(
        add.starts_with("    # adds") && add.ends_with("append(item)"),
        "{add}"
    );
    assert!(part("class Cart", PYTHON).unwrap().ends_with("pass"));
    is("main", PYTHON, "def main():\n    Cart().add(1)");
}

#[test]
fn other_languages_read_alike() {
    let go = "func (c *Cart) Add(n int) {\n\tc.n += n\n}\n\nfunc use(c *Cart) {\n\tc.Add(1)\n}\n";
    for fragment in ["Add", "func Add", "func (c *Cart) Add"] {
        is(fragment, go, "func (c *Cart) Add(n int) {\n\tc.n += n\n}");
    }
    let cpp = "void Cart::add(int n) {\n    n_ += n;\n}\n\nvoid f(Cart& c) {\n    c.add(1);\n}\n";
    for fragment in ["Cart::add", "add"] {
        is(fragment, cpp, "void Cart::add(int n) {\n    n_ += n;\n}");
    }
    is(
        "Cart.add",
        "class Cart:\n    def add(self):\n        pass\n\nclass B:\n    def add(self):\n        pass\n",
        "    def add(self):\n        pass",
    );
    is(
        "func Deploy",
        "package x\n\nfunc Deploy(to string) {\n\trun(to)\n}\n\nfunc Other() {}\n",
        "func Deploy(to string) {\n\trun(to)\n}",
    );
    is(
        "add",
        "def add(x)\n  x + 1\nend\n\ndef drop\nend\n",
        "def add(x)\n  x + 1\nend",
    );
    is(
        "deploy:",
        "all: deploy\n\ndeploy:\n\t./run\n\ntest:\n\tcargo test\n",
        "deploy:\n\t./run",
    );
    is(
        "build:",
        "jobs:\n  build:\n    runs-on: x\n  test:\n    runs-on: y\n",
        "  build:\n    runs-on: x",
    );
    is(
        "build",
        "jobs:\n  build:\n    runs-on: x\n  test:\n    runs-on: y\n",
        "  build:\n    runs-on: x",
    );
    let ts = "export default class Cart {\n  add() {\n    x();\n  }\n}\nadd();\n";
    is(
        "class Cart",
        ts,
        "export default class Cart {\n  add() {\n    x();\n  }\n}",
    );
    is("add", ts, "  add() {\n    x();\n  }");
    is(
        "PORT",
        "const HOST = 1;\nexport const PORT = 8081;\n",
        "export const PORT = 8081;",
    );
    is(
        "add",
        "#include <x.h>\n#if A\nstatic int *add(int x)\n{\n#ifdef B\n    y();\n#endif\n    return add(1);\n}\n#endif\n",
        "static int *add(int x)\n{\n#ifdef B\n    y();\n#endif\n    return add(1);\n}",
    );
    is(
        "add",
        "class A {\n    /** adds */\n    public List<String> add(int x) throws E {\n        add(2);\n    }\n}\n",
        "    /** adds */\n    public List<String> add(int x) throws E {\n        add(2);\n    }",
    );
    is(
        "deploy",
        "deploy() {\n  echo x\n}\ndeploy\n",
        "deploy() {\n  echo x\n}",
    );
    is("[server]", "[server]\nport = 1\n", "[server]");
}

#[test]
fn what_fits_two_or_none_is_told() {
    let two = "fn deploy() {}\nmod x {\n    fn deploy() {}\n}\n";
    assert_eq!(part("deploy", two), Err(2));
    for fragment in ["fn gone", "  ", "()", "fn", "::", ".", "a.", "struct"] {
        assert_eq!(
            part(fragment, "let x = fn_();\nfoo()\n"),
            Err(0),
            "{fragment}"
        );
    }
    assert_eq!(part("foo", "foo();\nx = foo(1)\nreturn foo(2)\n"), Err(0));
}
