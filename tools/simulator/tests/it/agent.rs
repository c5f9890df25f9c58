use reqwest::StatusCode;
use serde_json::{Value, json};
use simulator::peers::ResponseMode;
use simulator::peers::agent::SimAgentGateway;

use crate::sink::client;

const TOKEN: &str = "the hook's own token";

async fn hook(gateway: &SimAgentGateway, token: &str, body: &Value) -> (StatusCode, Value) {
    let request = client().post(format!("{}/hooks/agent", gateway.url())).bearer_auth(token).json(body);
    let answer = request.send().await.unwrap();
    (answer.status(), answer.json().await.unwrap_or_default())
}

#[tokio::test]
async fn the_agent_is_given_each_message_once_by_whoever_shows_the_token() {
    let gateway = SimAgentGateway::start(TOKEN).await.unwrap();
    let message = json!({"message": "Low stock: PETG", "idempotencyKey": "1"});
    assert_eq!(hook(&gateway, "another", &message).await.0, StatusCode::UNAUTHORIZED);
    let (status, first) = hook(&gateway, TOKEN, &message).await;
    assert_eq!((status, &first["ok"]), (StatusCode::OK, &json!(true)));
    assert_eq!(hook(&gateway, TOKEN, &message).await.1["runId"], first["runId"], "the same run");
    for wrong in [json!({}), json!({"message": " "}), json!({"message": "a", "channel": "telegram"})] {
        assert_eq!(hook(&gateway, TOKEN, &wrong).await.0, StatusCode::BAD_REQUEST, "{wrong}");
    }
    // Without a key each is another.
    hook(&gateway, TOKEN, &json!({"message": "again"})).await;
    hook(&gateway, TOKEN, &json!({"message": "again"})).await;
    assert_eq!(gateway.messages(), ["Low stock: PETG", "again", "again"]);
    gateway.set_mood(ResponseMode::Status(502));
    assert_eq!(hook(&gateway, TOKEN, &message).await.0, StatusCode::BAD_GATEWAY);
    assert_eq!(client().get(gateway.url()).send().await.unwrap().status(), StatusCode::BAD_GATEWAY);
}
