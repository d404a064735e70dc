import EssentialsHTTP
import EssentialsRequests
import EssentialsStorage
import FoundationEssentials

/// Reads open files on a file thread. Each value has its own queue, so that several files are read at a time.
actor FileReads {
    private let queue = FileQueue()

    nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

    /// The bytes in a range of the file. Each MiB that the range touches is read as a whole and checked first.
    ///
    /// - Throws: `file` if the file cannot be read, ends before, or is damaged.
    func bytes(of checked: CheckedFile, in range: Range<Int>) throws(RequestFailure) -> Data {
        var failure = Self.damaged
        do throws(FileError) { if let data = try checked.bytes(in: range) { return data } } catch { failure = error }
        let problem = failure == Self.damaged ? "is damaged" : "could not be read: \(failure)"
        throw RequestFailure(
            .file, "The stored blob \(problem).",
            remedy: "Ask for the blob again; it is loaded anew if its file is damaged.",
            underlying: SystemError(failure))
    }

    /// The error number for damage. A disk that finds damage by itself gives the same one.
    private static let damaged = FileError(code: 5)
}
