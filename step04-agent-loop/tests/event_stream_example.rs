//! The lesson `examples/event_stream.rs` prints the scenarios of seed 1.2, to the byte.

#[expect(dead_code, reason = "its `main` only prints what is checked here")]
#[path = "../examples/event_stream.rs"]
mod lesson;

use clap::Parser;

async fn printed(args: &[&str]) -> String {
    let args = lesson::Args::try_parse_from([&["event_stream"], args].concat()).unwrap();
    lesson::lesson(args.lang).await.unwrap()
}

#[tokio::test]
async fn chinese_is_the_text_of_the_seed() {
    let expected = "\
【场景 A】消费者先开始 for await，生产者后 push
  消费到: E1, E2, <=END | result: <=END
【场景 B】生产者先 push，消费者后消费
  消费到: W1, W2, <=END | result: <=END
【场景 C】结束事件提前结算 result()，无需 end()
  result(): <=END
";
    assert_eq!(printed(&["--lang", "zh"]).await, expected);
}

#[tokio::test]
async fn english_says_the_same() {
    let expected = "\
[Scenario A] The consumer starts to wait first, the producer pushes later
  consumed: E1, E2, <=END | result: <=END
[Scenario B] The producer pushes first, the consumer comes later
  consumed: W1, W2, <=END | result: <=END
[Scenario C] The terminal event settles result() by itself, without end()
  result(): <=END
";
    assert_eq!(printed(&["--lang", "en"]).await, expected);
}

#[test]
fn an_unknown_language_is_refused() {
    assert!(lesson::Args::try_parse_from(["event_stream", "--lang", "fr"]).is_err());
}
