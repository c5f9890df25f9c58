//! Loopback servers whose connections can be cut, and the control routes that switch a printer's faults.
//!
//! The port of an unreachable printer still accepts connections, because the control routes are on the same port: a
//! connection with any other request is reset.
//!
//! Every printer serves these routes in addition to its protocol, regardless of its faults:
//!
//! | route | |
//! |---|---|
//! | `GET /_sim/log` | `{"log": […]}`, the physical events; `?after=seq` for the entries after that one |
//! | `GET /_sim/requests` | `{"requests": 12}`, the number of requests and commands received |
//! | `GET /_sim/faults`, `POST /_sim/faults` | the faults; a POST changes only those in its body |
//! | `GET /_sim/speed`, `POST /_sim/speed` | `{"speed": 60}` |
//! | `POST /_sim/reboot` | `{"forget": false}` or no body |
//!
//! A protocol other than HTTP has its own tasks (`SimServer::of`) and passes plain HTTP connections to `passed_on`.

use std::{
    net::SocketAddr,
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::{Context, Poll},
};

use axum::{
    Router,
    extract::connect_info::Connected,
    response::Response,
    serve::{IncomingStream, Listener},
};
use futures::task::AtomicWaker;
use tokio::{
    io::{self, AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    sync::{Notify, mpsc},
    task::JoinHandle,
};

mod body;
mod control;
mod guard;
mod host;
mod push;
mod ranged;
mod upload;

pub use body::JsonBody;
pub use control::control_routes;
pub use ranged::ranged;
pub use upload::{MultipartUpload, UploadedPart};

pub(crate) use host::Host;
pub(crate) use push::{push, push_interval};
pub(crate) use upload::slowly;

/// Kill switch for one connection.
#[derive(Debug, Default)]
pub struct Gate {
    cut: AtomicBool,
    control: AtomicBool,
    number: u64,
    reader: AtomicWaker,
    writer: AtomicWaker,
    ended: Notify,
}

impl Gate {
    /// Resets the connection, regardless of its state.
    pub fn cut(&self) {
        self.cut.store(true, Ordering::SeqCst);
        self.reader.wake();
        self.writer.wake();
        self.ended.notify_one();
    }

    /// Waits until the connection is cut. Only the task that serves the connection may call this.
    pub(crate) async fn until_cut(&self) {
        while !self.is_cut() {
            self.ended.notified().await;
        }
    }

    /// Sets whether the connection is currently carrying a control request; such connections are spared when a
    /// printer's connections are cut.
    fn spare(&self, control: bool) {
        self.control.store(control, Ordering::SeqCst);
    }

    fn is_cut(&self) -> bool {
        self.cut.load(Ordering::SeqCst)
    }
}

/// Gate for the connection on which a request arrived, available to handlers as `ConnectInfo`.
#[derive(Clone, Debug)]
pub struct ConnectionGate(pub Arc<Gate>);

impl ConnectionGate {
    /// Returns the connection's number, counted by its server.
    pub fn connection(&self) -> u64 {
        self.0.number
    }

    /// Resets the connection. The returned response is never sent, but is needed because the server checks a connection
    /// only when it writes to it.
    pub fn hang_up(&self) -> Response {
        self.0.cut();
        Response::default()
    }
}

impl Connected<IncomingStream<'_, GatedListener>> for ConnectionGate {
    fn connect_info(stream: IncomingStream<'_, GatedListener>) -> Self {
        Self(Arc::clone(&stream.io().gate))
    }
}

/// Gates for all open connections to one server.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gates {
    open: Arc<Mutex<Vec<Weak<Gate>>>>,
    opened: Arc<AtomicU64>,
}

impl Gates {
    fn open(&self) -> Arc<Gate> {
        let number = self.opened.fetch_add(1, Ordering::Relaxed);
        let gate = Arc::new(Gate { number, ..Gate::default() });
        let mut gates = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        gates.retain(|gate| gate.strong_count() > 0);
        gates.push(Arc::downgrade(&gate));
        gate
    }

    fn cut(&self, control_too: bool) {
        for gate in self.open.lock().unwrap_or_else(PoisonError::into_inner).iter().filter_map(Weak::upgrade) {
            if control_too || !gate.control.load(Ordering::SeqCst) {
                gate.cut();
            }
        }
    }
}

/// Listener whose connections have gates. It is public only because an axum trait requires that.
#[derive(Debug)]
pub struct GatedListener {
    inner: TcpListener,
    gates: Gates,
}

impl GatedListener {
    /// Listens on an address; the connections are cut together with all others in `gates`.
    pub(crate) async fn bind(addr: SocketAddr, gates: &Gates) -> io::Result<Self> {
        let inner = TcpListener::bind(addr).await.map_err(|source| {
            let kind = source.kind();
            io::Error::new(kind, ListenError { addr, source })
        })?;
        Ok(Self { inner, gates: gates.clone() })
    }
}

/// Error with the address on which a printer could not listen, which is included because some printers have several
/// addresses.
#[derive(Debug, thiserror::Error)]
#[error("{source}")]
pub(crate) struct ListenError {
    pub(crate) addr: SocketAddr,
    #[source]
    source: io::Error,
}

impl Listener for GatedListener {
    type Io = GatedStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (GatedStream, SocketAddr) {
        let (inner, addr) = Listener::accept(&mut self.inner).await;
        // Responses are small and should leave without delay.
        let _ = inner.set_nodelay(true);
        (GatedStream { inner, gate: self.gates.open() }, addr)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.inner.local_addr()
    }
}

