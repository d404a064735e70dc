import EssentialsStorage
import EssentialsTools

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// Reads whole files up to a maximum size, so that neither a huge file nor an endless one, such as a
/// device, fills the memory.
package enum SmallFile {
    /// Reads a file.
    ///
    /// - Throws: `file` if it cannot be read or is not a regular file, because reading a pipe could wait forever and
    ///   reading a device might never end; the given reason if it is too long.
    package static func read(
        _ path: String, upTo limit: Int, for what: String, tooLong reason: RequestFailure.Reason = .invalidPolicy
    ) throws(RequestFailure) -> Data {
        let (opened, status): (OpenFile, FileStatus)
        do throws(FileError) {
            opened = try OpenFile(path, O_RDONLY)
            status = try opened.status()
        } catch {
            throw unreadable(path, error)
        }
        if status.isDirectory { throw unreadable(path, FileError(code: EISDIR)) }
        guard status.isRegular else { throw SentFile.notRegular(path, phase: .preparation) }
        guard status.size <= Int64(limit) else { throw tooLong(reason, path, "\(status.size) bytes", limit, what) }
        let bytes: [UInt8]
        do throws(FileError) {
            // Files of the kernel have no size, so that it is not enough to read as many bytes.
            bytes = try opened.bytes(upTo: limit + 1)
        } catch {
            throw unreadable(path, error)
        }
        guard bytes.count <= limit else { throw tooLong(reason, path, "more than \(limit) bytes", limit, what) }
        return Data(bytes)
    }

    private static func unreadable(_ path: String, _ error: FileError) -> RequestFailure {
        RequestFailure(
            .file, "“\(path)” could not be read: \(error).",
            remedy: "Check the path and its permissions.", underlying: SystemError(error))
    }

    private static func tooLong(
        _ reason: RequestFailure.Reason, _ path: String, _ size: String, _ limit: Int, _ what: String
    ) -> RequestFailure {
        RequestFailure(
            reason, "“\(path)” has \(size), which is too much for \(what).",
            remedy: "Check that it is the right file; at most \(limit >> 20) MiB are read.")
    }
}
