import EssentialsHTTP
import EssentialsRequests
import EssentialsStorage
import FoundationEssentials

/// Receives the body of one response: in memory while it is small, and then in a temporary file.
struct BlobBody: ~Copyable {
    private let store: BlobStore
    private let transfer: BlobTransfer
    /// The maximum size of the directory.
    private let directory: Int64
    private var memory = Data()
    private var spool: BlobSpool?
    private var size: Int64 = 0

    init(_ store: BlobStore, _ transfer: BlobTransfer, directory: Int64) {
        (self.store, self.transfer, self.directory) = (store, transfer, directory)
    }

    /// Reads the whole body.
    ///
    /// - Throws: `tooLarge` if it is larger than the directory, or larger than the maximum of every waiting caller.
    mutating func read(_ response: DataResponse) async throws(RequestFailure) {
        if !response.headerFields.contains(.contentEncoding), let text = response.headerFields[.contentLength],
            let length = Int64(text)
        {
            try check(length)
            if length <= Int64(BlobSpool.memoryLimit), length > 0 { memory.reserveCapacity(Int(length)) }
        }
        for try await chunk in response.body {
            size += Int64(chunk.count)
            try check(size)
            if spool == nil, size <= Int64(BlobSpool.memoryLimit) {
                chunk.withUnsafeBytes { memory.append(contentsOf: $0) }
                continue
            }
            if spool == nil {
                spool = try await store.makeSpool(transfer.key)
                try await spool?.write(memory)
                memory = Data()
            }
            try await spool?.write(chunk)
        }
    }

    private func check(_ size: Int64) throws(RequestFailure) {
        let maximum = min(transfer.maximum, directory)
        guard size <= maximum else { throw BlobContent.tooLarge(nil, maximum) }
    }

    /// Whether a caller can decode the body, or no caller needs to; see ``BlobTransfer/isReadable(size:_:_:)``.
    ///
    /// - Throws: `file` if the body cannot be read again.
    func isReadable(_ type: String?) async throws(RequestFailure) -> Bool {
        let (memory, size, spool) = (memory, size, spool)
        return try await transfer.isReadable(size: size, type) { () throws(RequestFailure) in
            guard let spool else { return memory }
            return try await FileReads().bytes(of: try await spool.opened(), in: 0..<Int(clamping: size))
        }
    }

    /// Stores the body, or keeps it for the waiting callers.
    mutating func finish(
        _ entity: StoredEntity, isStored: Bool, _ problems: BlobProblems
    ) async throws(RequestFailure) -> BlobContent {
        let (store, transfer, memory, size) = (store, transfer, memory, size)
        let isStored = isStored && entity.head.count <= StoredEntity.maximumHead && size <= PieceChecksums.maximumSize
        guard let spool else {
            var entry: BlobEntry?
            if isStored {
                // A full disk must not cause the loss of a blob that is in memory.
                let stored = await problems.noting { () throws(RequestFailure) in
                    try await store.store(memory, entity, for: transfer.key) { !transfer.isRevoked }
                }
                entry = stored ?? nil
            }
            return BlobContent(bytes: .memory(memory), size: size, mediaType: entity.mediaType, entry: entry)
        }
        let (entry, file) = try await spool.store(entity) { isStored && !transfer.isRevoked }
        self.spool = nil
        return entry?.content
            ?? BlobContent(bytes: .file(file), size: size, mediaType: entity.mediaType, entry: nil)
    }

    /// Removes the written bytes.
    mutating func abandon() async {
        let spool = self.spool.take()
        await spool?.abandon()
    }
}
