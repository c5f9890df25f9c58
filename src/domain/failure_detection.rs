//! Evaluation of the camera images of a print. A single image proves little, so confidences are smoothed, compared with
//! the camera's usual level, and must stay above a threshold for several images.

/// Weight of the latest image in the smoothed confidence, equivalent to an average over about twelve images.
const WEIGHT_OF_NEWEST: f64 = 2.0 / 13.0;
/// Minimum number of images after the initial ones over which the camera's usual level is averaged, so that a failure
/// early in a print is not mistaken for the usual level.
const MIN_USUAL_FRAMES: u32 = 60;
/// Maximum number of images over which the camera's usual level is averaged.
const MAX_USUAL_FRAMES: u32 = 720;

/// Criteria for considering a print to be failing.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DetectionRules {
    /// Number of images to ignore at the start of a print.
    pub safe_frames: u32,
    /// Number of consecutive images that must be above a threshold.
    pub frames_in_a_row: u32,
    /// Confidence at or above which operators are alerted, from 0 to 1.
    pub alert_threshold: f64,
    /// Confidence at or above which the print is paused; `None` if it is never paused.
    pub pause_threshold: Option<f64>,
}

/// Result of evaluating an image. Each result is returned once per print, except that a pause is returned again until
/// it succeeds; the number is the smoothed confidence in percent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Conclusion {
    /// Nothing to do, or nothing new.
    Nothing,
    /// Operators must be alerted.
    Alert(u8),
    /// The print must be paused and operators alerted.
    Pause(u8),
}

/// Evaluation of the images of one print so far.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct WatchedPrint {
    frames: u32,
    smoothed: f64,
    /// Failure confidence that is usual for this camera when nothing fails, caused by cables, supports or an earlier
    /// print in view.
    usual: f64,
    above_alert: u32,
    above_pause: u32,
    alerted: bool,
    paused: bool,
}

impl WatchedPrint {
    /// Evaluates an image in which the detector sees a failure with the given confidence, from 0 to 1.
    pub fn observe(&mut self, rules: &DetectionRules, confidence: f64) -> Conclusion {
        let confidence = if confidence.is_finite() { confidence.clamp(0.0, 1.0) } else { 0.0 };
        self.frames = self.frames.saturating_add(1);
        self.smoothed += (confidence - self.smoothed) * if self.frames == 1 { 1.0 } else { WEIGHT_OF_NEWEST };
        let safe = self.frames <= rules.safe_frames;
        let suspicion = (self.smoothed - self.usual).max(0.0);
        // A failure that goes on must not become what is usual.
        if safe || suspicion < rules.alert_threshold {
            let frames = if safe { self.frames } else { self.frames.clamp(MIN_USUAL_FRAMES, MAX_USUAL_FRAMES) };
            self.usual += (confidence - self.usual) / f64::from(frames);
        }
        let pause_from = rules.pause_threshold.unwrap_or(f64::INFINITY);
        let in_a_row = |before: u32, is: bool| if is && !safe { before.saturating_add(1) } else { 0 };
        self.above_alert = in_a_row(self.above_alert, suspicion >= rules.alert_threshold);
        self.above_pause = in_a_row(self.above_pause, suspicion >= pause_from);
        let percent = (suspicion * 100.0).round().min(100.0) as u8;
        if !self.paused && self.above_pause >= rules.frames_in_a_row {
            (self.paused, self.alerted) = (true, true);
            return Conclusion::Pause(percent);
        }
        if !self.alerted && self.above_alert >= rules.frames_in_a_row {
            self.alerted = true;
            return Conclusion::Alert(percent);
        }
        Conclusion::Nothing
    }

    /// Records that the print could not be paused: the pause is attempted again once enough consecutive images require
    /// it.
    pub fn not_paused(&mut self) {
        (self.paused, self.above_pause) = (false, 0);
    }

    /// Records that the print continues after an operator checked it: earlier images no longer contribute to pausing
    /// the print.
    pub fn resumed(&mut self) {
        *self = Self { usual: self.usual, ..Self::default() };
    }
}

/// Names of query parameters that contain credentials.
const SECRETS: [&str; 16] = [
    "user",
    "username",
    "usr",
    "pass",
    "passwd",
    "password",
    "pwd",
    "token",
    "access_token",
    "auth",
    "api_key",
    "apikey",
    "key",
    "secret",
    "sig",
    "signature",
];

