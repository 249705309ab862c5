//! What names and sentences give away, and what they don't, in many words.
//!
//! Made-up values throughout: the sentence or the syntax is what is tested.

use crate::Policy;
use crate::beside::Beside;
use crate::rules::RULES;
use crate::secrets::{Hit, find};

fn all(text: &str) -> Vec<Hit> {
    find(&Beside::of(&Policy::default()), text, false)
}

/// Checks that the value between the marks is found, and nothing else.
fn check(texts: &[&str]) {
    let mut failures = Vec::new();
    for marked in texts {
        let text = marked.replace(['⟦', '⟧'], "");
        let start = marked.find('⟦').unwrap();
        let expected = &marked[start + '⟦'.len_utf8()..marked.find('⟧').unwrap()];
        let found: Vec<_> = all(&text)
            .into_iter()
            .map(|hit| (text[hit.span].to_owned(), RULES[hit.rule].id))
            .collect();
        if found.len() != 1 || found[0].0 != expected {
            failures.push((text, found));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

/// Checks that nothing is found.
fn spare(texts: &[&str]) {
    let mut failures = Vec::new();
    for text in texts {
        for hit in all(text) {
            failures.push((*text, text[hit.span].to_owned(), RULES[hit.rule].id));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn a_password_is_assigned_in_any_syntax() {
    check(&[
        "password = \"⟦hunter⟧\"",
        "db_password: '⟦Tr0ub4dor⟧'",
        "const dbPassword = `⟦Tr0ub4dor⟧`;",
        "DB_PASSWORD=⟦odoo⟧",
        "-e POSTGRES_PASSWORD=⟦odoo⟧ postgres:16",
        "  MYSQL_ROOT_PASSWORD: ⟦rootpw⟧",
        "ENV DB_PASSWORD ⟦odoo⟧",
        "password := \"⟦hunter⟧\"",
        "'password' => '⟦hunter⟧',",
        "{\"password\": \"⟦hunter⟧\"}",
        "{\\\"password\\\": \\\"⟦hunter⟧\\\"}",
        "<password>⟦hunter⟧</password>",
        "<add key=\"ClearTextPassword\" value=\"⟦hunter⟧\" />",
        "<entry key=\"db.password\">⟦hunter⟧</entry>",
        "- name: DB_PASSWORD\n  value: \"⟦hunter⟧\"",
        "spring.datasource.password=⟦hunter2⟧",
        "password ⟦hunter2⟧",
        "password \"⟦hunter2⟧\"",
        "if password == \"⟦hunter⟧\":",
        "if (\"⟦hunter⟧\" === password) {",
        "user.setPassword(\"⟦hunter2⟧\");",
        "props.setProperty(\"db.password\", \"⟦hunter2⟧\");",
        "define('DB_PASSWORD', '⟦hunter⟧');",
        "password = os.environ.get(\"DB_PASSWORD\") or \"⟦hunter⟧\"",
        "const password = process.env.DB_PASSWORD || '⟦hunter⟧'",
        "let password: &str = \"⟦hunter⟧\";",
        "char password[16] = \"⟦hunter⟧\";",
        "| password | ⟦Hunter2x⟧ |",
        "**Password:** ⟦Hunter2x⟧",
        "Password → ⟦Hunter2x⟧",
        "PW: ⟦hunter2⟧",
        "P/W: ⟦hunter2⟧",
        "pass=⟦hunter2⟧",
        "user:admin pass:⟦hunter2⟧",
        "requirepass ⟦foobared⟧",
        "machine h.example login me password ⟦hunter⟧",
        "db.example:5432:app:me:⟦hunter⟧",
        "pin code is ⟦482913⟧",
        "비번: ⟦abc123!⟧",
        "密码：⟦Abc12345⟧",
        "пароль: ⟦Abc12345⟧",
        "パスワード：⟦Abc12345⟧",
        "Kennwort = ⟦Abc12345⟧",
    ]);
    spare(&[
        "password: str",
        "password: Option<String>,",
        "password = config.password",
        "password = self.password",
        "password = os.environ[\"DB_PASSWORD\"]",
        "password = getPassword()",
        "password: process.env.PASSWORD,",
        "password = user.password2",
        "password: \"required\"",
        "\"password\": {\"type\": \"string\"}",
        "label: \"Password\", hint: \"Your password\"",
        "password = \"\"",
        "PASSWORD=${PASSWORD}",
        "PASSWORD={{ password }}",
        "password: <your password>",
        "password: ********",
        "password_hash = \"$2b$12$abc\"",
        "password_file: /run/secrets/db_password",
        "PWD=/srv/app",
        "OLDPWD=/home/me",
        "bypass: true",
        "compass: north12",
        "passed: 12, failed: 0",
        "Pass `a=1` to the builder",
        "passwordless sudo",
        "required: [\"username\", \"password\", \"remember\"]",
        "password must be at least 8 characters",
        "- [ ] password rotation (Q3-2026)",
        "pin: 13",
    ]);
}

#[test]
fn a_key_or_token_is_assigned_in_any_syntax() {
    check(&[
        "API_KEY=⟦a1b2c3d4e5f6g7h8⟧",
        "api_key: \"⟦a1b2c3d4e5f6g7h8⟧\"",
        "client_secret = '⟦a1b2c3d4e5f6g7h8⟧'",
        "{\"accessToken\": \"⟦a1b2c3d4e5f6g7h8⟧\"}",
        "X-Api-Key: ⟦a1b2c3d4e5f6g7h8⟧",
        "https://a.example/x?token=⟦a1b2c3d4e5f6g7h8⟧&y=1",
        "//registry.example/:_authToken=⟦a1b2c3d4e5f6g7h8⟧",
        "--from-literal=token=⟦a1b2c3d4e5f6g7h8⟧",
        "tool --api-key ⟦a1b2c3d4e5f6g7h8⟧ run",
        "token: ⟦0192f0c1-8a6b-7c3d-9e4f-0123456789ab⟧",
        "SECRET_KEY = '⟦k#9v!x_2p0w^zq7⟧'",
        "os.getenv(\"SECRET\", \"⟦a1B2c3D4⟧\")",
        "AccountKey=⟦Zk3v9QpL2xWm7RtBa1B2c3D4e5F6g7H8⟧;",
        "the api key is ⟦a1b2c3d4e5f6g7h8⟧",
        "our token for the mirror was changed to `⟦a1b2c3d4e5f6g7h8⟧`",
        "key for the old mirror, ⟦a1B2c3D4e5F6g7H8i9J0k1⟧",
    ]);
    spare(&[
        "API_KEY=YOUR_API_KEY",
        "token: AuthToken",
        "token: Option<String>",
        "secret = getSecret()",
        "max_tokens: 4096",
        "token_count: 12",
        "token_type: bearer",
        "tokenizer = \"cl100k_base\"",
        "token=${TOKEN}",
        "api_key: os.environ['API_KEY']",
        "key: sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
        "primary key (id), foreign key (user_id)",
        "\"key\": \"ArrowDown\"",
        "cache_key = \"v2:user:42\"",
        "public_key: MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE",
        "secretName: my-app-secret-v1",
        "secret_name: my-app-secret-v1",
        "next_page_token: abc",
        "model: claude-sonnet-4-20250514, api key from the vault",
        "author=4c536992c26b46b68ffc68ff99b453c1d3041341",
        "the token is refreshed-automatically",
        "the api key is read from API_KEY_2",
        "session: 0192f0c1-8a6b-7c3d-9e4f-0123456789ab started",
        "access log: GET /api/v2/users/42?fields=name",
        "private repository at src/auth/v2/handler_test.rs",
    ]);
}

#[test]
fn commands_headers_addresses_and_sql_give_passwords_away() {
    check(&[
        "curl -u admin:⟦hunter⟧ https://a.example",
        "sshpass -p ⟦hunter⟧ ssh me@h",
        "mysql -h db -u root -p⟦hunter⟧ app",
        "tool --password ⟦hunter2⟧ run",
        "tool --password=⟦hunter⟧ run",
        "Connect-It -Password '⟦hunter⟧'",
        "docker login -u me -p ⟦hunter2⟧ r.example",
        "kubectl create secret generic db --from-literal=password=⟦hunter2⟧",
        "Authorization: Bearer ⟦a1B2c3D4e5F6g7⟧",
        "Cookie: sid=⟦4c536992c26b46b68ffc68ff99b453c1d3041341⟧; theme=dark",
        "PHPSESSID=⟦4c536992c26b46b68ffc68ff99b453c1⟧",
        "postgres://app:⟦hunter⟧@db.internal:5432/app",
        "Server=db;User Id=sa;Password=⟦hunter⟧;Encrypt=true",
        "host=db user=app password=⟦hunter⟧ sslmode=disable",
        "jdbc:postgresql://db/app?user=app&password=⟦hunter⟧",
        "https://a.example/c?sv=2024&sig=⟦a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0%3D⟧",
        "CREATE USER a IDENTIFIED BY '⟦hunter⟧';",
        "ALTER ROLE a WITH PASSWORD '⟦hunter⟧';",
    ]);
    spare(&[
        "curl -u $USER:$PASS https://a.example",
        "use --token to authenticate",
        "pass --password-file instead of --password",
        "mysql -u root -p app",
        "docker run -p 8080:80 nginx",
        "Authorization: Bearer <token>",
        "COOKIE=$COOKIE",
        "postgres://user:${PASSWORD}@host/db",
        "https://example.org:8080/@scope/name",
        "SELECT password FROM users",
        "ALTER USER a PASSWORD EXPIRE",
    ]);
}

#[test]
fn user_and_password_stand_side_by_side() {
    check(&[
        "login admin / ⟦Secr3t!x⟧",
        "id/pw: deploy/⟦Secr3t!x⟧",
        "ID / PW : deploy / ⟦Secr3t!x⟧",
        "credentials are `admin` / `⟦admin1⟧`",
        "admin/⟦Secr3t1!⟧",
        "log in as deploy with ⟦Secr3t!x⟧",
        "10.20.30.40 root/⟦Secr3t!x⟧",
        "192.0.2.7(admin/⟦Secr3tXy⟧)",
        "username and password are both `⟦root⟧`",
        "the default password is `⟦root⟧`",
        "계정/PW: deploy/⟦Secr3t!x⟧",
        "логин deploy пароль ⟦Secr3t!x⟧",
    ]);
    spare(&[
        "login page / sign-up page",
        "account settings / billing",
        "login with username and password",
        "credentials: see vault / 1Password",
        "10.0.0.0/24 net/core",
        "203.0.113.4 docs/setup.md",
        "admin/dashboard, root/setup.sh",
        "user/repo and org/project-v2",
        "fn insert_account(&mut self, account: &AccountRow) -> EngineResult<()>;",
        "account: AccountId::from_bytes([1; 16]),",
        "client: row.get(25)?,",
        "modules `clients`, `MMW_CRASH=1` and `crash`",
        "needless_pass_by_value = \"warn\"",
        "the username and password are both required",
    ]);
}

#[test]
fn english_sentences_tell_passwords() {
    check(&[
        "the password is ⟦hunter2⟧",
        "The staging password is now ⟦hunter2⟧.",
        "password for the router was ⟦hunter2⟧, keep it",
        "the password for the staging database on db1 is ⟦hunter2⟧",
        "passphrase of the vault is `⟦opensesame⟧`",
        "I set the password to \"⟦opensesame⟧\"",
        "we changed the admin password to ⟦hunter2⟧ yesterday",
        "password has been reset to ⟦hunter2⟧",
        "the password will be ⟦hunter2⟧ from Monday",
        "root password ⟦Hunter2x⟧ on the bench machine",
        "the admin pw is ⟦hunter2⟧",
        "password should be ⟦hunter2⟧",
        "⟦Hunter2x⟧ is the new admin password",
        "use ⟦Hunter2x⟧ as the password",
        "`⟦opensesame⟧` is the password for the box",
        "sign in as deploy with password ⟦hunter2⟧",
        "(password: ⟦hunter2⟧)",
        "password that works here: ⟦hunter2⟧",
    ]);
    spare(&[
        "the password is incorrect",
        "the password is incorrect!",
        "password is stored in 1Password",
        "the password is hashed with bcrypt",
        "the password was changed on 2026-01-02",
        "passwords are SHA-256 hashes",
        "password is case-sensitive",
        "the password is user's choice",
        "password to unlock",
        "the password is required",
        "the password is base64-encoded",
        "the password is in `.env`",
        "passwords are 12-16 characters",
        "password is ${DB_PASSWORD}",
        "the password is `DB_PASSWORD`",
        "the password of `admin` is in the vault",
        "`argon2id` is the password hasher",
        "use OAuth2 as the password replacement",
        "the password field is called `pw_field`",
        "the password reset link is https://a.example/r1",
        "set the password to something long",
        "password for step-2 is the same as before",
        "the password is sent to me@example.org",
    ]);
}

#[test]
fn sentences_of_eight_more_languages_tell_passwords() {
    check(&[
        "пароль ⟦Hunter2x⟧",
        "Пароль от сервера — ⟦hunter2⟧",
        "пароль для базы теперь ⟦hunter2⟧.",
        "пароль администратора: ⟦hunter2⟧",
        "пароль изменён на ⟦hunter2⟧",
        "пароль будет ⟦hunter2⟧ с понедельника",
        "пароль был ⟦hunter2⟧",
        "⟦Hunter2x⟧ — пароль от роутера",
        "das Passwort ist ⟦hunter2⟧",
        "Das Kennwort für den Router lautet ⟦hunter2⟧.",
        "das Passwort wurde auf ⟦hunter2⟧ geändert",
        "das neue Passwort heißt jetzt ⟦hunter2⟧",
        "⟦Hunter2x⟧ ist das neue Passwort",
        "mit ⟦Hunter2x⟧ als Passwort",
        "la contraseña es ⟦hunter2⟧",
        "la clave del servidor es ⟦hunter2⟧.",
        "la contraseña se cambió a ⟦hunter2⟧",
        "⟦Hunter2x⟧ es la contraseña",
        "le mot de passe est ⟦hunter2⟧",
        "le mot de passe du serveur était ⟦hunter2⟧.",
        "le mot de passe a été changé en ⟦hunter2⟧",
        "⟦Hunter2x⟧ est le mot de passe",
        "a senha é ⟦hunter2⟧",
        "a senha do servidor era ⟦hunter2⟧.",
        "a senha foi alterada para ⟦hunter2⟧",
        "⟦Hunter2x⟧ é a senha",
        "密码是⟦hunter2⟧",
        "服务器密码为 ⟦hunter2⟧。",
        "密码已改为⟦hunter2⟧",
        "密码现在是 ⟦hunter2⟧",
        "⟦Hunter2x⟧ 是密码",
        "パスワードは⟦hunter2⟧です",
        "パスワードを⟦hunter2⟧に変更しました",
        "⟦Hunter2x⟧がパスワードです",
        "비밀번호는 ⟦hunter2⟧입니다",
        "비밀번호를 ⟦hunter2⟧로 변경했습니다",
        "비번 ⟦hunter2⟧",
        "⟦Hunter2x⟧가 비밀번호입니다",
    ]);
    spare(&[
        "пароль хранится в 1Password",
        "неверный пароль",
        "пароль меняется раз в 90 дней",
        "пароль ${PASSWORD}",
        "пароль должен быть длиннее 12 символов",
        "das Passwort ist falsch",
        "das Passwort ist in 1Password",
        "das Passwort ist SHA-256-gehasht",
        "la contraseña es incorrecta",
        "la clave es importante",
        "la clave es el paso 2",
        "le mot de passe est incorrect",
        "le mot de passe est dans 1Password",
        "a senha é obrigatória",
        "a senha é secreta",
        "密码错误",
        "密码是必填的",
        "密码存储在 1Password 里",
        "密码长度至少 8 位",
        "パスワードが違います",
        "パスワードは必須です",
        "パスワードは8文字以上です",
        "비밀번호가 틀렸습니다",
        "암호는 필수입니다",
        "암호화 방식은 AES-256입니다",
    ]);
}
