//! Commands of any type for an aggregate, for tests that send them in random order. Only these tests mix them;
//! elsewhere, the sender of a command expects one type of response.

use serde::{Deserialize, Serialize};

use crate::access::{Access, AccessCommand, AddKey, OpenStaffSession, RevokeKey, StaffCommand};
use crate::aggregate::{Command, DecisionContext, DecisionResult};
use crate::audit::AuditedAct;
use crate::endpoint::{DeliveryAttempt, DeliveryCommand, Endpoint, EndpointCommand, EndpointNews, ReplayEvents};
use crate::id::Id;
use crate::material::{ClaimNews, ClaimStock, Material, MaterialCommand};
use crate::order::{JobCommand, Order, OrderCommand, OrderNews, RecallClaims};
use crate::printer::{AttemptCommand, PrintManually, Printer, PrinterCommand, PrinterNews, PrinterUpload, TakeAttempt};

/// Defines a command that is one of several types of commands for the same aggregate, and its response.
macro_rules! any_command {
    ($any:ident, $answer:ident of $aggregate:ident: $($group:ident($command:ty)),+ $(,)?) => {
        #[doc = concat!("Command of any of these types to [`", stringify!($aggregate), "`].")]
        #[derive(Clone, Debug)]
        pub enum $any {
            $(#[doc = concat!("Command of type `", stringify!($command), "`.")] $group($command)),+
        }

        #[doc = concat!("Answer to [`", stringify!($any), "`].")]
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub enum $answer {
            $(
                #[doc = concat!("Answer to `", stringify!($command), "`.")]
                $group(<$command as Command<$aggregate>>::Answer)
            ),+
        }

        $(impl From<$command> for $any {
            fn from(command: $command) -> Self {
                Self::$group(command)
            }
        })+

        impl Command<$aggregate> for $any {
            type Answer = $answer;

            fn decide(
                &self,
                this: Option<&$aggregate>,
                id: Id,
                cx: &DecisionContext<'_>,
            ) -> DecisionResult<$aggregate, $answer> {
                match self {
                    $(Self::$group(command) => Ok(command.decide(this, id, cx)?.map_answer($answer::$group)),)+
                }
            }

            fn audited_act(&self) -> AuditedAct {
                match self {
                    $(Self::$group(command) => Command::<$aggregate>::audited_act(command),)+
                }
            }
        }
    };
}

any_command!(
    AnyOrderCommand, AnyOrderAnswer of Order:
    Order(OrderCommand),
    Job(JobCommand),
    News(OrderNews),
    Recall(RecallClaims),
);
any_command!(
    AnyPrinterCommand, AnyPrinterAnswer of Printer:
    Printer(PrinterCommand),
    News(PrinterNews),
    Take(TakeAttempt),
    Upload(PrinterUpload),
    Attempt(AttemptCommand),
    Manual(PrintManually),
);
any_command!(
    AnyMaterialCommand, AnyMaterialAnswer of Material:
    Material(MaterialCommand),
    Claim(ClaimStock),
    News(ClaimNews),
);
any_command!(
    AnyAccessCommand, AnyAccessAnswer of Access:
    Staff(StaffCommand),
    AddKey(AddKey),
    RevokeKey(RevokeKey),
    Open(OpenStaffSession),
    Access(AccessCommand),
);
any_command!(
    AnyEndpointCommand, AnyEndpointAnswer of Endpoint:
    Endpoint(EndpointCommand),
    Delivery(DeliveryCommand),
    Replay(ReplayEvents),
    News(EndpointNews),
    Attempt(DeliveryAttempt),
);
