//! Pictures from the camera of a watched printer: the one that an operator set, or the one that the printer reports.

use std::sync::Arc;

use super::PrinterConnections;
use crate::PrinterType;
use crate::adapter::Operation;
use crate::cameras::{CameraFault, CameraSource, Picture, choose};
use crate::wire::base_url;
use domain::printer::Printer;
use platform::secrets::encryption::SecretCipher;

impl PrinterConnections {
    /// Returns the source of a printer's camera images.
    fn camera_of(&self, printer: &Printer, cipher: &SecretCipher) -> Result<CameraSource, CameraFault> {
        if let Some(camera) = &printer.fields.camera {
            let credentials = match camera.encrypted_credentials.as_str() {
                "" => String::new(),
                encrypted => cipher.decrypt(encrypted).map_err(|_| {
                    let words =
                        "the camera's credentials cannot be decrypted; check that SECRETS_KEY is the key they were encrypted with";
                    CameraFault::None(words.to_owned())
                })?,
            };
            return Ok(CameraSource::Set { url: camera.snapshot_url.clone(), credentials });
        }
        let tells =
            PrinterType::of_word(&printer.fields.kind).is_some_and(|one| !one.lacks.contains(&Operation::Webcams));
        if !tells {
            let words = "printers of this type do not report their cameras; set `camera` to the camera's address";
            return Err(CameraFault::None(words.to_owned()));
        }
        let connection = self.get(printer.id).filter(|_| !printer.disconnected).ok_or(CameraFault::Away)?;
        let (connection, base) = (Arc::downgrade(&connection), base_url(&printer.fields.base_url, 80).ok());
        Ok(CameraSource::Told { connection, host: base.and_then(|base| base.host_str().map(str::to_owned)) })
    }

    /// Returns whether the printer reports a camera that may be called; `false` if the printer cannot be queried at
    /// present.
    pub async fn tells_camera(&self, printer: &Printer) -> bool {
        let declared = PrinterType::of_word(&printer.fields.kind);
        let tells = declared.is_some_and(|one| !one.lacks.contains(&Operation::Webcams));
        let Some(connection) = self.get(printer.id).filter(|_| tells) else { return false };
        let host = base_url(&printer.fields.base_url, 80).ok().and_then(|base| base.host_str().map(str::to_owned));
        connection.adapter.webcams().await.is_ok_and(|webcams| choose(webcams, host.as_deref()).is_ok())
    }

    /// Returns an image from the printer's camera that is at most one second old or, if `anew` is `true`, a newly
    /// fetched one.
    pub async fn picture(&self, printer: &Printer, cipher: &SecretCipher, anew: bool) -> Result<Picture, CameraFault> {
        self.cameras.picture(printer.id, self.camera_of(printer, cipher)?, anew).await
    }
}
