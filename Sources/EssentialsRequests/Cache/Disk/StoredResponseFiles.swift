import EssentialsHTTP
import EssentialsStorage
package import EssentialsTransport

/// The stored responses of a directory, for a program that lists and removes them.
///
/// All functions block.
package struct StoredResponseFiles: Sendable {
    /// A response.
    package struct Item: Sendable {
        /// The name of its file.
        package let file: String
        /// `nil` if the file is damaged.
        package let facts: Facts?
    }

    /// What is known of a response.
    package struct Facts: Sendable {
        package let url: String
        package let status: Int
        /// The bytes of the body.
        package let size: Int64
        /// The time since the server has created or confirmed it; `nil` if it is not known.
        package let age: Duration?
        /// How long it is fresh; negative if it is stale.
        package let timeLeft: Duration
        /// Whether it was fetched with credentials or other secrets.
        package let isPersonal: Bool
        /// What `Vary` selects it by.
        package let selection: [String]
    }

    private let records: RecordDirectory

    /// - Throws: `file` if the directory does not exist, or cannot be used.
    package init(_ path: String) throws(RequestFailure) {
        let directory = try FileDirectory(path)
        do {
            _ = try FileStatus(of: directory.path)
        } catch {
            throw .file(
                path, "could not be opened", error, missing: "Check the path; --cache creates such a directory.",
                phase: .preparation)
        }
        guard (try? FileStatus(of: directory.path(of: DiskResponseStore.ownName))) != nil else {
            throw RequestFailure(
                .file, "“\(RequestFailure.shownPath(path))” is not a directory of stored responses.",
                remedy: "Name the directory that was given with --cache.", phase: .preparation)
        }
        records = RecordDirectory(absolute: directory.path, DiskResponseStore.configuration(bytes: .max))
        try onDirectory { () throws(FileError) in try records.use() }
    }

    /// All responses, those of one URL together.
    ///
    /// - Parameter isVerified: Whether all bodies are read and checked.
    package func items(isVerified: Bool) throws(RequestFailure) -> [Item] {
        var items: [Item] = []
        try onDirectory { () throws(FileError) in
            try records.forEachRecord(isVerified: isVerified) { file, record in
                items.append(Item(file: file, facts: record.flatMap { Self.facts(of: $0) }))
            }
        }
        return items.sorted { ($0.facts?.url ?? "", $0.file) < ($1.facts?.url ?? "", $1.file) }
    }

    private static func facts(of record: StoredRecord) -> Facts? {
        guard let url = ResponseKey.url(in: record.key),
            let response = StoredResponse(bytes: record.head, CacheOptions(), body: nil)
        else { return nil }
        let now = RequestClock.system.moment
        return Facts(
            url: url.description, status: response.head.status.code, size: record.size,
            age: response.head.age(at: now), timeLeft: response.head.timeLeft(at: now),
            isPersonal: response.isPersonal,
            selection: response.head.selection.members.map { "\($0.name.canonicalName): \($0.value ?? "")" })
    }

    /// Removes the responses of a URL, or all.
    ///
    /// - Returns: How many were removed.
    package func remove(_ url: RequestURL?) throws(RequestFailure) -> Int {
        let items = try items(isVerified: false)
        let count = url.map { url in items.count { $0.facts?.url == url.description } } ?? items.count
        try onDirectory { () throws(FileError) in
            try records.removeAll(
                in: RecordScope(), where: url.map { url in { bytes in ResponseKey.url(in: bytes) == url } })
        }
        return count
    }

    private func onDirectory(_ work: () throws(FileError) -> Void) throws(RequestFailure) {
        try RequestFailure.onFile(records.path, "could not be read", phase: .preparation, work)
    }
}