/// Connection behind a gate; when the connection is cut, the peer sees a reset.
#[derive(Debug)]
pub struct GatedStream {
    inner: TcpStream,
    gate: Arc<Gate>,
}

impl GatedStream {
    /// Returns the kill switch of the connection.
    pub(crate) fn gate(&self) -> Arc<Gate> {
        Arc::clone(&self.gate)
    }

    /// Returns the address to which the peer connected.
    pub(crate) fn local_addr(&self) -> io::Result<SocketAddr> {
        self.inner.local_addr()
    }

    /// Peeks at the first byte that the peer sends.
    pub(crate) async fn first_byte(&self) -> io::Result<u8> {
        let mut first = [0];
        match self.inner.peek(&mut first).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(first[0]),
        }
    }

    /// Resets the connection.
    pub(crate) async fn reset(mut self) {
        self.gate.cut();
        // The gate acts on the next use.
        let _ = self.read_u8().await;
    }

    fn refused(&self) -> io::Error {
        // Makes closing send a reset instead of an orderly end.
        let _ = self.inner.set_zero_linger();
        io::ErrorKind::ConnectionReset.into()
    }
}

impl AsyncRead for GatedStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.gate.reader.register(cx.waker());
        if self.gate.is_cut() {
            return Poll::Ready(Err(self.refused()));
        }
        Pin::new(&mut self.inner).poll_read(cx, buf)
    }
}

impl AsyncWrite for GatedStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.gate.writer.register(cx.waker());
        if self.gate.is_cut() {
            return Poll::Ready(Err(self.refused()));
        }
        Pin::new(&mut self.inner).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

/// Connections that another task has accepted and passed on. The type is public only because an axum trait requires
/// that.
#[derive(Debug)]
pub struct HandedOverConnections {
    connections: mpsc::Receiver<GatedStream>,
    addr: SocketAddr,
}

impl Listener for HandedOverConnections {
    type Io = GatedStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (GatedStream, SocketAddr) {
        match self.connections.recv().await {
            Some(stream) => (stream, self.addr),
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.addr)
    }
}

impl Connected<IncomingStream<'_, HandedOverConnections>> for ConnectionGate {
    fn connect_info(stream: IncomingStream<'_, HandedOverConnections>) -> Self {
        Self(Arc::clone(&stream.io().gate))
    }
}

/// Serves a router on the connections that are sent through the returned sender.
pub(crate) fn passed_on(addr: SocketAddr, router: Router) -> (mpsc::Sender<GatedStream>, JoinHandle<()>) {
    let (sender, connections) = mpsc::channel(16);
    let service = router.into_make_service_with_connect_info::<ConnectionGate>();
    let task = tokio::spawn(async move {
        let _ = axum::serve(HandedOverConnections { connections, addr }, service).await;
    });
    (sender, task)
}

/// Running server; dropping it stops it and cuts its connections.
#[derive(Debug)]
pub struct SimServer {
    base_url: String,
    ports: Vec<u16>,
    gates: Gates,
    tasks: Vec<JoinHandle<()>>,
}

impl SimServer {
    /// Serves a router on an address; port 0 selects a free port.
    pub async fn start(addr: SocketAddr, router: Router) -> io::Result<Self> {
        let inner = TcpListener::bind(addr).await?;
        let addr = inner.local_addr()?;
        let gates = Gates::default();
        let listener = GatedListener { inner, gates: gates.clone() };
        let service = router.into_make_service_with_connect_info::<ConnectionGate>();
        let task = tokio::spawn(async move {
            // Ends only when aborted, because accept errors are retried inside.
            let _ = axum::serve(listener, service).await;
        });
        Ok(Self { base_url: format!("http://{addr}"), ports: vec![addr.port()], gates, tasks: vec![task] })
    }

    /// Builds a server for other protocols from the URL for clients, the ports, and the tasks that listen. Its
    /// connections are cut when the printer becomes unreachable.
    pub(crate) fn of(
        base_url: String,
        ports: Vec<u16>,
        gates: Gates,
        tasks: Vec<JoinHandle<()>>,
        printer: &crate::VirtualPrinter,
    ) -> Self {
        let mut server = Self { base_url, ports, gates, tasks };
        server.cut_when_unreachable(printer);
        server
    }

    /// Serves a printer's protocol with its control routes, and cuts its connections when the printer becomes
    /// unreachable.
    pub async fn start_printer(
        addr: SocketAddr,
        printer: &crate::VirtualPrinter,
        protocol: Router,
    ) -> io::Result<Self> {
        let router = protocol.merge(control_routes(printer.clone()));
        let mut server = Self::start(addr, router).await?;
        server.cut_when_unreachable(printer);
        Ok(server)
    }

    fn cut_when_unreachable(&mut self, printer: &crate::VirtualPrinter) {
        let (printer, gates) = (printer.clone(), self.gates.clone());
        self.tasks.push(tokio::spawn(async move {
            loop {
                printer.until(|machine| !machine.reachable()).await;
                gates.cut(false);
                printer.until(super::printer::Machine::reachable).await;
            }
        }));
    }

    /// Returns the URL for clients, such as `http://127.0.0.1:port`.
    pub fn base_url(&self) -> String {
        self.base_url.clone()
    }

    /// Returns the ports on which the server listens.
    pub fn ports(&self) -> &[u16] {
        &self.ports
    }

    /// Stops listening and cuts every connection.
    pub fn stop(&self) {
        for task in &self.tasks {
            task.abort();
        }
        self.gates.cut(true);
    }
}

impl Drop for SimServer {
    fn drop(&mut self) {
        self.stop();
    }
}
