//! Bodies: bounded in size and time.

use axum::body::{Body, Bytes};
use http::HeaderMap;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, EXPECT};
use http_body_util::{BodyExt, LengthLimitError, Limited};

use super::{BODY_PATIENCE, MAX_BODY_BYTES};
use crate::fault::{Code, Fault};

/// How much of a body that is too large is still taken in, so that the client reads the answer
/// instead of a broken pipe.
const MAX_DRAINED_BYTES: usize = 8 * MAX_BODY_BYTES;

/// Reads a JSON body.
///
/// # Errors
/// `unsupported_media_type`, `too_large`, or `invalid_request` if it does not arrive.
pub(crate) async fn read(headers: &HeaderMap, body: Body) -> Result<Bytes, Fault> {
    let reading = read_within_limit(headers, body);
    tokio::time::timeout(BODY_PATIENCE, reading)
        .await
        .unwrap_or_else(|_| Err(Fault::new(Code::InvalidRequest, "the body did not arrive")))
}

async fn read_within_limit(headers: &HeaderMap, mut body: Body) -> Result<Bytes, Fault> {
    let is_json = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .map(|value| value.split(';').next().unwrap_or_default().trim())
        .is_some_and(|essence| essence.eq_ignore_ascii_case("application/json"));
    let announced: Option<u64> = headers
        .get(CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.parse().ok());
    if announced.is_some_and(|bytes| bytes > MAX_BODY_BYTES as u64) {
        // Who asks first whether to send it has not begun to.
        if !headers.contains_key(EXPECT) {
            drain(&mut body).await;
        }
        return Err(too_large());
    }
    let read = Limited::new(&mut body, MAX_BODY_BYTES).collect().await;
    let bytes = match read {
        Ok(collected) => collected.to_bytes(),
        Err(error) if error.is::<LengthLimitError>() => {
            drain(&mut body).await;
            return Err(too_large());
        }
        Err(error) => {
            tracing::debug!(%error, "a body broke off");
            return Err(Fault::new(Code::InvalidRequest, "the body broke off"));
        }
    };
    if !is_json {
        return Err(Fault::new(
            Code::UnsupportedMediaType,
            "the body must be sent as `Content-Type: application/json`",
        ));
    }
    Ok(bytes)
}

fn too_large() -> Fault {
    Fault::new(
        Code::TooLarge,
        format!("a body may have at most {MAX_BODY_BYTES} bytes"),
    )
}

async fn drain(body: &mut Body) {
    let mut n_bytes = 0;
    while let Some(Ok(frame)) = body.frame().await {
        n_bytes += frame.data_ref().map_or(0, Bytes::len);
        if n_bytes > MAX_DRAINED_BYTES {
            return;
        }
    }
}
