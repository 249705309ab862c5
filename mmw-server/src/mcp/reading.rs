//! What stands between a reading and its words: a program that sees the caller's files compares them first.
//!
//! Over stdio that program is around this one and is called. Over HTTP it is in front of it: it asks for what
//! it compares in the `_meta` of a request, finds it in that of the answer, and puts it into words again.

use mmw_core::wire::Reading;
use rmcp::RoleServer;
use rmcp::model::MetaObject;
use rmcp::service::RequestContext;
use serde_json::Value;

use super::{Door, Mcp};
use crate::actions::{Answer, reading};
use crate::desk::Order;
use crate::fault::Fault;

/// Where a request says that whoever sends it compares files, and where an answer has what for.
pub const COMPARE_META: &str = "mmw/compare";

/// The name by which the program around this one is asked to complete a reading.
pub const READING: &str = "reading";

/// Tells whether whoever asks compares files itself.
pub(super) fn compares(context: &RequestContext<RoleServer>) -> bool {
    context.meta.get(COMPARE_META).and_then(Value::as_bool) == Some(true)
}

impl Mcp {
    /// Puts a reading into words. Returns them with what goes into the answer's `_meta`.
    pub(super) async fn told(
        &self,
        reading: &Reading,
        context: &RequestContext<RoleServer>,
    ) -> Result<(String, Option<MetaObject>), Fault> {
        let text = reading::told(reading, self.desk.clock.now());
        let written = || serde_json::to_value(reading).map_err(|_| Fault::internal());
        match &self.door {
            Door::Stdio(_) => {
                let (_, after) = self.before(READING, Order::default(), context).await?;
                let structured = written()?;
                let answer = after.finish(Answer { structured, text }).await?;
                Ok((answer.text, None))
            }
            Door::Http if compares(context) => {
                let mut meta = MetaObject::new();
                meta.insert(COMPARE_META.to_owned(), written()?);
                Ok((text, Some(meta)))
            }
            Door::Http => Ok((text, None)),
        }
    }
}
