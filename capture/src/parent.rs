//! The process that has started the program, over a socket: a line for each question, and one or more for the answer.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The variable of the environment that has the path of the socket.
const PATH: &str = "PTXDBG_CAPTURE";

/// What the capturing process wants.
#[derive(Clone)]
pub struct Wanted {
    /// The folder in which launches are kept.
    pub folder: PathBuf,
    /// Which launch of the wanted kernels, from 1; 0 is each of them.
    pub nth: u64,
    /// Bytes of memory that are kept at most.
    pub bytes: u64,
}

/// A connection, and the process that has made it: a fork shares it and must not use it.
struct Connection {
    process: u32,
    stream: BufReader<UnixStream>,
    wanted: Wanted,
}

static CONNECTION: Mutex<Option<Connection>> = Mutex::new(None);

fn path() -> Option<&'static PathBuf> {
    static WHERE: OnceLock<Option<PathBuf>> = OnceLock::new();
    WHERE.get_or_init(|| std::env::var_os(PATH).filter(|path| !path.is_empty()).map(PathBuf::from)).as_ref()
}

/// Whether a process captures.
pub fn is_there() -> bool {
    path().is_some()
}

fn connected() -> Option<MutexGuard<'static, Option<Connection>>> {
    let mut connection = CONNECTION.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if connection.as_ref().is_none_or(|connection| connection.process != process) {
        *connection = connect(process);
    }
    connection.is_some().then_some(connection)
}

fn connect(process: u32) -> Option<Connection> {
    let mut stream = BufReader::new(UnixStream::connect(path()?).ok()?);
    stream.get_mut().write_all(format!("hello\t{process}\n").as_bytes()).ok()?;
    let folder = PathBuf::from(line(&mut stream)?);
    let nth = line(&mut stream)?.parse().ok()?;
    let bytes = line(&mut stream)?.parse().ok()?;
    Some(Connection { process, stream, wanted: Wanted { folder, nth, bytes } })
}

fn line(stream: &mut BufReader<UnixStream>) -> Option<String> {
    let mut text = String::new();
    let count = stream.read_line(&mut text).ok()?;
    (count > 0).then(|| text.trim_end_matches('\n').to_string())
}

/// What is wanted.
pub fn wanted() -> Option<Wanted> {
    connected()?.as_ref().map(|connection| connection.wanted.clone())
}

/// Writes a line of these fields.
fn write(connection: &mut Connection, fields: &[&str]) -> Option<()> {
    let fields: Vec<String> = fields.iter().map(|field| field.replace(['\t', '\n', '\r'], " ")).collect();
    connection.stream.get_mut().write_all((fields.join("\t") + "\n").as_bytes()).ok()
}

/// Says a line that needs no answer.
pub fn report(fields: &[&str]) {
    if let Some(mut connection) = connected()
        && let Some(connection) = connection.as_mut()
    {
        let _ = write(connection, fields);
    }
}

/// Asks, and gives the lines of the answer; its first line says how many there are.
pub fn ask(fields: &[&str]) -> Option<Vec<String>> {
    let mut connection = connected()?;
    let connection = connection.as_mut()?;
    write(connection, fields)?;
    let count: usize = line(&mut connection.stream)?.parse().ok()?;
    (0..count).map(|_| line(&mut connection.stream)).collect()
}