/// Returns the reason why a camera image URL must not be passed to an outside system, if any. The system that fetches
/// the image would log the credentials that the URL contains.
pub fn keeps_secret(url: &str) -> Option<&'static str> {
    let behind_scheme = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = behind_scheme.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return Some("its URL contains a user name and password");
    }
    let members = url.split(['?', '&', ';']).skip(1).filter_map(|member| member.split_once('='));
    let secret = members.map(|(name, _)| name.to_ascii_lowercase()).any(|name| SECRETS.contains(&name.as_str()));
    secret.then_some("its URL contains a key or password")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RULES: DetectionRules =
        DetectionRules { safe_frames: 10, frames_in_a_row: 3, alert_threshold: 0.38, pause_threshold: Some(0.6) };

    /// Returns the index of each picture that leads to a conclusion, with the conclusion.
    fn concluded(rules: &DetectionRules, confidences: impl IntoIterator<Item = f64>) -> Vec<(usize, Conclusion)> {
        let mut print = WatchedPrint::default();
        let conclusions = confidences.into_iter().enumerate().map(|(at, one)| (at + 1, print.observe(rules, one)));
        conclusions.filter(|(_, concluded)| *concluded != Conclusion::Nothing).collect()
    }

    fn good(frames: usize) -> impl Iterator<Item = f64> {
        std::iter::repeat_n(0.02, frames)
    }

    #[test]
    fn a_failure_that_stays_is_told_and_then_pauses_the_print_once() {
        let conclusions = concluded(&RULES, good(40).chain(std::iter::repeat_n(0.9, 200)));
        let [(alerted, Conclusion::Alert(first)), (paused, Conclusion::Pause(second))] = conclusions[..] else {
            panic!("{conclusions:?}");
        };
        assert!((43..=48).contains(&alerted) && alerted < paused && paused <= 53, "{conclusions:?}");
        assert!((38..60).contains(&first) && second >= 60, "{conclusions:?}");
    }

    #[test]
    fn a_failure_early_in_a_print_does_not_pass_for_what_is_usual() {
        let conclusions = concluded(&RULES, good(11).chain(std::iter::repeat_n(0.9, 60)));
        assert!(matches!(conclusions[..], [(_, Conclusion::Alert(_)), (_, Conclusion::Pause(_))]), "{conclusions:?}");
    }

    #[test]
    fn single_pictures_say_nothing() {
        let flickering =
            good(40).chain([0.95, 0.02, 0.02, 0.02, 0.9, 0.02, 0.02, 0.02, 0.95].into_iter().chain(good(20)));
        assert_eq!(concluded(&RULES, flickering), []);
    }

    #[test]
    fn the_beginning_of_a_print_is_safe() {
        assert_eq!(concluded(&RULES, std::iter::repeat_n(0.95, 10)), []);
    }

    #[test]
    fn what_a_camera_always_sees_is_no_failure() {
        assert_eq!(concluded(&RULES, std::iter::repeat_n(0.5, 2_000)), []);
        let worse = std::iter::repeat_n(0.3, 100).chain(std::iter::repeat_n(1.0, 30));
        assert!(matches!(concluded(&RULES, worse)[..], [(_, Conclusion::Alert(_)), (_, Conclusion::Pause(_))]));
    }

    #[test]
    fn without_pausing_people_are_told_only() {
        let rules = DetectionRules { pause_threshold: None, ..RULES };
        let conclusions = concluded(&rules, good(40).chain(std::iter::repeat_n(1.0, 100)));
        assert!(matches!(conclusions[..], [(_, Conclusion::Alert(_))]), "{conclusions:?}");
    }

    #[test]
    fn a_print_that_a_person_resumes_is_watched_anew() {
        let mut print = WatchedPrint::default();
        let fails =
            |print: &mut WatchedPrint| (0..20).any(|_| matches!(print.observe(&RULES, 0.95), Conclusion::Pause(_)));
        good(40).for_each(|one| assert_eq!(print.observe(&RULES, one), Conclusion::Nothing));
        assert!(fails(&mut print));
        assert!(!fails(&mut print), "once");
        print.resumed();
        good(200).for_each(|one| assert_eq!(print.observe(&RULES, one), Conclusion::Nothing));
        assert!(fails(&mut print), "again");
    }

    #[test]
    fn a_print_that_could_not_be_paused_is_to_be_paused_again() {
        let mut print = WatchedPrint::default();
        let frames_until_pause =
            |print: &mut WatchedPrint| (1..=20).find(|_| matches!(print.observe(&RULES, 0.95), Conclusion::Pause(_)));
        good(40).for_each(|one| assert_eq!(print.observe(&RULES, one), Conclusion::Nothing));
        assert!(frames_until_pause(&mut print).is_some());
        for _ in 0..3 {
            print.not_paused();
            assert_eq!(frames_until_pause(&mut print), Some(RULES.frames_in_a_row), "not at once, but soon");
        }
        assert_eq!(frames_until_pause(&mut print), None, "it is paused");
    }

    #[test]
    fn addresses_with_credentials_are_not_shown() {
        for secret in [
            "http://user:pass@10.0.0.5/snapshot",
            "http://token@cam/",
            "http://10.0.0.5/cgi?cmd=Snap&user=admin&password=x",
            "http://10.0.0.5/snap?API_KEY=1",
        ] {
            assert!(keeps_secret(secret).is_some(), "{secret}");
        }
        for open in
            ["http://10.0.0.5/webcam/?action=snapshot", "http://cam/a@b.jpg", "http://cam:8080/snapshot?monkey=1"]
        {
            assert_eq!(keeps_secret(open), None, "{open}");
        }
    }

    proptest! {
        #[test]
        fn nothing_is_concluded_from_fewer_pictures_than_the_rules_say(
            confidences in prop::collection::vec(prop_oneof![0.0..1.0, Just(1.0), Just(f64::NAN)], 0..80),
            frames_in_a_row in 1_u32..6, safe_frames in 0_u32..40,
        ) {
            let rules = DetectionRules { safe_frames, frames_in_a_row, ..RULES };
            let conclusions = concluded(&rules, confidences);
            prop_assert!(conclusions.len() <= 2);
            for (at, conclusion) in conclusions {
                prop_assert!(at as u32 >= safe_frames + frames_in_a_row, "{} {:?}", at, conclusion);
            }
        }
    }

    #[test]
    fn the_smoothed_confidence_is_compared_with_the_usual_level() {
        use std::iter::repeat_n;
        let rules = |safe_frames: u32, frames_in_a_row: u32| DetectionRules { safe_frames, frames_in_a_row, ..RULES };
        // The confidence rises with each picture of a failure: 15 %, 28 %, 39 %, 49 %, less the usual level so far.
        let sudden = concluded(&rules(0, 1), [0.0].into_iter().chain(repeat_n(1.0, 12)));
        assert_eq!(sudden, [(5, Conclusion::Alert(44)), (8, Conclusion::Pause(64))]);
        let usual = concluded(&rules(2, 2), [0.5, 0.3].into_iter().chain(repeat_n(1.0, 14)));
        assert_eq!(usual, [(11, Conclusion::Alert(42))], "two pictures of 40 % are what is usual");
        let late = concluded(&RULES, repeat_n(0.02, 200).chain(repeat_n(1.0, 30)));
        assert_eq!(late, [(206, Conclusion::Alert(61)), (208, Conclusion::Pause(71))]);
        let low = DetectionRules { alert_threshold: 0.2, pause_threshold: Some(0.4), ..rules(1, 1) };
        let slow = concluded(&low, repeat_n(0.1, 3).chain(repeat_n(0.5, 300)));
        assert_eq!(slow, [(8, Conclusion::Alert(20))]);
        let certain = concluded(&rules(0, 1), [1.0]);
        assert_eq!(certain, [(1, Conclusion::Pause(100))]);
        let at_threshold = DetectionRules { alert_threshold: 0.5, pause_threshold: Some(0.75), ..rules(0, 1) };
        assert_eq!(concluded(&at_threshold, [0.5]), [(1, Conclusion::Alert(50))], "at the threshold");
        assert_eq!(concluded(&at_threshold, [0.75]), [(1, Conclusion::Pause(75))], "at the threshold");
    }

    #[test]
    fn what_was_usual_before_a_resumption_stays_so() {
        let mut print = WatchedPrint::default();
        for _ in 0..100 {
            assert_eq!(print.observe(&RULES, 0.5), Conclusion::Nothing);
        }
        print.resumed();
        let rules = DetectionRules { safe_frames: 0, frames_in_a_row: 1, ..RULES };
        for _ in 0..20 {
            assert_eq!(print.observe(&rules, 0.5), Conclusion::Nothing);
        }
    }

    #[test]
    fn the_reason_why_an_address_is_not_shown_is_stated() {
        assert_eq!(keeps_secret("http://me:pw@cam/"), Some("its URL contains a user name and password"));
        assert_eq!(keeps_secret("http://cam/?pwd=1"), Some("its URL contains a key or password"));
        assert_eq!(keeps_secret("cam/shot;token=1"), Some("its URL contains a key or password"));
    }
}
