//! Messages for MQTT discovery: one that describes an entity as a device with its sensors, and one with the entity's
//! state. Pure.

use serde_json::{Map, Value, json};

use super::HomeEntity;
use crate::mqtt::TopicMessage;

/// Availability payload published when the session opens; the counterpart is [`OFFLINE`].
pub const ONLINE: &str = "online";
/// Availability payload that the broker publishes if the session breaks.
pub const OFFLINE: &str = "offline";

/// Sensor of an entity: the fact to display, and the sensor's name, unit and class.
struct Sensor {
    fact: &'static str,
    name: &'static str,
    unit: Option<&'static str>,
    class: Option<&'static str>,
}

/// Facts that have their own sensors; all other facts are attributes of the state.
const SENSORS: [Sensor; 6] = [
    Sensor { fact: "progress", name: "Progress", unit: Some("%"), class: None },
    Sensor { fact: "remainingSeconds", name: "Remaining time", unit: Some("s"), class: Some("duration") },
    Sensor { fact: "nozzle", name: "Nozzle temperature", unit: Some("°C"), class: Some("temperature") },
    Sensor { fact: "bed", name: "Bed temperature", unit: Some("°C"), class: Some("temperature") },
    Sensor { fact: "printing", name: "Printers printing", unit: None, class: None },
    Sensor { fact: "lowStock", name: "Materials low", unit: None, class: None },
];

/// MQTT topic names.
#[derive(Clone, Debug)]
pub struct Topics {
    base: String,
    prefix: String,
}

impl Topics {
    /// Creates the topics, with `base` as the prefix for states and `prefix` as the prefix for discovery.
    pub fn new(base: &str, prefix: &str) -> Self {
        let trimmed = |text: &str| text.trim_matches('/').to_owned();
        Self { base: trimmed(base), prefix: trimmed(prefix) }
    }

    /// Returns the topic for the server's availability.
    pub fn availability(&self) -> String {
        format!("{}/status", self.base)
    }

    /// Returns the topic on which Home Assistant publishes that it has started.
    pub fn birth(&self) -> String {
        format!("{}/status", self.prefix)
    }

    /// Returns the wildcard topic that matches all device descriptions, no matter who published them.
    pub fn all_configs(&self) -> String {
        format!("{}/device/+/config", self.prefix)
    }

