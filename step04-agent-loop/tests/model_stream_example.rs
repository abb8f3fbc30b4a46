//! The lesson `model_stream`, to the byte.

#[allow(dead_code)]
#[path = "../examples/model_stream.rs"]
mod model_stream;

use model_stream::{Lang, lesson};

#[tokio::test]
async fn the_lesson_in_english() {
    assert_eq!(lesson(Lang::En).await.unwrap(), include_str!("data/model_stream.txt"));
}

#[tokio::test]
async fn the_lesson_in_chinese() {
    assert_eq!(lesson(Lang::Zh).await.unwrap(), include_str!("data/model_stream.zh.txt"));
}
