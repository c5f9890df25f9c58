//! Obstacles to ordering a SKU, for customers or staff: a preview of the rules that apply when an order is placed.

use super::SkuFields;
use words::Language;
use words::staff::products;

/// Reason why a SKU cannot be ordered, can be ordered only by staff, or is not printed immediately after it is ordered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OrderObstacle {
    /// The SKU is not active.
    Withdrawn,
    /// The SKU is not visible to customers.
    NotPublic,
    /// The SKU has neither a G-code file nor a model.
    NoFile,
    /// The SKU has a model but no slicer profile.
    NoProfile,
    /// A component was deleted, or became a kit.
    ComponentGone,
    /// The component with the given name is not active.
    ComponentWithdrawn(String),
    /// The component with the given name has neither a G-code file nor a model.
    ComponentNoFile(String),
}

impl OrderObstacle {
    /// Returns whether the obstacle prevents everyone from ordering, including staff.
    pub const fn stops_all(&self) -> bool {
        matches!(self, Self::Withdrawn | Self::ComponentGone | Self::ComponentWithdrawn(_))
    }

    /// Returns a description for staff.
    pub fn words(&self, language: Language) -> String {
        match self {
            Self::Withdrawn => products::obstacle_withdrawn(language),
            Self::NotPublic => products::obstacle_not_public(language),
            Self::NoFile => products::obstacle_no_file(language),
            Self::NoProfile => products::obstacle_no_profile(language),
            Self::ComponentGone => products::obstacle_component_gone(language),
            Self::ComponentWithdrawn(name) => products::obstacle_component_withdrawn(language, name),
            Self::ComponentNoFile(name) => products::obstacle_component_no_file(language, name),
        }
    }
}

impl SkuFields {
    /// Returns the obstacles to ordering the SKU. If the SKU is a kit, `components` contains its components in order,
    /// with `None` for deleted ones.
    pub fn obstacles(&self, components: &[Option<&Self>]) -> Vec<OrderObstacle> {
        let mut obstacles = Vec::new();
        if !self.active {
            obstacles.push(OrderObstacle::Withdrawn);
        }
        if !self.public {
            obstacles.push(OrderObstacle::NotPublic);
        }
        if !self.is_kit() {
            if !self.orderable() {
                obstacles.push(OrderObstacle::NoFile);
            } else if self.gcode_file_id.is_none() && self.slicer_profile.is_none() {
                obstacles.push(OrderObstacle::NoProfile);
            }
        }
        for component in components {
            match component.filter(|one| !one.is_kit()) {
                None => obstacles.push(OrderObstacle::ComponentGone),
                Some(one) if !one.active => obstacles.push(OrderObstacle::ComponentWithdrawn(one.name.clone())),
                Some(one) if !one.orderable() => obstacles.push(OrderObstacle::ComponentNoFile(one.name.clone())),
                Some(_) => {}
            }
        }
        obstacles
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sku::tests::{fields, kit};

    #[test]
    fn what_has_a_file_and_is_offered_can_be_ordered() {
        assert!(fields("a").obstacles(&[]).is_empty());
        let hidden = SkuFields { public: false, active: false, gcode_file_id: None, ..fields("a") };
        let all = [OrderObstacle::Withdrawn, OrderObstacle::NotPublic, OrderObstacle::NoFile];
        assert_eq!(hidden.obstacles(&[]), all);
        let unsliced = SkuFields { gcode_file_id: None, model_file_id: fields("a").gcode_file_id, ..fields("a") };
        assert_eq!(unsliced.obstacles(&[]), [OrderObstacle::NoProfile]);
        let sliceable = SkuFields { slicer_profile: Some("PLA".to_owned()), ..unsliced };
        assert!(sliceable.obstacles(&[]).is_empty(), "it is sliced when it is needed");
    }

    #[test]
    fn a_kit_needs_all_its_components() {
        let (part, kit) = (fields("part"), kit(&[(7, 1)]));
        assert!(kit.obstacles(&[Some(&part)]).is_empty(), "a kit itself needs no file");
        assert_eq!(kit.obstacles(&[None]), [OrderObstacle::ComponentGone]);
        assert_eq!(kit.obstacles(&[Some(&kit)]), [OrderObstacle::ComponentGone]);
        let out = SkuFields { active: false, ..fields("out") };
        let bare = SkuFields { gcode_file_id: None, ..fields("bare") };
        let obstacles = kit.obstacles(&[Some(&out), Some(&bare)]);
        let [out, bare] = ["out", "bare"].map(str::to_owned);
        assert_eq!(obstacles, [OrderObstacle::ComponentWithdrawn(out), OrderObstacle::ComponentNoFile(bare)]);
    }

    #[test]
    fn staff_read_each_obstacle_and_are_stopped_only_by_what_is_not_sold() {
        let name = || "Shelf".to_owned();
        let all = [
            (OrderObstacle::Withdrawn, true, "it is not active and cannot be ordered"),
            (OrderObstacle::NotPublic, false, "it is not public, so only staff can order it"),
            (
                OrderObstacle::NoFile,
                false,
                "it has neither G-code nor a model: customers cannot order it, and jobs that staff order are on hold \
                 until it has either",
            ),
            (
                OrderObstacle::NoProfile,
                false,
                "its model has no slicer profile: its jobs are on hold until it has a profile or G-code",
            ),
            (
                OrderObstacle::ComponentGone,
                true,
                "a component was deleted or has become a kit, so it cannot be ordered",
            ),
            (
                OrderObstacle::ComponentWithdrawn(name()),
                true,
                "its component Shelf is not active, so it cannot be ordered",
            ),
            (
                OrderObstacle::ComponentNoFile(name()),
                false,
                "its component Shelf has neither G-code nor a model: customers cannot order it",
            ),
        ];
        for (obstacle, stops_all, words) in all {
            assert_eq!(obstacle.stops_all(), stops_all, "{obstacle:?}");
            assert_eq!(obstacle.words(Language::English), words);
        }
    }
}
