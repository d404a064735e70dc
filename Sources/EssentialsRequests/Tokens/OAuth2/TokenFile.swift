import EssentialsHTTP
import FoundationEssentials
import Glibc

/// The file of a token store and its lock. All work is done on the threads for files.
actor TokenFile {
    /// The maximum size of the file. Two tokens of the greatest length fit, also if each character is escaped.
    static let limit = 128 << 10

    /// The content of the file. A field that cannot be read does not affect the others.
    private struct Record: Codable {
        var accessToken: String?
        /// Seconds since 1970.
        var expiresAt: Double?
        var refreshToken: String?

        private enum CodingKeys: String, CodingKey {
            case accessToken = "access_token"
            case expiresAt = "expires_at"
            case refreshToken = "refresh_token"
        }

        init(accessToken: String?, expiresAt: Double?, refreshToken: String?) {
            self.accessToken = accessToken
            self.expiresAt = expiresAt
            self.refreshToken = refreshToken
        }

        init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            var error: (any Error)?
            func value<Value: Decodable>(_ type: Value.Type, _ key: CodingKeys) -> Value? {
                do {
                    return try fields.decodeIfPresent(type, forKey: key)
                } catch let fault {
                    error = fault
                    return nil
                }
            }
            let seconds = value(Double.self, .expiresAt)
            self.init(
                accessToken: value(String.self, .accessToken),
                expiresAt: seconds.flatMap { $0.isFinite ? $0 : nil },
                refreshToken: value(String.self, .refreshToken))
            if let error, accessToken == nil, refreshToken == nil { throw error }
        }
    }

    private let queue = FileQueue()
    private let path: String

    nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

    init(_ path: String) { self.path = path }

    private var lockPath: String { path + ".lock" }

    // MARK: Lock

    /// Takes the lock, which is held until the file is released; `nil` if another process holds it.
    func lock() throws(RequestFailure) -> OpenFile? {
        let lockPath = lockPath
        let file: OpenFile
        do throws(OwnFile.Refusal) {
            file = try OwnFile.open(lockPath, O_RDWR | O_CREAT, Self.rules).file
        } catch {
            throw refused(error, lockPath)
        }
        guard file.lock(otherwise: false) else { return nil }
        // The file may have been removed between opening and locking. Another process would then lock a new one.
        let opened = try? file.status().identity
        guard let opened, let present = try? FileStatus(of: lockPath, followsLink: false).identity, opened == present
        else { return nil }
        return file
    }

    /// The failure if another process does not release the lock.
    var lockedTooLong: RequestFailure {
        RequestFailure(
            .file, "“\(RequestFailure.shownPath(lockPath))” was locked for \(FileTokenStore.lockTimeout).",
            remedy: "Check which process holds the lock, and whether the file system supports locks (flock).")
    }

    // MARK: Content

    /// Reads the tokens; `nil` if there is no file.
    func read() throws(RequestFailure) -> StoredTokens? {
        let path = path
        let file: OpenFile
        do throws(OwnFile.Refusal) {
            file = try OwnFile.open(path, O_RDONLY, Self.rules, upTo: Int64(Self.limit)).file
        } catch {
            if error.isMissing { return nil }
            throw refused(error, path)
        }
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.limit + 1, alignment: 1)
        defer { memory.deallocate() }
        let count = try RequestFailure.onFile(path, "could not be read", phase: .preparation) {
            () throws(SystemError) in try file.read(into: memory, at: 0)
        }
        guard count <= Self.limit else { throw damaged("has more than \(Self.limit) bytes") }
        guard let record = try? JSONCodec().decode(Record.self, from: Data(memory.prefix(count)), as: .json) else {
            throw damaged("does not contain tokens")
        }
        // Far from any overflow.
        let date = record.expiresAt.map { Date(timeIntervalSince1970: max(-1e12, min($0, 1e12))) }
        return StoredTokens(accessToken: record.accessToken, expiresAt: date, refreshToken: record.refreshToken)
    }

    /// Stores tokens, and returns when they are on the disk. `nil` removes the file.
    func write(_ tokens: StoredTokens?) throws(RequestFailure) {
        guard let tokens else { return try remove() }
        let record = Record(
            accessToken: tokens.accessToken, expiresAt: tokens.expiresAt?.timeIntervalSince1970,
            refreshToken: tokens.refreshToken)
        let data: Data
        do {
            data = try JSONCodec().encode(record, as: .json)
        } catch {
            throw RequestFailure(.encoding, "The tokens could not be encoded.", underlying: error)
        }
        guard data.count <= Self.limit else { throw damaged("would have more than \(Self.limit) bytes") }
        let path = path
        let temporary = "\(path).\(String.randomAlphanumeric(8))"
        try RequestFailure.onFile(
            path, "could not be written", missing: "Create the directory of the file.", phase: .preparation
        ) { () throws(SystemError) in
            let file = try OpenFile(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
            do throws(SystemError) {
                try Self.write(data, to: file.descriptor)
                guard fsync(file.descriptor) == 0, rename(temporary, path) == 0 else { throw SystemError.last }
            } catch {
                unlink(temporary)
                throw error
            }
            try Self.syncDirectory(of: path)
        }
    }

    private func remove() throws(RequestFailure) {
        let path = path
        try RequestFailure.onFile(path, "could not be removed", phase: .preparation) { () throws(SystemError) in
            guard unlink(path) == 0 || errno == ENOENT else { throw SystemError.last }
            try Self.syncDirectory(of: path)
        }
    }

    private static func write(_ data: Data, to descriptor: Int32) throws(SystemError) {
        var rest = Array(data)[...]
        while !rest.isEmpty {
            // The buffer is valid during the call, which reads at most its size.
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw count == 0 ? SystemError(code: EIO) : SystemError.last }
            rest = rest.dropFirst(count)
        }
    }

    /// Writes the name of the file to the disk.
    private static func syncDirectory(of path: String) throws(SystemError) {
        let end = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
        let directory = try OpenFile(end == path.startIndex ? "/" : String(path[..<end]), O_RDONLY | O_DIRECTORY)
        // Some file systems do not support this.
        guard fsync(directory.descriptor) == 0 || errno == EINVAL else { throw SystemError.last }
    }

    // MARK: Checks

    /// Another user could not have written the file and cannot read it.
    private static let rules: OwnFile.Rules = [.oneName, .noOtherUsers]

    private func refused(_ refusal: OwnFile.Refusal, _ path: String) -> RequestFailure {
        switch refusal {
        case .system(let error):
            .file(
                path, "could not be opened", error, missing: "Create the directory of the file.", phase: .preparation)
        case .notRegular: SentFile.notRegular(path, phase: .preparation)
        case .otherOwner, .otherNames:
            RequestFailure(
                .file, "“\(RequestFailure.shownPath(path))” belongs to another user or has a second name.",
                remedy: "Choose a place that only this user can write to.")
        case .otherUsers:
            RequestFailure(
                .file, "“\(RequestFailure.shownPath(path))” can be read or written by other users.",
                remedy: "Treat its tokens as stolen, log in again, and set the permissions of the file to 600.")
        case .tooLarge: damaged("has more than \(Self.limit) bytes")
        }
    }

    private func damaged(_ what: String) -> RequestFailure {
        RequestFailure(
            .file, "“\(RequestFailure.shownPath(path))” \(what).", remedy: "Remove the file, and log in again.")
    }
}
