//! Test harness: a virtual Bambu Lab printer, and plain clients of its two protocols.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use bytes::BytesMut;
use rumqttc::{
    ConnectReturnCode, QoS,
    mqttbytes::{
        Error,
        v4::{Connect, Packet, Publish, Subscribe},
    },
};
use rustls::{
    ClientConfig, DigitallySignedStruct, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{aws_lc_rs, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime},
    version::{TLS12, TLS13},
};
use serde_json::{Value, json};
use simulator::{
    ServeOptions, VirtualPrinter,
    bambu::{self, Bambu, Setup},
    gcode::package,
    printer::PhysicalEvent,
    wire::SimServer,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};
use tokio_rustls::{TlsConnector, client::TlsStream};

use super::lab::PATIENCE;

pub const SERIAL: &str = "01S00A123456";
pub const CODE: &str = "12345678";
/// Name of the package that the tests print.
pub const PART: &str = "part.gcode.3mf";

pub struct Lan {
    pub printer: VirtualPrinter,
    pub bambu: Bambu,
    pub server: SimServer,
}

/// Starts a printer that is `speed` times as fast as a real one.
pub async fn lan(speed: f64) -> Lan {
    let printer = VirtualPrinter::new(7, speed, true);
    let addr = SocketAddr::from(([127, 0, 0, 1], 0));
    let options = ServeOptions { addr, api_key: Some(CODE.to_owned()), name: SERIAL.to_owned() };
    let server = bambu::serve(&printer, options).await.unwrap();
    Lan { bambu: Bambu::of(&printer).unwrap(), printer, server }
}

impl Lan {
    /// Starts a printer with a package in its storage whose print takes the given number of seconds.
    pub async fn with_part(speed: f64, seconds: u64) -> Self {
        let lan = lan(speed).await;
        lan.printer.put_file(PART, package("part", seconds, 4.0, 1320.0));
        lan
    }

    pub fn setup(&self, change: impl FnOnce(&mut Setup)) {
        self.bambu.change(change);
    }

    pub async fn mqtt(&self) -> Mqtt {
        let mut mqtt = Mqtt::connect(self, CODE).await.unwrap();
        mqtt.subscribe(SERIAL).await;
        mqtt
    }

    pub async fn ftp(&self) -> Ftp {
        let mut ftp = Ftp::connect(self).await;
        assert_eq!(ftp.login(CODE).await, 230);
        ftp
    }

    pub fn count(&self, which: impl Fn(&PhysicalEvent) -> bool) -> usize {
        self.printer.log().iter().filter(|entry| which(&entry.what)).count()
    }

    pub fn started(&self) -> usize {
        self.count(|what| matches!(what, PhysicalEvent::Started { .. }))
    }

    fn addr(&self, port: usize) -> SocketAddr {
        ([127, 0, 0, 1], self.server.ports()[port]).into()
    }
}

/// Certificate verifier that accepts every certificate, as most clients of these printers do.
#[derive(Debug)]
struct Anyone;

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = aws_lc_rs::default_provider().signature_verification_algorithms;
        verify_tls12_signature(message, cert, signed, &algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = aws_lc_rs::default_provider().signature_verification_algorithms;
        verify_tls13_signature(message, cert, signed, &algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        aws_lc_rs::default_provider().signature_verification_algorithms.supported_schemes()
    }
}

fn tls(versions: &[&'static rustls::SupportedProtocolVersion]) -> Arc<ClientConfig> {
    let builder = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()));
    let builder = builder.with_protocol_versions(versions).unwrap();
    Arc::new(builder.dangerous().with_custom_certificate_verifier(Arc::new(Anyone)).with_no_client_auth())
}

async fn encrypt(config: &Arc<ClientConfig>, addr: SocketAddr) -> std::io::Result<TlsStream<TcpStream>> {
    let name = ServerName::try_from(SERIAL).unwrap();
    TlsConnector::from(Arc::clone(config)).connect(name, TcpStream::connect(addr).await?).await
}

/// Client of the broker, with a different library's codec from the broker's.
pub struct Mqtt {
    stream: TlsStream<TcpStream>,
    arrived: BytesMut,
    numbered: u64,
    /// State merged from all reports so far.
    pub state: Value,
}

