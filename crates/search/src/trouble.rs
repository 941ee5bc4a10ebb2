//! What went wrong in tantivy, as the runtime takes it.

use std::io::ErrorKind;

use runtime::TextTrouble;
use tantivy::TantivyError;
use tantivy::directory::error::OpenReadError;

pub fn of(error: TantivyError) -> TextTrouble {
    let said = error.to_string();
    let passing = match &error {
        TantivyError::IoError(error) => of_io_passes(error.kind()),
        TantivyError::OpenReadError(OpenReadError::IoError { io_error, .. }) => {
            of_io_passes(io_error.kind())
        }
        TantivyError::LockFailure(..)
        | TantivyError::OpenDirectoryError(_)
        | TantivyError::OpenWriteError(_)
        | TantivyError::SystemError(_) => true,
        // a missing or foreign file, bytes that mean nothing, a thread that met such
        _ => false,
    };
    match passing {
        true => TextTrouble::Unavailable(said),
        false => TextTrouble::Damaged(said),
    }
}

/// The disk may be full or away; what it gives cannot be cut short by that.
fn of_io_passes(kind: ErrorKind) -> bool {
    !matches!(kind, ErrorKind::UnexpectedEof | ErrorKind::InvalidData | ErrorKind::NotFound)
}

pub fn of_io(error: std::io::Error) -> TextTrouble {
    of(error.into())
}
