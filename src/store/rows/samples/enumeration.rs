//! Members of enumerations, so that tests of lists of them notice a new one.

use serde::de::DeserializeOwned;
use serde_json::json;

/// Returns all members of an enumeration, in their order. They are those that an error about an unknown one names.
pub fn members<T: DeserializeOwned>() -> Vec<T> {
    let words = serde_json::from_value::<T>(json!("")).err().unwrap().to_string();
    words.split('`').skip(3).step_by(2).map(|word| serde_json::from_value(json!(word)).unwrap()).collect()
}