impl Mqtt {
    pub async fn connect(lan: &Lan, code: &str) -> Result<Self, ConnectReturnCode> {
        let stream = encrypt(&tls(&[&TLS12, &TLS13]), lan.addr(0)).await.unwrap();
        let mut mqtt = Self { stream, arrived: BytesMut::new(), numbered: 0, state: json!({}) };
        let mut connect = Connect::new("test");
        connect.set_login("bblp", code);
        mqtt.send(Packet::Connect(connect)).await;
        match mqtt.packet().await {
            Some(Packet::ConnAck(ack)) if ack.code == ConnectReturnCode::Success => Ok(mqtt),
            Some(Packet::ConnAck(ack)) => Err(ack.code),
            other => panic!("no greeting: {other:?}"),
        }
    }

    pub fn certificate(&self) -> Vec<u8> {
        self.stream.get_ref().1.peer_certificates().unwrap()[0].to_vec()
    }

    pub async fn subscribe(&mut self, serial: &str) {
        let mut subscribe = Subscribe::new(format!("device/{serial}/report"), QoS::AtMostOnce);
        subscribe.pkid = 1;
        self.send(Packet::Subscribe(subscribe)).await;
        assert!(matches!(self.packet().await, Some(Packet::SubAck(_))));
    }

    pub async fn send(&mut self, packet: Packet) {
        let mut bytes = BytesMut::new();
        packet.write(&mut bytes, 1 << 20).unwrap();
        self.stream.write_all(&bytes).await.unwrap();
        self.stream.flush().await.unwrap();
    }

