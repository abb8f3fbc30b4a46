//! One stream, two views: the three scenarios of seed 1.2.
//!
//! ```text
//! cargo run -p step04-agent-loop --example event_stream
//! cargo run -p step04-agent-loop --example event_stream -- --lang zh
//! ```
//!
//! Nothing below is printed because the text says so: events and result come out of the stream.

use std::error::Error;
use std::io::{self, Write};

use clap::{Parser, ValueEnum};
use step04_agent_loop::event_stream::{EventStream, Producer, event_stream};
use tokio::task::yield_now;

/// Prints what two consumers of one stream see.
#[derive(Parser)]
pub struct Args {
    /// The language of the text.
    #[arg(long, env = "LAB_LANG", default_value = "en")]
    pub lang: Lang,
}

/// The language of the text.
#[derive(Clone, Copy, ValueEnum)]
pub enum Lang {
    /// English.
    En,
    /// Chinese, as in the seed.
    Zh,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let lesson = lesson(Args::parse().lang).await?;
    match io::stdout().write_all(lesson.as_bytes()) {
        // Whoever reads us has left (`| head -1`), and nothing is wrong.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}

/// Plays the three scenarios and writes down what was seen.
pub async fn lesson(lang: Lang) -> Result<String, Box<dyn Error>> {
    let [a, b, c, consumed] = match lang {
        Lang::En => [
            "[Scenario A] The consumer starts to wait first, the producer pushes later",
            "[Scenario B] The producer pushes first, the consumer comes later",
            "[Scenario C] The terminal event settles result() by itself, without end()",
            "consumed",
        ],
        Lang::Zh => [
            "【场景 A】消费者先开始 for await，生产者后 push",
            "【场景 B】生产者先 push，消费者后消费",
            "【场景 C】结束事件提前结算 result()，无需 end()",
            "消费到",
        ],
    };
    let (a_events, a_result) = consumer_first().await?;
    let (b_events, b_result) = producer_first().await?;
    let c_result = result_only().await?;
    Ok(format!(
        "{a}\n  {consumed}: {a_events} | result: {a_result}\n\
         {b}\n  {consumed}: {b_events} | result: {b_result}\n\
         {c}\n  result(): {c_result}\n"
    ))
}

type Event = &'static str;

/// An event that begins with `<=` is the last one, and it is the result as well.
fn stream() -> (Producer<Event, Event>, EventStream<Event, Event>) {
    event_stream(|event: &Event| event.starts_with("<=").then_some(*event))
}

/// A: the waiting line is used, the queue is never longer than one event.
async fn consumer_first() -> Result<(String, Event), Box<dyn Error>> {
    let (producer, stream) = stream();
    // `join!` polls from left to right, so the consumer finds an empty queue and waits.
    let (events, pushed) = futures::join!(consume(&stream), async {
        for event in ["E1", "E2", "<=END"] {
            producer.push(event)?;
            // Let the consumer take it and wait again, before the next one comes.
            yield_now().await;
        }
        Ok::<_, Box<dyn Error>>(())
    });
    pushed?;
    Ok((events, stream.result().await?))
}

/// B: the queue is used, nobody ever waits.
async fn producer_first() -> Result<(String, Event), Box<dyn Error>> {
    let (producer, stream) = stream();
    for event in ["W1", "W2", "<=END"] {
        producer.push(event)?;
    }
    Ok((consume(&stream).await, stream.result().await?))
}

/// C: nobody takes events, nobody calls `end`, and the producer is still there.
async fn result_only() -> Result<Event, Box<dyn Error>> {
    let (producer, stream) = stream();
    let result = stream.result();
    producer.push("<=END")?;
    Ok(result.await?)
}

/// `for await (const event of stream)`, in Rust.
async fn consume(stream: &EventStream<Event, Event>) -> String {
    let mut seen = Vec::new();
    while let Some(event) = stream.next().await {
        seen.push(event);
    }
    seen.join(", ")
}
