#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif
#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
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
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw unreadable(path, errno) }
        defer { _ = close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw unreadable(path, errno) }
        if status.st_mode & S_IFMT == S_IFDIR { throw unreadable(path, EISDIR) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw SentFile.notRegular(path, phase: .preparation) }
        guard Int64(status.st_size) <= Int64(limit) else {
            throw tooLong(reason, path, "\(status.st_size) bytes", limit, what)
        }
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            // The buffer is valid during the call, which writes at most its size.
            let count = buffer.withUnsafeMutableBytes { systemRead(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw unreadable(path, errno) }
            if count == 0 { return data }
            data.append(contentsOf: buffer[..<count])
            guard data.count <= limit else { throw tooLong(reason, path, "more than \(limit) bytes", limit, what) }
        }
    }

    private static func systemRead(
        _ descriptor: Int32, _ target: UnsafeMutableRawPointer?, _ count: Int
    ) -> Int {
        #if canImport(Glibc)
            Glibc.read(descriptor, target, count)
        #elseif canImport(Musl)
            Musl.read(descriptor, target, count)
        #else
            Darwin.read(descriptor, target, count)
        #endif
    }

    private static func unreadable(_ path: String, _ code: Int32) -> RequestFailure {
        RequestFailure(
            .file, "“\(path)” could not be read: \(SystemError(code: code)).",
            remedy: "Check the path and its permissions.", underlying: SystemError(code: code))
    }

    private static func tooLong(
        _ reason: RequestFailure.Reason, _ path: String, _ size: String, _ limit: Int, _ what: String
    ) -> RequestFailure {
        RequestFailure(
            reason, "“\(path)” has \(size), which is too much for \(what).",
            remedy: "Check that it is the right file; at most \(limit >> 20) MiB are read.")
    }
}
