//! The `Model` trait: a context in, a stream of events out.
//!
//! In step 03 the stream was lazy and the consumer drove it: nothing ran until it was polled. From
//! here on a producer runs by itself and pushes, and the consumer takes what is there. So somebody
//! must say when to stop: the token in [`StreamOptions`], or the consumer by going away.

use tokio_util::sync::CancellationToken;

use crate::message::Context;
use crate::reply::ReplyStream;

/// Something that answers: the scripted model, a replayed record, later a real provider.
///
/// The contract (seed 8.2; Pi's `StreamFn`, `packages/agent/src/types.ts`):
///
/// - Once asked, it fails only *inside* the stream: every failure is an `error` event. TypeScript
///   can only ask for that in a comment ("must not throw"). Here the item type has no `Err`, and
///   [`Reply`](crate::reply::Reply) turns a producer that panics into an `error` event.
/// - It begins its reply with [`Reply::start_after`](crate::reply::Reply::start_after), so that its
///   calls have ids that no earlier call has.
/// - It returns at once, and whatever takes time happens in a task of its own.
/// - When the token is cancelled it ends with `error(aborted)`; when nobody listens any more, it
///   just ends.
#[doc(alias = "StreamFn")]
#[doc(alias = "StreamFunction")]
pub trait Model: Send + Sync {
    /// Begins to answer the last message of `context`.
    fn stream(&self, context: &Context, options: StreamOptions) -> ReplyStream;
}

/// What a caller can ask of one request.
#[derive(Debug, Clone, Default)]
pub struct StreamOptions {
    /// Stops the request; Pi's `AbortSignal`.
    pub cancel: CancellationToken,
}