    /// Returns the key of the entity described on a discovery topic, if the entity belongs to this server.
    pub fn key_of<'a>(&self, topic: &'a str) -> Option<&'a str> {
        let rest = topic.strip_prefix(&self.prefix)?.strip_prefix("/device/")?.strip_suffix("/config")?;
        let key = rest.strip_prefix(&self.node())?.strip_prefix('_')?;
        let is_key = key == "shop" || (key.len() == 12 && key.bytes().all(|byte| byte.is_ascii_hexdigit()));
        is_key.then_some(key)
    }

    /// Builds the messages that remove an entity's device.
    pub fn gone(&self, key: &str) -> [TopicMessage; 2] {
        [TopicMessage::new(self.config(key), ""), TopicMessage::new(self.state(key), "")]
    }

    /// Builds the message with the current state of an entity.
    pub fn state_of(&self, thing: &HomeEntity) -> TopicMessage {
        let mut facts = thing.facts.clone();
        facts.insert("state".to_owned(), thing.state.clone().into());
        TopicMessage::new(self.state(&thing.key), Value::Object(facts).to_string())
    }

    /// Builds the message that describes an entity: its sensors and the topic of its state.
    pub fn config_of(&self, thing: &HomeEntity, about: &str) -> TopicMessage {
        let (node, state) = (format!("{}_{}", self.node(), thing.key), self.state(&thing.key));
        let component = |name: &str, id: &str, fact: &str| {
            json!({
                "p": "sensor", "name": name, "uniq_id": format!("{node}_{id}"), "stat_t": state,
                "val_tpl": format!("{{{{ value_json.{fact} }}}}"), "avty_t": self.availability(),
            })
        };
        let mut components = Map::new();
        let mut first = component("State", "state", "state");
        first["json_attr_t"] = state.clone().into();
        components.insert("state".to_owned(), first);
        for sensor in SENSORS.iter().filter(|sensor| thing.facts.contains_key(sensor.fact)) {
            let mut one = component(sensor.name, &sensor.fact.to_ascii_lowercase(), sensor.fact);
            if let Some(unit) = sensor.unit {
                one["unit_of_meas"] = unit.into();
            }
            if let Some(class) = sensor.class {
                one["dev_cla"] = class.into();
            }
            if sensor.unit.is_some() {
                one["stat_cla"] = "measurement".into();
            }
            components.insert(sensor.fact.to_ascii_lowercase(), one);
        }
        let config = json!({
            "dev": {"ids": [node], "name": thing.name, "mf": "Printfloor", "mdl": thing.model},
            "o": {"name": "Printfloor", "sw": env!("CARGO_PKG_VERSION"), "url": about},
            "cmps": components,
        });
        TopicMessage::new(self.config(&thing.key), config.to_string())
    }

    fn state(&self, key: &str) -> String {
        format!("{}/{key}/state", self.base)
    }

    fn config(&self, key: &str) -> String {
        format!("{}/device/{}_{key}/config", self.prefix, self.node())
    }

    /// Returns the state prefix in the form of an ID, in which fewer characters are allowed.
    fn node(&self) -> String {
        self.base.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn printer() -> HomeEntity {
        let facts = json!({"progress": 42, "nozzle": 215, "bed": 60, "remainingSeconds": 600, "file": "a.gcode"});
        HomeEntity {
            key: "b302099a8069".to_owned(),
            name: "Left".to_owned(),
            model: "fdm_standard".to_owned(),
            state: "printing".to_owned(),
            facts: facts.as_object().unwrap().clone(),
        }
    }

    fn read(message: &TopicMessage) -> Value {
        bounded_json::read(&message.payload, bounded_json::REQUEST).unwrap()
    }

    #[test]
    fn a_printer_is_a_device_with_a_sensor_for_each_fact() {
        let topics = Topics::new("shop/one", "homeassistant");
        let config = topics.config_of(&printer(), "https://shop.example");
        assert_eq!(config.topic, "homeassistant/device/shop_one_b302099a8069/config");
        let payload = read(&config);
        assert_eq!(payload["dev"]["ids"][0], "shop_one_b302099a8069");
        assert!(payload["o"]["name"].is_string(), "mandatory");
        let progress = &payload["cmps"]["progress"];
        assert_eq!(progress["p"], "sensor");
        assert_eq!(progress["uniq_id"], "shop_one_b302099a8069_progress");
        assert_eq!(progress["stat_t"], "shop/one/b302099a8069/state");
        assert_eq!(progress["val_tpl"], "{{ value_json.progress }}");
        assert_eq!(progress["avty_t"], "shop/one/status");
        assert_eq!(
            (&progress["unit_of_meas"], &payload["cmps"]["nozzle"]["dev_cla"]),
            (&json!("%"), &json!("temperature"))
        );
        assert!(payload["cmps"].get("printing").is_none(), "that is the shop's");
        let state = topics.state_of(&printer());
        assert_eq!((state.topic.as_str(), &read(&state)["state"]), ("shop/one/b302099a8069/state", &json!("printing")));
    }

    #[test]
    fn only_our_own_descriptions_are_known_again() {
        let topics = Topics::new("printfloor", "homeassistant");
        for (topic, key) in [
            ("homeassistant/device/printfloor_b302099a8069/config", Some("b302099a8069")),
            ("homeassistant/device/printfloor_shop/config", Some("shop")),
            ("homeassistant/device/printfloor_2_b302099a8069/config", None),
            ("homeassistant/device/lamp/config", None),
            ("homeassistant/sensor/printfloor_shop/config", None),
        ] {
            assert_eq!(topics.key_of(topic), key, "{topic}");
        }
    }
}
