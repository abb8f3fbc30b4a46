//! Events, and how to look at a stream of them.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use futures::Stream;
use step03_streaming::event::StreamEvent;
use step03_streaming::message::{AssistantMessage, ContentBlock, StopReason};

use crate::probe::random::Random;

/// A stream of events that owns all it needs. It stays on its thread.
pub type Events = Pin<Box<dyn Stream<Item = StreamEvent>>>;

/// A piece of text.
pub fn delta(text: impl Into<String>) -> StreamEvent {
    StreamEvent::TextDelta { delta: text.into() }
}

/// The end of a reply that ended well.
pub fn done(text: impl Into<String>) -> StreamEvent {
    StreamEvent::Done { message: said(text, StopReason::Stop) }
}

/// The end of a reply that failed.
pub fn error(reason: impl Into<String>) -> StreamEvent {
    StreamEvent::Error { error: reason.into() }
}

/// A message of the assistant.
pub fn said(text: impl Into<String>, stop_reason: StopReason) -> AssistantMessage {
    AssistantMessage { content: ContentBlock::text(text), stop_reason }
}

/// A message of the assistant as providers send it: most often of one block of text, but also of
/// none or of two.
pub fn any_said(random: &mut Random, stop_reason: StopReason) -> AssistantMessage {
    let blocks = random.pick(&[1, 1, 0, 2]);
    let content = (0..blocks).map(|_| ContentBlock::Text { text: random.piece() }).collect();
    AssistantMessage { content, stop_reason }
}

/// Polls once, by hand: nobody is woken, so what is not ready now is `Pending`.
pub fn poll(events: &mut Events) -> Poll<Option<StreamEvent>> {
    events.as_mut().poll_next(&mut Context::from_waker(Waker::noop()))
}

/// Events in one line each, as a person would write them down.
pub fn in_short(events: &[StreamEvent]) -> String {
    let short = |event: &StreamEvent| match event {
        StreamEvent::Start => "start".to_owned(),
        StreamEvent::TextDelta { delta } => format!("text_delta {delta:?}"),
        StreamEvent::Done { message } => {
            let text: String =
                message.content.iter().map(|ContentBlock::Text { text }| text.as_str()).collect();
            format!("done {text:?} ({:?}, blocks: {})", message.stop_reason, message.content.len())
        }
        StreamEvent::Error { error } => format!("error {error:?}"),
    };
    events.iter().map(short).collect::<Vec<_>>().join("\n")
}
