//! Heater that warms up at a steady rate and cools down towards room temperature.

/// Room temperature in °C.
pub const AMBIENT_CELSIUS: f64 = 22.0;

/// Simulated heater, whose time is advanced by the caller.
#[derive(Clone, Debug)]
pub struct Heater {
    actual: f64,
    target: f64,
    /// Heating rate in °C per second.
    rise: f64,
    /// Fraction of the difference to room temperature lost per second.
    fall: f64,
}

impl Heater {
    /// Creates a heater at room temperature. `rise` is in °C per second; `fall` is the fraction of the difference to
    /// room temperature that is lost per second.
    pub fn new(rise: f64, fall: f64) -> Self {
        Self { actual: AMBIENT_CELSIUS, target: 0.0, rise, fall }
    }

    /// Sets the target temperature in °C; 0 switches the heater off.
    pub fn set(&mut self, target: f64) {
        self.target = target.clamp(0.0, 350.0);
    }

    /// Moves the temperature towards the target for the given number of seconds of virtual time.
    pub fn pass(&mut self, seconds: f64) {
        if self.actual < self.target {
            self.actual = f64::min(self.actual + self.rise * seconds, self.target);
        } else {
            let floor = f64::max(self.target, AMBIENT_CELSIUS);
            self.actual = floor + (self.actual - floor) * (-self.fall * seconds).exp();
        }
    }

    /// Returns the target temperature in °C.
    pub fn target(&self) -> f64 {
        self.target
    }

    /// Returns a sensor reading in °C, with `noise` from −1 to 1.
    pub fn read(&self, noise: f64) -> f64 {
        ((self.actual + noise * 0.25) * 100.0).round() / 100.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heats_to_its_target_and_cools_to_the_room() {
        let mut heater = Heater::new(4.0, 0.02);
        heater.set(200.0);
        heater.pass(10.0);
        assert!((heater.read(0.0) - 62.0).abs() < 0.1);
        heater.pass(1_000.0);
        assert!((heater.read(0.0) - 200.0).abs() < 0.1);
        heater.set(0.0);
        heater.pass(30.0);
        assert!(heater.read(0.0) < 200.0 && heater.read(0.0) > AMBIENT_CELSIUS);
        heater.pass(10_000.0);
        assert!((heater.read(0.0) - AMBIENT_CELSIUS).abs() < 0.1);
    }
}
