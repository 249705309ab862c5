//! The words that call for a second look, and how to look: the keywords of the one pass.
//!
//! Most are the word itself. Two letters (`pw`) are too short to look for, so they stand here with
//! what follows them.

use super::commands::{self, Command};
use super::tongues::{self, Tongue};
use crate::keywords::Word as Keyword;

/// A keyword: what to look for, and what to read where it stands.
#[derive(Debug)]
pub(in crate::secrets) struct Word {
    /// The bytes to look for: lower-case ASCII, which matches any case, or exact UTF-8.
    text: &'static str,
    /// How many of its bytes stand before the word itself, and how many after.
    pub(super) trim: (usize, usize),
    /// What it calls for.
    pub(super) reading: Reading,
}

/// What a keyword calls for.
#[derive(Debug)]
pub(super) enum Reading {
    /// A word for a password.
    Password {
        /// Its language.
        tongue: &'static Tongue,
        /// Whether it has to be a word of its own.
        short: bool,
    },
    /// A number that somebody types.
    Pin,
    /// A word for a secret that machines use.
    Secret,
    /// `key`, which needs a word before it that says what for.
    Key,
    /// The public half of a key, which its secret half is useless without.
    Identifier,
    /// A word that long mixed runs stand near.
    Near,
    /// A word that announces a user and a password.
    Login,
    /// A well-known account and the sign before its password.
    Account,
    /// The beginning of an IP address.
    Dotted,
    /// `://`
    Address,
    /// The header.
    Authorization,
    /// The word before a token.
    Bearer,
    /// The word before a user and a password in base64.
    Basic,
    /// A header or name of cookies.
    Cookie,
    /// The id of a session.
    Session,
    /// The signature of an address that grants access.
    Grant,
    /// SQL.
    Identified,
    /// A command that takes a password.
    Command(&'static Command),
    /// A word of a configuration file that is followed by a password.
    Directive,
    /// A line of a PostgreSQL password file.
    PasswordFile,
    /// The mark of a section that its author wants forgotten.
    Private,
}

const fn word(text: &'static str, reading: Reading) -> Word {
    Word {
        text,
        trim: (0, 0),
        reading,
    }
}

const fn cut(text: &'static str, before: usize, after: usize, reading: Reading) -> Word {
    Word {
        text,
        trim: (before, after),
        reading,
    }
}

const fn password(text: &'static str, tongue: &'static Tongue) -> Word {
    word(
        text,
        Reading::Password {
            tongue,
            short: false,
        },
    )
}

const fn short(text: &'static str) -> Word {
    word(
        text,
        Reading::Password {
            tongue: &tongues::ENGLISH,
            short: true,
        },
    )
}

const fn pw(text: &'static str) -> Word {
    cut(
        text,
        0,
        1,
        Reading::Password {
            tongue: &tongues::ENGLISH,
            short: true,
        },
    )
}

/// Every keyword.
pub(in crate::secrets) const WORDS: &[Word] = &[
    password("password", &tongues::ENGLISH),
    password("passwd", &tongues::ENGLISH),
    password("passphrase", &tongues::ENGLISH),
    password("passcode", &tongues::ENGLISH),
    password("paasword", &tongues::ENGLISH),
    password("pasword", &tongues::ENGLISH),
    password("passwrd", &tongues::ENGLISH),
    password("paswrd", &tongues::ENGLISH),
    password("pswrd", &tongues::ENGLISH),
    password("psword", &tongues::ENGLISH),
    password("pssword", &tongues::ENGLISH),
    password("psswd", &tongues::ENGLISH),
    password("psswrd", &tongues::ENGLISH),
    password("pswd", &tongues::ENGLISH),
    password("passwort", &tongues::GERMAN),
    password("kennwort", &tongues::GERMAN),
    password("contraseña", &tongues::SPANISH),
    password("CONTRASEÑA", &tongues::SPANISH),
    password("Contraseña", &tongues::SPANISH),
    password("contrasena", &tongues::SPANISH),
    short("clave").of(&tongues::SPANISH),
    password("mot de passe", &tongues::FRENCH),
    short("mdp").of(&tongues::FRENCH),
    short("senha").of(&tongues::PORTUGUESE),
    password("palavra-passe", &tongues::PORTUGUESE),
    password("palavra passe", &tongues::PORTUGUESE),
    password("парол", &tongues::RUSSIAN),
    password("Парол", &tongues::RUSSIAN),
    password("ПАРОЛ", &tongues::RUSSIAN),
    password("密码", &tongues::CHINESE),
    password("密碼", &tongues::CHINESE),
    password("口令", &tongues::CHINESE),
    password("パスワード", &tongues::JAPANESE),
    password("パスコード", &tongues::JAPANESE),
    password("暗証番号", &tongues::JAPANESE),
    password("비밀번호", &tongues::KOREAN),
    password("비번", &tongues::KOREAN),
    password("암호", &tongues::KOREAN),
    password("패스워드", &tongues::KOREAN),
    password("wachtwoord", &tongues::ENGLISH),
    password("parola", &tongues::ENGLISH),
    short("pass"),
    short("pwd"),
    short("p/w"),
    pw("pw:"),
    pw("pw="),
    pw("pw "),
    pw("pw)"),
    pw("pw\""),
    pw("pw'"),
    pw("pw-"),
    cut(
        "pw：",
        0,
        3,
        Reading::Password {
            tongue: &tongues::ENGLISH,
            short: true,
        },
    ),
    cut("pin is", 0, 3, Reading::Pin),
    cut("pin was", 0, 4, Reading::Pin),
    cut("pin:", 0, 1, Reading::Pin),
    cut("pin=", 0, 1, Reading::Pin),
    word("pin code", Reading::Pin),
    word("pincode", Reading::Pin),
    word("secret", Reading::Secret),
    word("token", Reading::Secret),
    word("credential", Reading::Secret),
    word("authkey", Reading::Secret),
    word("key", Reading::Key),
    word("секретный ключ", Reading::Secret),
    word("токен", Reading::Secret),
    word("令牌", Reading::Secret),
    word("密钥", Reading::Secret),
    word("密鑰", Reading::Secret),
    word("トークン", Reading::Secret),
    word("토큰", Reading::Secret),
    word("access_key_id", Reading::Identifier),
    word("access-key-id", Reading::Identifier),
    word("accesskeyid", Reading::Identifier),
    word("access_id", Reading::Identifier),
    word("key_id", Reading::Identifier),
    word("key-id", Reading::Identifier),
    word("client_id", Reading::Identifier),
    word("client-id", Reading::Identifier),
    word("clientid", Reading::Identifier),
    word("app_id", Reading::Identifier),
    word("application_id", Reading::Identifier),
    word("auth", Reading::Near),
    word("authentication", Reading::Near),
    word("access", Reading::Near),
    word("client", Reading::Near),
    word("bearer", Reading::Near),
    word("signature", Reading::Near),
    word("private", Reading::Near),
    word("appid", Reading::Near),
    word("app_id", Reading::Near),
    word("app id", Reading::Near),
    word("api", Reading::Near),
    word("login", Reading::Login),
    word("log in", Reading::Login),
    word("sign in", Reading::Login),
    word("signin", Reading::Login),
    word("credential", Reading::Login),
    word("creds", Reading::Login),
    word("account", Reading::Login),
    word("username", Reading::Login),
    word("user/pass", Reading::Login),
    word("user and pass", Reading::Login),
    word("id/pw", Reading::Login),
    word("id / pw", Reading::Login),
    word("id pw", Reading::Login),
    word("ip/id", Reading::Login),
    word("zugangsdaten", Reading::Login),
    word("anmeldedaten", Reading::Login),
    word("identifiants", Reading::Login),
    word("credenciales", Reading::Login),
    word("usuario", Reading::Login),
    word("usuário", Reading::Login),
    word("логин", Reading::Login),
    word("Логин", Reading::Login),
    word("учётк", Reading::Login),
    word("учетк", Reading::Login),
    word("账号", Reading::Login),
    word("帐号", Reading::Login),
    word("账户", Reading::Login),
    word("用户名", Reading::Login),
    word("アカウント", Reading::Login),
    word("ログイン", Reading::Login),
    word("계정", Reading::Login),
    word("아이디", Reading::Login),
    word("로그인", Reading::Login),
    word("root/", Reading::Account),
    word("root:", Reading::Account),
    word("admin/", Reading::Account),
    word("admin:", Reading::Account),
    word("master/", Reading::Account),
    word("administrator/", Reading::Account),
    word("administrator:", Reading::Account),
    word("ubuntu/", Reading::Account),
    word("postgres/", Reading::Account),
    word("postgres:", Reading::Account),
    word("guest/", Reading::Account),
    word("user/", Reading::Account),
    word("deploy:", Reading::Account),
    word("oracle/", Reading::Account),
    word("://", Reading::Address),
    word("authorization", Reading::Authorization),
    word("bearer ", Reading::Bearer),
    word("basic ", Reading::Basic),
    word("cookie", Reading::Cookie),
    word("sessid", Reading::Session),
    word("sessionid", Reading::Session),
    word("session_id", Reading::Session),
    word("session-id", Reading::Session),
    word("connect.sid", Reading::Session),
    cut("session=", 0, 1, Reading::Session),
    cut("session:", 0, 1, Reading::Session),
    word("sig=", Reading::Grant),
    word("signature=", Reading::Grant),
    word("identified", Reading::Identified),
    word("curl", Reading::Command(&commands::CURL)),
    word("wget", Reading::Command(&commands::CURL)),
    word("http ", Reading::Command(&commands::CURL)),
    word("sshpass", Reading::Command(&commands::SSHPASS)),
    word("mysql", Reading::Command(&commands::MYSQL)),
    word("mysqldump", Reading::Command(&commands::MYSQL)),
    word("mysqladmin", Reading::Command(&commands::MYSQL)),
    word("mariadb", Reading::Command(&commands::MYSQL)),
    word("mongo ", Reading::Command(&commands::SPACED)),
    word("mongosh ", Reading::Command(&commands::SPACED)),
    word("mongodump ", Reading::Command(&commands::SPACED)),
    word("docker login", Reading::Command(&commands::SPACED)),
    word("podman login", Reading::Command(&commands::SPACED)),
    word("helm registry login", Reading::Command(&commands::SPACED)),
    word("az login", Reading::Command(&commands::SPACED)),
    word("oc login", Reading::Command(&commands::SPACED)),
    word("sqlcmd", Reading::Command(&commands::SPACED)),
    word("redis-cli", Reading::Command(&commands::REDIS)),
    word("ldapsearch", Reading::Command(&commands::LDAP)),
    word("ldapmodify", Reading::Command(&commands::LDAP)),
    word("ldapadd", Reading::Command(&commands::LDAP)),
    word("smbclient", Reading::Command(&commands::SMB)),
    word("zip ", Reading::Command(&commands::ZIP)),
    word("7z ", Reading::Command(&commands::ZIP)),
    word("openssl", Reading::Command(&commands::OPENSSL)),
    word("requirepass", Reading::Directive),
    word("masterauth", Reading::Directive),
    cut(":5432:", 0, 0, Reading::PasswordFile),
    word("<private>", Reading::Private),
    // Networks of one's own. Other addresses are known by the account beside them.
    dotted("192.168."),
    dotted("172.16."),
    dotted("172.17."),
    dotted("172.18."),
    dotted("172.19."),
    dotted("172.20."),
    dotted("172.21."),
    dotted("172.22."),
    dotted("172.23."),
    dotted("172.24."),
    dotted("172.25."),
    dotted("172.26."),
    dotted("172.27."),
    dotted("172.28."),
    dotted("172.29."),
    dotted("172.30."),
    dotted("172.31."),
    dotted("10.0."),
    dotted("10.1."),
    dotted("10.2."),
    dotted("10.3."),
    dotted("10.4."),
    dotted("10.5."),
    dotted("10.6."),
    dotted("10.7."),
    dotted("10.8."),
    dotted("10.9."),
    dotted("10.10"),
    dotted("10.11"),
    dotted("10.12"),
    dotted("10.13"),
    dotted("10.14"),
    dotted("10.15"),
    dotted("10.16"),
    dotted("10.20"),
    dotted("10.21"),
    dotted("10.22"),
    dotted("10.30"),
    dotted("10.31"),
    dotted("10.32"),
    dotted("10.33"),
    dotted("10.40"),
    dotted("10.50"),
    dotted("10.60"),
    dotted("10.64"),
    dotted("10.70"),
    dotted("10.80"),
    dotted("10.90"),
    dotted("10.96"),
];

/// The beginning of an address.
const fn dotted(text: &'static str) -> Word {
    word(text, Reading::Dotted)
}

impl Word {
    /// Returns what to look for.
    pub(in crate::secrets) const fn keyword(&self) -> Keyword {
        Keyword::new(self.text, false)
    }

    const fn of(self, tongue: &'static Tongue) -> Self {
        Self {
            text: self.text,
            trim: self.trim,
            reading: Reading::Password {
                tongue,
                short: true,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_can_be_looked_for() {
        for word in WORDS {
            assert!(word.text.len() >= 3, "{}", word.text);
            assert!(word.trim.0 + word.trim.1 < word.text.len(), "{}", word.text);
            assert!(
                !word.text.is_ascii() || !word.text.bytes().any(|b| b.is_ascii_uppercase()),
                "{}",
                word.text
            );
        }
    }
}
