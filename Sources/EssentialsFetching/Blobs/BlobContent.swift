import EssentialsHTTP
import EssentialsRequests
import EssentialsStorage
import FoundationEssentials

/// The bytes of a blob, in memory or in an open file, for the waiting callers.
struct BlobContent: Sendable {
    enum Bytes: Sendable {
        case memory(Data)
        case file(StoredFile)
    }

    let bytes: Bytes
    /// The stored file of bytes in memory; `nil` if they are not stored.
    var stored: StoredFile?
    /// The value of `Content-Type`; `nil` if there is none.
    let mediaType: String?

    /// Whether the blob is stored.
    var isStored: Bool {
        switch bytes {
        case .memory: stored?.isStored == true
        case .file(let file): file.isStored
        }
    }

    var size: Int64 {
        switch bytes {
        case .memory(let data): Int64(data.count)
        case .file(let stored): stored.file.size
        }
    }

    /// All bytes, after they were checked.
    ///
    /// - Throws: `tooLarge` if there are more than the maximum; `file` if they cannot be read or are damaged.
    func data(upTo maximum: Int) async throws(RequestFailure) -> Data {
        guard size <= Int64(maximum), let count = Int(exactly: size) else { throw BlobContent.tooLarge(size, maximum) }
        switch bytes {
        case .memory(let data): return data
        case .file(let stored): return try await stored.bytes(in: 0..<count)
        }
    }

    /// - Parameter size: The size of the blob; `nil` if it is not known.
    static func tooLarge(_ size: Int64?, _ maximum: some BinaryInteger) -> RequestFailure {
        let found = size.map { "has \($0) bytes" } ?? "is larger"
        return RequestFailure(
            .tooLarge, "The blob \(found); at most \(maximum) were allowed.",
            remedy: "Ask for it as a file, or allow more bytes.", phase: .receiving)
    }
}

extension StoredFile {
    /// The largest file that is read without a change of threads.
    private static let smallest = 256 << 10

    /// The bytes of a range. Each MiB that the range touches is read as a whole and checked first. A stored blob that is
    /// damaged is removed, so that it is loaded anew.
    ///
    /// - Throws: `file` if the file cannot be read, ends before, or is damaged.
    func bytes(in range: Range<Int>) async throws(RequestFailure) -> Data {
        if file.size <= Int64(Self.smallest), let bytes = file.residentBytes(in: range) { return bytes }
        do throws(RequestFailure) { return try await FileReads().bytes(of: file, in: range) } catch {
            await discard()
            throw error
        }
    }
}

/// Reads open files on a file thread. Each value has its own queue, so that several files are read at a time.
private actor FileReads {
    private let queue = FileQueue()

    nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

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