    /// Returns the next packet; `None` if the connection is closed.
    pub async fn packet(&mut self) -> Option<Packet> {
        loop {
            match Packet::read(&mut self.arrived, 1 << 20) {
                Ok(packet) => return Some(packet),
                Err(Error::InsufficientBytes(_)) => {}
                Err(error) => panic!("{error}"),
            }
            match timeout(PATIENCE, self.stream.read_buf(&mut self.arrived)).await.unwrap() {
                Ok(0) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    /// Sends a request in a command group; returns its sequence number.
    pub async fn request(&mut self, group: &str, mut request: Value) -> String {
        self.numbered += 1;
        let number = self.numbered.to_string();
        request["sequence_id"] = number.clone().into();
        let payload = json!({(group): request}).to_string();
        self.send(Packet::Publish(Publish::new(format!("device/{SERIAL}/request"), QoS::AtMostOnce, payload))).await;
        number
    }

    /// Returns whether a ping is answered promptly.
    pub async fn pongs(&mut self) -> bool {
        self.send(Packet::PingReq).await;
        timeout(Duration::from_secs(2), self.packet()).await.is_ok()
    }

    /// Returns the next message, after merging it into the state.
    pub async fn message(&mut self) -> Value {
        loop {
            let packet = self.packet().await.unwrap();
            if let Packet::Publish(publish) = packet {
                assert_eq!(publish.topic, format!("device/{SERIAL}/report"));
                let message: Value = serde_json::from_slice(&publish.payload).unwrap();
                if message["print"]["command"] == "push_status" {
                    lay_over(&mut self.state, &message["print"]);
                }
                return message;
            }
        }
    }

    /// Requests a full report and returns it.
    pub async fn everything(&mut self) -> Value {
        self.request("pushing", json!({"command": "pushall", "version": 1, "push_target": 1})).await;
        loop {
            let message = self.message().await;
            if message["print"]["command"] == "push_status" && message["print"]["msg"] == 0 {
                return message["print"].clone();
            }
        }
    }

    /// Sends a command; returns its response.
    pub async fn command(&mut self, group: &str, request: Value) -> Value {
        let number = self.request(group, request).await;
        loop {
            let message = self.message().await;
            if message[group]["sequence_id"] == *number && message[group]["command"] != "push_status" {
                return message[group].clone();
            }
        }
    }

    /// Starts the test part with the given ID; returns the response.
    pub async fn start(&mut self, id: &str) -> Value {
        self.command("print", start_of(PART, id)).await
    }

    /// Waits until the printer reports a matching state.
    pub async fn until(&mut self, what: &str, condition: impl Fn(&Value) -> bool) {
        let waited = timeout(PATIENCE, async {
            while !condition(&self.state) {
                self.message().await;
            }
        });
        let waited = waited.await;
        assert!(waited.is_ok(), "{what}: {}", self.state);
    }

    pub async fn until_state(&mut self, state: &str) {
        self.until(state, |report| report["gcode_state"] == state).await;
    }
}

/// Builds a request that starts the first plate of a package, as slicers send it.
pub fn start_of(name: &str, id: &str) -> Value {
    json!({
        "command": "project_file", "param": "Metadata/plate_1.gcode", "url": format!("ftp://{name}"), "file": name, "md5": "",
        "bed_type": "auto", "timelapse": false, "bed_leveling": true, "flow_cali": true, "vibration_cali": true,
        "layer_inspect": false, "use_ams": false, "ams_mapping": [], "subtask_name": "part", "profile_id": "0",
        "project_id": id, "subtask_id": id, "task_id": id,
    })
}

fn lay_over(state: &mut Value, report: &Value) {
    match (state, report) {
        (Value::Object(state), Value::Object(report)) => {
            for (name, value) in report {
                lay_over(state.entry(name.clone()).or_insert(Value::Null), value);
            }
        }
        (state, report) => report.clone_into(state),
    }
}

/// Client of the FTPS server.
pub struct Ftp {
    control: TlsStream<TcpStream>,
    config: Arc<ClientConfig>,
    arrived: BytesMut,
    /// `true` if data connections resume the TLS session of the control connection.
    pub resumes: bool,
}

impl Ftp {
    pub async fn connect(lan: &Lan) -> Self {
        let config = tls(&[&TLS12]);
        let control = encrypt(&config, lan.addr(1)).await.unwrap();
        let mut ftp = Self { control, config, arrived: BytesMut::new(), resumes: true };
        assert_eq!(ftp.reply().await.0, 220);
        ftp
    }

    pub async fn login(&mut self, code: &str) -> u16 {
        assert_eq!(self.say("USER bblp").await.0, 331);
        let (done, _) = self.say(&format!("PASS {code}")).await;
        if done == 230 {
            assert_eq!(self.say("PBSZ 0").await.0, 200);
            assert_eq!(self.say("PROT P").await.0, 200);
            assert_eq!(self.say("TYPE I").await.0, 200);
        }
        done
    }

    pub async fn say(&mut self, line: &str) -> (u16, String) {
        self.control.write_all(format!("{line}\r\n").as_bytes()).await.unwrap();
        self.control.flush().await.unwrap();
        self.reply().await
    }

    async fn reply(&mut self) -> (u16, String) {
        loop {
            if let Some(end) = self.arrived.windows(2).position(|two| two == b"\r\n") {
                let line = String::from_utf8(self.arrived.split_to(end + 2).to_vec()).unwrap();
                return (line[..3].parse().unwrap(), line[4..].trim_end().to_owned());
            }
            let read = timeout(PATIENCE, self.control.read_buf(&mut self.arrived)).await.unwrap();
            assert_ne!(read.unwrap(), 0, "the connection is over");
        }
    }

    /// Opens a data connection for a command; returns the reply code if it is rejected.
    async fn data(&mut self, command: &str) -> Result<TlsStream<TcpStream>, u16> {
        let (code, words) = self.say("EPSV").await;
        assert_eq!(code, 229, "{words}");
        let port: u16 = words.split('|').nth(3).unwrap().parse().unwrap();
        let (code, _) = self.say(command).await;
        if code != 150 {
            return Err(code);
        }
        let config = if self.resumes { Arc::clone(&self.config) } else { tls(&[&TLS12]) };
        match encrypt(&config, ([127, 0, 0, 1], port).into()).await {
            Ok(stream) => Ok(stream),
            Err(_) => Err(self.reply().await.0),
        }
    }

    /// Uploads a file; returns the code of the last reply.
    pub async fn upload(&mut self, name: &str, bytes: &[u8]) -> u16 {
        match self.data(&format!("STOR {name}")).await {
            Ok(mut data) => {
                // The printer may break it off.
                let _ = data.write_all(bytes).await;
                let _ = data.shutdown().await;
                self.reply().await.0
            }
            Err(code) => code,
        }
    }

    /// Returns the text of a listing.
    pub async fn list(&mut self, command: &str) -> String {
        let mut data = self.data(command).await.unwrap();
        let mut text = String::new();
        data.read_to_string(&mut text).await.unwrap();
        assert_eq!(self.reply().await.0, 226);
        text
    }
}

/// Waits until `so` returns `true`.
pub async fn until(what: &str, mut so: impl FnMut() -> bool) {
    let waited = timeout(PATIENCE, async {
        while !so() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    assert!(waited.await.is_ok(), "{what}");
}
