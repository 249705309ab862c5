//! Ids and moments as text.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::ids::{AccountId, PrincipalId, ProjectId, RecordId, ResolutionId};
use crate::time::Timestamp;

macro_rules! as_text {
    ($($name:ident: $parse:expr;)+) => {$(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                $parse(&text).map_err(D::Error::custom)
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string" })
            }
        }
    )+};
}

as_text! {
    AccountId: str::parse::<AccountId>;
    ProjectId: str::parse::<ProjectId>;
    PrincipalId: str::parse::<PrincipalId>;
    RecordId: str::parse::<RecordId>;
    ResolutionId: str::parse::<ResolutionId>;
    Timestamp: Timestamp::parse;
}
