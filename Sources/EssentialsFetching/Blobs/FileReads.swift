import EssentialsHTTP
import EssentialsRequests
import EssentialsStorage
import FoundationEssentials

/// Reads open files on a file thread. Each value has a queue of its own, so that several files are read at a time.
actor FileReads {
    private let queue = FileQueue()

    nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

    /// The bytes at some positions of the file. Each MiB that they belong to is read as a whole and checked before.
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

    /// The error number for damage, which a disk gives that finds it by itself.
    private static let damaged = FileError(code: 5)
}
